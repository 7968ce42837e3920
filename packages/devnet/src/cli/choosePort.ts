import { type AddressInfo, createServer } from 'node:net'

/** Where the service is when nothing else was asked for. */
export const preferredPort = 8080
/** Where the EVM node is, as nodes for development are. */
export const preferredEvmPort = 8545

/**
 * A free port of 127.0.0.1, looked for before anything is started.
 *
 * @param wanted - What was asked for; 0 for any; absent: the preferred one, or any while that is taken.
 * @throws When the port asked for is taken.
 */
export async function choosePort(wanted?: number, preferred = preferredPort): Promise<number> {
  if (wanted === undefined) return await probe(preferred).catch(() => probe(0))
  return await probe(wanted).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`port ${wanted} cannot be used (${error.code ?? error.message})`)
  })
}

function probe(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      const found = (server.address() as AddressInfo).port
      server.close(() => resolve(found))
    })
  })
}
