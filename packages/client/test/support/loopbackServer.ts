import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A real HTTP server on a free port of loopback. */
export interface LoopbackServer extends AsyncDisposable {
  readonly url: string
  readonly requests: IncomingMessage[]
  /** Resolves once a request has arrived and its body was read. */
  readonly firstRequest: Promise<void>
}

/** @param listener - Called once the request was read to its end. */
export async function startLoopbackServer(listener: RequestListener): Promise<LoopbackServer> {
  const requests: IncomingMessage[] = []
  let arrived = () => {}
  const firstRequest = new Promise<void>(resolve => {
    arrived = resolve
  })
  const server = createServer((request, response) => {
    requests.push(request)
    request.resume().once('end', () => {
      arrived()
      listener(request, response)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    firstRequest,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    }
  }
}
