import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { createRoute, type RouteOptions } from '@chain-data/client/route'
import { toNodeListener } from '../../../../examples/proxy/toNodeListener.ts'

/** A listener of node:http on loopback. */
export interface Listening {
  readonly url: string
  readonly port: number
  close(): void
}

async function listenOn(listener: RequestListener): Promise<Listening> {
  const server = createServer(listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections()
      server.close()
    }
  }
}

/** Starts a host with a route below `/api` and nothing else. */
export function startHost(options: Partial<RouteOptions> & Pick<RouteOptions, 'baseUrl'>) {
  const route = routeTo(options)
  // As a router that takes its path off.
  const mounted = (request: Request) => {
    const { origin, pathname, search } = new URL(request.url)
    const path = pathname.startsWith('/api/') ? pathname.slice('/api'.length) + search : '/'
    return route(new Request(origin + path, request))
  }
  return listenOn(toNodeListener(mounted))
}

/** Creates a route for one method, unless the test says otherwise. */
export function routeTo(options: Partial<RouteOptions> & Pick<RouteOptions, 'baseUrl'>) {
  return createRoute({
    projectId: 'demo',
    serverKey: 'demo-server-key',
    allow: ['svc_getSyncStatus'],
    ...options
  })
}

/** A request as a service got it. */
export interface Received {
  readonly url: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Starts a service that records what it gets and gives everybody the same answer. */
export async function startTarget(
  answer: RequestListener = (_request, response) => {
    response.setHeader('content-type', 'application/json').end('{"jsonrpc":"2.0","id":1,"result":"yes"}')
  }
): Promise<Listening & { readonly received: Received[] }> {
  const received: Received[] = []
  const listening = await listenOn((request, response) => {
    const { url, headers } = request
    request
      .toArray()
      .then(chunks => {
        received.push({ url, headers, body: Buffer.concat(chunks).toString() })
        answer(request, response)
      })
      .catch(() => {})
  })
  return Object.assign(listening, { received })
}

/** Sends bytes and reads until the connection ends. @returns The head, and the body without the sizes of its chunks. */
export async function exchange(port: number, bytes: string | Buffer): Promise<[head: string, body: string]> {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', chunk => chunks.push(chunk)).on('error', () => {})
  socket.write(bytes)
  await once(socket, 'close')
  const [head = '', body = ''] = Buffer.concat(chunks)
    .toString()
    .split(/\r\n\r\n(.*)/s)
  return [head, body.replace(/(^|\r\n)[0-9a-f]+\r\n(\r\n$)?/g, '')]
}
