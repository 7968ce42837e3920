import { type AddressInfo, createServer } from 'node:net'

/** A port of this machine: the wanted one, or any other while that is taken. */
export async function freePort(wanted: number): Promise<number> {
  return await probe(wanted).catch(() => probe(0))
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
