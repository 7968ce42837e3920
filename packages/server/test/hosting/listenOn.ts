import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A plain listener of node:http on loopback. */
export interface Listening {
  readonly url: string
  close(): void
}

export async function listenOn(listener: RequestListener): Promise<Listening> {
  const server = createServer(listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections()
      server.close()
    }
  }
}
