import { type AddressInfo, createServer, type Server } from 'node:net'

/** A port that nobody else gets until it is let go. */
export interface HeldPort {
  readonly port: number
  /** Lets it go, for whoever is to listen there. */
  release(): Promise<void>
}

/** Holds a port of this machine: the wanted one, or any other while that is taken. */
export async function holdPort(wanted: number): Promise<HeldPort> {
  const server = await listen(wanted).catch(() => listen(0))
  // A port that is never let go ends with this process.
  server.unref()
  return {
    port: (server.address() as AddressInfo).port,
    release: () => new Promise(resolve => server.close(() => resolve()))
  }
}

function listen(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}
