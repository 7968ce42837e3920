import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Refusal, type RpcMessage } from '../../support/startFaultProxy.ts'
import { answerCall, type NodeTraits } from './answerCall.ts'
import { readRecorded } from './readRecorded.ts'
import type { RecordedChain } from './recordBlocks.ts'
import { stretchTo } from './stretch.ts'

/** How a node is reached. */
export interface LineTraits {
  /** Height that the chain is stretched to; default as recorded. */
  readonly head?: number
  /** Time until an answer begins. */
  readonly latencyMs?: number
  /** Calls in one batch; 1: batches are refused. Default 1,000. */
  readonly maxBatch?: number
  /** Calls that are answered in a second; the others are refused, also within a batch. */
  readonly callsPerSecond?: number
}

export interface RecordedNode {
  readonly url: string
  /** Names of all calls since the last reset, but for those by which the head and the pool are followed. */
  readonly calls: string[]
  /** How often requests for state began while none was under way, since the last reset: turns, one after the other. */
  turns(): number
  reset(): void
  setTraits(traits: NodeTraits & LineTraits): void
  close(): Promise<void>
}

export const stateMethods = ['eth_getBalance', 'eth_getTransactionCount', 'eth_getCode']

function refusal(id: unknown, { code, message }: Refusal): object {
  return { jsonrpc: '2.0', id, error: { code, message } }
}

/** Serves a recorded chain like a node with these traits. */
export async function startRecordedNode(
  chain: RecordedChain,
  first: NodeTraits & LineTraits = {}
): Promise<RecordedNode> {
  const reader = readRecorded(chain, stretchTo(chain.head, first.head ?? chain.head))
  const calls: string[] = []
  let traits = first
  let [turns, underWay] = [0, 0]
  let [second, inSecond] = [0, 0]

  function answerOne({ id, method, params }: RpcMessage): object {
    const polled = ['latest', 'finalized', `0x${reader.head.toString(16)}`]
    const isPoll =
      ['txpool_content', 'eth_blockNumber'].includes(method) || polled.includes(String(params[0]))
    if (!isPoll) calls.push(method)
    if (!isPoll && isOverRate()) return refusal(id, new Refusal(-32005, 'rate limit exceeded'))
    try {
      return { jsonrpc: '2.0', id, result: answerCall(reader, traits, method, params) }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return refusal(id, error)
    }
  }

  function isOverRate(): boolean {
    const { callsPerSecond } = traits
    if (callsPerSecond === undefined) return false
    const now = Math.floor(performance.now() / 1_000)
    if (now !== second) inSecond = 0
    second = now
    return ++inSecond > callsPerSecond
  }

  function answer(request: RpcMessage | RpcMessage[]): { readonly status: number; readonly text: string } {
    const list = [request].flat()
    const { maxBatch = 1_000 } = traits
    if (Array.isArray(request) && request.length > maxBatch) {
      const error = { code: -32600, message: `batches of more than ${maxBatch} calls are not supported` }
      return { status: 200, text: JSON.stringify({ jsonrpc: '2.0', id: null, error }) }
    }
    const answers = list.map(answerOne)
    return { status: 200, text: JSON.stringify(Array.isArray(request) ? answers : answers[0]) }
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', async () => {
      const asked = JSON.parse(Buffer.concat(chunks).toString()) as RpcMessage | RpcMessage[]
      const isState = [asked].flat().some(({ method }) => stateMethods.includes(method))
      if (isState && underWay++ === 0) turns++
      if (traits.latencyMs !== undefined) await sleep(traits.latencyMs)
      const { status, text } = answer(asked)
      response.writeHead(status, { 'content-type': 'application/json' }).end(text)
      if (isState) underWay--
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    turns: () => turns,
    reset() {
      calls.length = 0
      turns = 0
    },
    setTraits(next) {
      traits = next
    },
    close() {
      server.closeAllConnections()
      return new Promise(resolve => server.close(() => resolve()))
    }
  }
}
