import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eventually, temporaryFolder } from '@chain-data/index/test'
import { describe, expect, it } from 'vitest'
import WebSocket, * as webSockets from 'ws'
import { createWebSocketHeads, type WebSocketHeads } from '../../src/nodes/evm/webSocketHeads.ts'
import { ConfigError } from '../../src/platform/errors.ts'
import { createLogger } from '../../src/platform/logger.ts'
import { runTestIndexer } from '../support/indexHarness.ts'
import { useUpstreams } from './useUpstreams.ts'

// The types are those of an older version, which had the server elsewhere.
const { WebSocketServer } = webSockets as unknown as { WebSocketServer: typeof WebSocket.Server }
const use = useUpstreams()
/** Longer than any test: only an announcement can end such a pause. */
const foreverMs = 600_000
const never = new AbortController().signal

interface Announcer {
  readonly url: string
  readonly sockets: WebSocket[]
  readonly messages: string[]
}

/** A WebSocket server of its own ways; `behave` gets each new connection. */
async function announcer(behave: (socket: WebSocket) => void = acceptSubscription): Promise<Announcer> {
  const http = createServer()
  const server = new WebSocketServer({ server: http })
  const sockets: WebSocket[] = []
  const messages: string[] = []
  server.on('connection', socket => {
    sockets.push(socket)
    socket.on('message', data => messages.push(String(data)))
    behave(socket)
  })
  await new Promise<void>(resolve => http.listen(0, '127.0.0.1', resolve))
  use.later(async () => {
    for (const socket of sockets) socket.terminate()
    server.close()
    await new Promise<void>(resolve => http.close(() => resolve()))
  })
  return { url: `ws://127.0.0.1:${(http.address() as AddressInfo).port}`, sockets, messages }
}

function acceptSubscription(socket: WebSocket): void {
  socket.on('message', () => socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, result: '0x1' })))
}
const announcement = JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params: { result: {} } })

function listen(wsUrls: string[], options: { pingMs?: number } = {}) {
  const lines: Record<string, unknown>[] = []
  const logger = createLogger({ level: 'debug', write: line => lines.push(JSON.parse(line)) })
  const heads = createWebSocketHeads({ chainId: 1, wsUrls, logger, firstPauseMs: 10, ...options })
  use.later(() => heads.close())
  return { heads, lines }
}

const connected = (heads: WebSocketHeads) => heads.figures().map(figures => figures.connected)
async function subscribed(heads: WebSocketHeads): Promise<void> {
  await eventually('it is subscribed', () => connected(heads).includes(true))
  // The subscription itself rings once.
  await heads.wait(foreverMs, never)
}

describe('an indexer with a WebSocket', () => {
  it('has a new block long before it would have asked for one', async () => {
    const folder = await temporaryFolder()
    use.later(folder.remove)
    const { rpcUrl } = use.node()
    const indexer = runTestIndexer(folder.path, {
      rpcUrls: [rpcUrl],
      wsUrls: [rpcUrl.replace('http', 'ws')],
      pollIntervalMs: foreverMs
    })
    use.later(() => indexer.stop())
    await indexer.until('it follows', ({ phase }) => phase === 'following')
    for (let i = 0; i < 3; i++) {
      await use.driver().mine({ blocks: 1 })
      const number = Number(await use.driver().rpc('eth_blockNumber'))
      await indexer.until('the block is indexed', ({ indexedTo }) => indexedTo?.number === number)
    }
  })

  it('goes on by asking while the socket is out of order', async () => {
    const folder = await temporaryFolder()
    use.later(folder.remove)
    const indexer = runTestIndexer(folder.path, {
      rpcUrls: [use.node().rpcUrl],
      wsUrls: ['ws://127.0.0.1:1']
    })
    use.later(() => indexer.stop())
    await indexer.until('it follows', ({ phase }) => phase === 'following')
    await use.driver().mine({ blocks: 1 })
    const number = Number(await use.driver().rpc('eth_blockNumber'))
    await indexer.until('the block is indexed', ({ indexedTo }) => indexedTo?.number === number)
  })
})

describe('a WebSocket of heads', () => {
  it('ends a wait at each announcement, also one that came before the wait', async () => {
    const { url, sockets, messages } = await announcer()
    const { heads } = listen([url])
    await subscribed(heads)
    expect(JSON.parse(messages[0]!)).toMatchObject({ method: 'eth_subscribe', params: ['newHeads'] })
    const waiting = heads.wait(foreverMs, never)
    sockets[0]!.send(announcement)
    await waiting
    sockets[0]!.send(announcement)
    await heads.wait(foreverMs, never)
  })

  it('lets a wait end by its time or its signal', async () => {
    const { heads } = listen([])
    await heads.wait(1, never)
    const abort = new AbortController()
    const waiting = heads.wait(foreverMs, abort.signal)
    abort.abort()
    await waiting
  })

  it('takes the next URL when one breaks, is silent, refuses, or sends too much', async () => {
    for (const misbehave of [
      (socket: WebSocket) => socket.terminate(),
      // No pong, no word: as if the network were gone.
      (socket: WebSocket) => (socket as unknown as { _socket: { pause(): void } })._socket.pause(),
      (socket: WebSocket) => socket.send(JSON.stringify({ id: 1, error: { code: -32601, message: 'no' } })),
      (socket: WebSocket) => socket.send('x'.repeat(2 * 1024 * 1024))
    ]) {
      const bad = await announcer(misbehave)
      const good = await announcer()
      const { heads, lines } = listen([bad.url, good.url], { pingMs: 100 })
      await eventually('the second is used', () => connected(heads)[1])
      expect(connected(heads)).toEqual([false, true])
      expect(lines.find(({ level }) => level === 40)).toMatchObject({
        problem: expect.stringMatching(/^wsUrls\[0\]: /)
      })
      heads.close()
    }
  })

  it('comes back by itself', async () => {
    const { url, sockets } = await announcer()
    const { heads } = listen([url])
    await subscribed(heads)
    sockets[0]!.terminate()
    await eventually('it is connected again', () => sockets.length === 2 && connected(heads)[0])
    await heads.wait(foreverMs, never)
  })

  it('never shows any part of a URL but its place', async () => {
    const { lines, heads } = listen(['ws://us3r:pass-word@127.0.0.1:1/v3/API-KEY?token=TOKEN'])
    await eventually('it has failed twice', () => lines.length >= 2)
    heads.close()
    for (const part of ['us3r', 'pass-word', 'API-KEY', 'TOKEN']) {
      expect(JSON.stringify(lines)).not.toContain(part)
    }
    expect(() => listen(['ws://a', 'http://host/API-KEY'])).toThrow(ConfigError)
    expect(() => listen(['ws://a', 'http://host/API-KEY'])).toThrow(/^wsUrls\[1\](?!.*KEY)/)
  })

  it('ends for good when it is closed', async () => {
    const { url, sockets } = await announcer()
    const { heads } = listen([url])
    await subscribed(heads)
    heads.close()
    await eventually('the socket is closed', () => sockets[0]!.readyState === WebSocket.CLOSED)
    expect(sockets).toHaveLength(1)
  })
})
