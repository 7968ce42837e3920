import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ProxiedCall {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

/** What a rule makes of one call: another result, an error of the node, or a failure of the whole exchange. */
export type RuleAnswer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } }
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }

/**
 * @param truth - asks the node.
 * @param size - calls in the same request.
 * @returns `undefined` for the truth.
 */
export type Rule = (
  call: ProxiedCall,
  truth: () => Promise<unknown>,
  size: number
) => Promise<RuleAnswer | undefined> | RuleAnswer | undefined

/** A proxy in front of a real node that obeys a rule, and can be waited for in the middle of an answer. */
export interface NodeProxy {
  readonly url: string
  /** Every call that has come, batches taken apart. */
  readonly calls: ProxiedCall[]
  /** HTTP requests under way, and the most there were at the same time. */
  readonly load: { now: number; most: number }
  /** Replaces the rule; without one the proxy tells the truth. */
  obey(rule?: Rule): void
  /** While down, connections are reset. */
  setDown(down: boolean): void
  /** Calls of a method that is neither identity nor a look at the head. */
  asked(method?: string): ProxiedCall[]
  close(): Promise<void>
}

export async function startNodeProxy(nodeUrl: string): Promise<NodeProxy> {
  const calls: ProxiedCall[] = []
  const load = { now: 0, most: 0 }
  let rule: Rule | undefined
  let isDown = false

  async function askNode(call: ProxiedCall): Promise<{ result?: unknown; error?: unknown }> {
    const response = await fetch(nodeUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', ...call })
    })
    return (await response.json()) as { result?: unknown; error?: unknown }
  }

  async function answerOne(call: ProxiedCall, size: number): Promise<RuleAnswer | object> {
    calls.push(call)
    const truth = async () => (await askNode(call)).result
    const answer = await rule?.(call, truth, size)
    if (answer === undefined) return askNode(call)
    return 'status' in answer ? answer : { jsonrpc: '2.0', id: call.id, ...answer }
  }

  async function answer(body: string, response: ServerResponse): Promise<void> {
    const request = JSON.parse(body) as ProxiedCall | ProxiedCall[]
    const batch = [request].flat()
    const answers = await Promise.all(batch.map(call => answerOne(call, batch.length)))
    const failure = answers.find(one => 'status' in one)
    if (failure !== undefined && 'status' in failure) {
      response.writeHead(failure.status, failure.headers).end(failure.body)
      return
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(Array.isArray(request) ? answers : answers[0]))
  }

  const server = createServer((request, response) => {
    if (isDown) {
      request.socket.destroy()
      return
    }
    load.now++
    load.most = Math.max(load.most, load.now)
    response.on('close', () => load.now--)
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      answer(Buffer.concat(chunks).toString(), response).catch(() => response.destroy())
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    load,
    obey(next) {
      rule = next
    },
    setDown(down) {
      isDown = down
      if (down) server.closeAllConnections()
    },
    asked(method) {
      const isHousekeeping = ({ method: name, params }: ProxiedCall) =>
        name === 'eth_chainId' || name === 'eth_blockNumber' || params[0] === '0x0'
      return calls.filter(call => !isHousekeeping(call) && (method === undefined || call.method === method))
    },
    close() {
      server.closeAllConnections()
      return new Promise(resolve => server.close(() => resolve()))
    }
  }
}
