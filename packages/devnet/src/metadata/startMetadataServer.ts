import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { MetadataDocument, MetadataHost } from './MetadataHost.ts'

/** A running metadata server. */
export interface MetadataServer extends MetadataHost {
  /** `127.0.0.1:<port>`: what a server's `metadata.allowHosts` must name to be allowed to read from here. */
  readonly hostPort: string
  /** How often a path was asked for, known or not. */
  requestsFor(path: string): number
  /** Closes the port and every connection. May be called again. */
  stop(): Promise<void>
}

/**
 * Starts an HTTP server on 127.0.0.1 for NFT metadata and images.
 *
 * Everything it serves was put there; any other path is a 404. A document may be replaced at any time.
 *
 * @param options.port - Default 0, a free one.
 */
export async function startMetadataServer(options: { port?: number } = {}): Promise<MetadataServer> {
  const documents = new Map<string, MetadataDocument>()
  const requests = new Map<string, number>()
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?')[0] ?? '/'
    requests.set(path, (requests.get(path) ?? 0) + 1)
    const document = documents.get(path)
    if (document === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) {
      response.writeHead(document === undefined ? 404 : 405, { 'content-type': 'text/plain' })
      response.end(document === undefined ? 'no such document\n' : 'GET only\n')
      return
    }
    response.writeHead(document.status, {
      'content-type': document.contentType,
      'content-length': Buffer.byteLength(document.body)
    })
    response.end(request.method === 'HEAD' ? undefined : document.body)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  const hostPort = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const url = `http://${hostPort}`
  return {
    url,
    hostPort,
    put(path, document) {
      documents.set(path, document)
      return url + path
    },
    requestsFor: path => requests.get(path) ?? 0,
    stop: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}
