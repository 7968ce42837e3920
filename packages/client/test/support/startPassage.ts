import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'

/** The way from a client to a service, in the hands of a test. */
export interface Passage {
  readonly url: string
  /** Where new connections lead; nothing: each is reset. */
  leadTo(serviceUrl: string | undefined): void
  /** Breaks every connection that is open. */
  breakAll(): void
  stop(): Promise<void>
}

/** Passes connections to a free port of 127.0.0.1 on to a service. */
export async function startPassage(serviceUrl: string): Promise<Passage> {
  const sockets = new Set<Socket>()
  let target: string | undefined = serviceUrl
  const server = createServer(client => {
    if (target === undefined) {
      client.resetAndDestroy()
      return
    }
    const { hostname, port } = new URL(target)
    const service = createConnection(Number(port), hostname)
    const join = (socket: Socket, other: Socket) => {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
    join(client, service)
    join(service, client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const breakAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadTo(url) {
      target = url
    },
    breakAll,
    async stop() {
      server.close()
      breakAll()
      await once(server, 'close')
    }
  }
}
