import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { createProxyHandler, type ProxyHandler, type ProxyOptions } from '../../src/server/proxy/index.ts'

/** A plain listener of node:http on loopback. */
export interface Listening {
  readonly server: Server
  readonly url: string
  readonly port: number
  close(): void
}

export async function listenOn(listener: RequestListener): Promise<Listening> {
  const server = createServer(listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    server,
    port,
    url: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections()
      server.close()
    }
  }
}

/** A host with nothing but a proxy. */
export async function startProxy(
  options: Partial<ProxyOptions> & Pick<ProxyOptions, 'target'>
): Promise<Listening & { readonly proxy: ProxyHandler; readonly problems: readonly string[] }> {
  const problems: string[] = []
  const proxy = createProxyHandler({
    projectId: 'demo',
    serverKey: 'demo-server-key',
    onProblem: problem => problems.push(problem),
    ...options
  })
  return Object.assign(await listenOn(proxy.nodeHandler), { proxy, problems })
}

/** What a target got. */
export interface Received {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly body: string
}

/** A service that writes down what it gets and answers the same to everything. */
export async function startTarget(
  answer: RequestListener = (_request, response) => {
    response.setHeader('content-type', 'application/json').end('{"jsonrpc":"2.0","id":1,"result":"yes"}')
  }
): Promise<Listening & { readonly received: Received[] }> {
  const received: Received[] = []
  const listening = await listenOn((request, response) => {
    const { method, url, headers, rawHeaders } = request
    request
      .toArray()
      .then(chunks => {
        received.push({ method, url, headers, rawHeaders, body: Buffer.concat(chunks).toString() })
        answer(request, response)
      })
      .catch(() => {})
  })
  return Object.assign(listening, { received })
}

/** Sends bytes and reads until the connection ends. */
export async function exchange(port: number, bytes: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', chunk => chunks.push(chunk)).on('error', () => {})
  socket.write(bytes)
  await once(socket, 'close')
  return Buffer.concat(chunks).toString()
}
