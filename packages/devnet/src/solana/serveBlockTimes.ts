import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Call {
  readonly method: string
  readonly params?: readonly unknown[]
}

interface Answer {
  readonly result?: unknown
}

/**
 * Serves a node's JSON-RPC with true block times: surfpool gives thousands of seconds with transactions and blocks, and nothing
 * with lists of signatures. A block has the time at which its first transaction was sent here, and one without any has none.
 *
 * @returns The URL, on loopback. Answers are the node's, byte for byte, but for their block times.
 */
export async function serveBlockTimes(nodeUrl: string): Promise<string> {
  /** Unix seconds, by signature. */
  const sentAt = new Map<string, number>()

  const post = (body: string) =>
    fetch(nodeUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })

  /** @returns The block times of an answer, in their order. */
  async function timesIn({ method, params = [] }: Call, result: unknown): Promise<readonly unknown[]> {
    switch (method) {
      case 'getTransaction':
        return [sentAt.get(String(params[0]))]
      case 'getSignaturesForAddress':
        return ((result ?? []) as { signature: string }[]).map(({ signature }) => sentAt.get(signature))
      case 'getBlock':
      case 'getBlockTime': {
        const settings = { transactionDetails: 'signatures', rewards: false, commitment: 'confirmed' }
        const call = {
          method: 'getBlock',
          params: [params[0], { ...settings, maxSupportedTransactionVersion: 0 }]
        }
        const answer = await (await post(JSON.stringify({ jsonrpc: '2.0', id: 1, ...call }))).json()
        const [first] = (answer as { result?: { signatures?: string[] } }).result?.signatures ?? []
        return [first === undefined ? undefined : sentAt.get(first)]
      }
      default:
        return []
    }
  }

  /** Replaces the text alone, since amounts may have more digits than a number of JavaScript. */
  async function putTimes(text: string, calls: readonly Call[], seconds: number): Promise<string> {
    const times: unknown[] = []
    const answers = [JSON.parse(text) as Answer | readonly Answer[]].flat() as readonly Answer[]
    for (const [at, call] of calls.entries()) {
      const result = answers[at]?.result
      const isSent = call.method === 'sendTransaction' || call.method === 'requestAirdrop'
      if (isSent && typeof result === 'string') sentAt.set(result, seconds)
      // Without a result, or with an error, there is no time in the text.
      if (result != null || call.method === 'getBlockTime') times.push(...(await timesIn(call, result)))
    }
    const next = () => `${times.shift() ?? null}`
    if (calls[0]?.method === 'getBlockTime')
      return text.replace(/"result":(?:null|\d+)/, () => `"result":${next()}`)
    return text.replaceAll(/"blockTime":(?:null|\d+)/g, () => `"blockTime":${next()}`)
  }

  const server = createServer(async (request, response) => {
    try {
      const seconds = Math.floor(Date.now() / 1_000)
      const body = await readBody(request)
      const calls = [JSON.parse(body) as Call | readonly Call[]].flat() as readonly Call[]
      const answer = await post(body)
      const text = await putTimes(await answer.text(), calls, seconds)
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
    } catch {
      response.destroy()
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
