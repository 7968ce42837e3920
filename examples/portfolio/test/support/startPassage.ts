import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'

/** The way from the page to the service, which a test can cut. */
export interface Passage {
  readonly url: string
  /** Breaks every connection, and each new one until it is mended. */
  cut(): void
  mend(): void
  stop(): Promise<void>
}

/** Passes connections to a free port of 127.0.0.1 on to a service. */
export async function startPassage(serviceUrl: string): Promise<Passage> {
  const { hostname, port } = new URL(serviceUrl)
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer(client => {
    if (isCut) {
      client.resetAndDestroy()
      return
    }
    const service = createConnection(Number(port), hostname)
    for (const [socket, other] of [
      [client, service],
      [service, client]
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const breakAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      isCut = true
      breakAll()
    },
    mend() {
      isCut = false
    },
    async stop() {
      server.close()
      breakAll()
      await once(server, 'close')
    }
  }
}
