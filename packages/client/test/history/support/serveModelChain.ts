import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createModelClient, type ModelChain } from './createModelChain.ts'

interface Call {
  readonly id: number
  readonly method: string
  readonly params: readonly [string, { readonly limit?: number; readonly before?: string }?]
}

/** The model's service on a free port of loopback, for pages of every origin. */
export async function serveModelChain(
  chain: ModelChain
): Promise<AsyncDisposable & { readonly url: string }> {
  const { client } = createModelClient(chain)
  const server = createServer(async (request, response) => {
    const { id, method, params } = (await readJson(request)) as Call
    const [address, page] = params
    const result = method.endsWith('getSyncStatus')
      ? await client.getSyncStatus({ chainId: 1 })
      : await client.getTransactionsByAddress({ chainId: 1, address, ...page })
    response.setHeader('X-Chain-Data-Coverage', `1;from=0;to=${chain.head()}`)
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    }
  }
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  let text = ''
  for await (const part of request.setEncoding('utf8')) text += part
  return JSON.parse(text)
}
