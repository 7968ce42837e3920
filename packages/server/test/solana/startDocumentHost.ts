import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A host for metadata that can also keep silent, and that knows who came. */
export interface DocumentHost {
  readonly url: string
  /** What `allowHosts` must name. */
  readonly hostPort: string
  /** Connections that were opened, whether or not anything was asked for. */
  readonly connections: () => number
  /** Paths that were asked for, in order. */
  readonly requests: string[]
  /** By path: a body with status 200, or what to do instead. Anything else is a 404. */
  readonly documents: Map<string, string | ((response: ServerResponse) => void)>
  close(): Promise<void>
}

export async function startDocumentHost(): Promise<DocumentHost> {
  const documents: DocumentHost['documents'] = new Map()
  const requests: string[] = []
  let connections = 0
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    requests.push(path)
    const document = documents.get(path)
    if (typeof document === 'function') document(response)
    else response.writeHead(document === undefined ? 404 : 200).end(document)
  })
  server.on('connection', () => connections++)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const hostPort = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `http://${hostPort}`,
    hostPort,
    connections: () => connections,
    requests,
    documents,
    close() {
      server.closeAllConnections()
      return new Promise(resolve => server.close(() => resolve()))
    }
  }
}
