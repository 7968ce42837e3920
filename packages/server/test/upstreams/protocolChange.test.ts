import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { createHttpUpstream } from '../../src/nodes/upstreams/httpUpstream.ts'

// node:http reports nothing more of such a request, no abort either: who waits for an answer would wait for ever.
it('a node that changes the protocol has not answered', async () => {
  const node = createServer(({ socket }) => {
    socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  })
  await once(node.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`
  const upstream = createHttpUpstream({ url, position: 1, maxResponseBytes: 1_000 })
  const asked = upstream.post('{}', new AbortController().signal)
  await expect(asked).rejects.toMatchObject({
    fault: 'unreachable',
    message: 'upstream 1 cannot be reached (no answer)'
  })
  node.closeAllConnections()
  node.close()
})
