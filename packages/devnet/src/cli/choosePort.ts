import { createServer, type AddressInfo } from 'node:net'

/** A port of 127.0.0.1 to listen on: the wanted one if it is free, else any. @param wanted - 0 for any. */
export async function choosePort(wanted: number): Promise<number> {
  try {
    return await probe(wanted)
  } catch {
    return await probe(0)
  }
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
