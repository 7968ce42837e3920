import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

export interface RpcCall {
  readonly id: string
  readonly method: string
  readonly params: readonly unknown[]
}

/** What a scripted node does with one call. `passOn` lets a real node answer, byte for byte. */
export type Reaction =
  | {
      readonly status?: number
      readonly headers?: Record<string, string>
      readonly body: string
      /** Answers so much later. */
      readonly afterMs?: number
      /** Answers once this is fulfilled. */
      readonly after?: Promise<void>
    }
  | 'hang'
  | 'reset'
  | 'drip'
  | { readonly passOn: string; readonly change?: (text: string) => string }
  /** Ends the connection behind this text, having announced so many bytes. */
  | { readonly cutAfter: string; readonly claims?: number }

export interface ScriptedNode {
  readonly url: string
  /** Every call that came in, in order. */
  readonly calls: RpcCall[]
  /** Authorization headers, one per call. */
  readonly authorizations: (string | undefined)[]
  react: (call: RpcCall) => Reaction
  /** What it answers to `getGenesisHash`, which is then no call for `react`; absent: it is one. */
  genesisHash: string | undefined
  close(): Promise<void>
}

/** A JSON-RPC endpoint for transport failures, alone or in front of a real node. */
export async function startScriptedNode(react: (call: RpcCall) => Reaction): Promise<ScriptedNode> {
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const call = JSON.parse(body.toString()) as RpcCall
    if (call.method === 'getGenesisHash' && node.genesisHash !== undefined) {
      response.end(JSON.stringify({ jsonrpc: '2.0', id: call.id, result: node.genesisHash }))
      return
    }
    node.calls.push(call)
    node.authorizations.push(incoming.headers.authorization)
    const reaction = node.react(call)
    if (reaction === 'hang') return
    if (reaction === 'reset') {
      incoming.socket.destroy()
    } else if (reaction === 'drip') {
      response.writeHead(200, { 'content-type': 'application/json' })
      const drip = setInterval(() => response.write(' '), 20)
      response.on('close', () => clearInterval(drip))
    } else if ('passOn' in reaction) {
      const { passOn, change = (text: string) => text } = reaction
      const answer = await askRealNode(passOn, body).catch(() => undefined)
      // A real node that is gone looks like one that is gone.
      if (answer === undefined) incoming.socket.destroy()
      else response.writeHead(200, { 'content-type': 'application/json' }).end(change(answer))
    } else if ('cutAfter' in reaction) {
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': reaction.claims ?? 1_000_000
      })
      response.write(reaction.cutAfter, () => incoming.socket.destroy())
    } else {
      if (reaction.afterMs !== undefined) await wait(reaction.afterMs)
      await reaction.after
      response.writeHead(reaction.status ?? 200, reaction.headers ?? {}).end(reaction.body)
    }
  })
  // A client that is busy for long must not find its idle connection closed: it would fail by no fault of the test.
  server.keepAliveTimeout = 60_000
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const node: ScriptedNode = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: [],
    authorizations: [],
    react,
    genesisHash: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxkPkZBG',
    close() {
      server.closeAllConnections()
      return new Promise(resolve => server.close(() => resolve()))
    }
  }
  return node
}

/** On a connection of its own: one that is kept may be closed by the node in the moment it is used again. */
function askRealNode(url: string, body: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length }
    const asking = request(url, { method: 'POST', agent: false, headers }, response => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve(Buffer.concat(chunks).toString()))
      response.on('error', reject)
    })
    asking.on('error', reject).end(body)
  })
}

/** A well-formed answer. `value` is JSON text, so that a test can write numbers that JavaScript cannot. */
export function answerOf({ id }: RpcCall, value: string, slot = 100): Reaction {
  return { body: `{"jsonrpc":"2.0","id":"${id}","result":{"context":{"slot":${slot}},"value":${value}}}` }
}

/** A JSON-RPC error. */
export function errorOf({ id }: RpcCall, code: number, status = 200): { status: number; body: string } {
  return { status, body: JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: 'see http://key' } }) }
}
