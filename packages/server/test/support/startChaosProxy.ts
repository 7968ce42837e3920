import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom, type Random } from '../../../devnet/src/platform/createRandom.ts'
import {
  type AskNode,
  type ExchangeFaultName,
  exchangeFaults,
  type FaultName,
  type ResultFaultName,
  resultFaults
} from './chaosFaults.ts'
import { viewBehind } from './laggingView.ts'
import type { RpcMessage } from './startFaultProxy.ts'

export interface ChaosProxyOptions {
  readonly nodeUrl: string
  readonly seed: number
  /** Part of every draw: two upstreams of the same seed must not fail together. */
  readonly name: string
}

/**
 * A JSON-RPC aware proxy in front of a real node that goes wrong at random: in a share of its answers, and, told to
 * lag, in all that is newer than what it admits to know.
 *
 * What befalls a request depends on the seed, the proxy's name, the request and how often it was made before, but not
 * on the order in which different requests arrive.
 */
export interface ChaosProxy {
  readonly url: string
  /** HTTP answers so far, and those of them that were spoiled; a lagging view alone does not count. */
  readonly answers: { all: number; faulty: number }
  /** How often each fault was really put into an answer. */
  readonly injected: ReadonlyMap<FaultName, number>
  /** What went wrong in the proxy itself, where it should be empty: such an answer is no fault of the plan. */
  readonly mishaps: readonly unknown[]
  /** Share of HTTP answers to spoil, 0 at first. */
  setShare(share: number): void
  /** From now on behind by 1 to `most` blocks, drawn anew every fifty answers; 0: level with the node. */
  setLag(most: number): void
  close(): Promise<void>
}

interface Answer {
  jsonrpc: '2.0'
  id: unknown
  result?: unknown
  error?: unknown
}

const answersPerLag = 50
const longestDelayMs = 150

export async function startChaosProxy({ nodeUrl, seed, name }: ChaosProxyOptions): Promise<ChaosProxy> {
  const answers = { all: 0, faulty: 0 }
  const injected = new Map<FaultName, number>()
  const mishaps: unknown[] = []
  const seen = new Map<string, number>()
  let share = 0
  let mostLag = 0

  const draw = (what: string) =>
    createRandom(createHash('sha256').update(`${seed} ${name} ${what}`).digest().readInt32LE(0))
  const count = (fault: FaultName) => injected.set(fault, (injected.get(fault) ?? 0) + 1)

  async function askWhole(call: object): Promise<Answer> {
    const response = await fetch(nodeUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(call)
    })
    return (await response.json()) as Answer
  }
  const ask: AskNode = async (method, ...params) =>
    (await askWhole({ jsonrpc: '2.0', id: 1, method, params })).result

  async function tellTruth(calls: readonly RpcMessage[]): Promise<Answer[]> {
    if (mostLag === 0) return Promise.all(calls.map(askWhole))
    const period = Math.floor(answers.all / answersPerLag)
    const view = await viewBehind(1 + draw(`lag ${period}`).below(mostLag), ask)
    const told = await Promise.all(calls.map(call => view.answer(call)))
    if (told.some(({ differs }) => differs)) count('lag')
    return told.map(({ result }, place) => ({ jsonrpc: '2.0', id: calls[place]?.id, result: result ?? null }))
  }

  async function spoilOne(calls: readonly RpcMessage[], told: Answer[], random: Random): Promise<boolean> {
    const place = random.below(calls.length)
    const [call, answer] = [calls[place], told[place]]
    if (call === undefined || answer === undefined || answer.error !== undefined) return false
    const fitting = (Object.keys(resultFaults) as ResultFaultName[]).filter(fault =>
      resultFaults[fault].fits(call, answer.result)
    )
    const [first, ...rest] = fitting
    if (first === undefined) return false
    const fault = random.pick([first, ...rest])
    answer.result = await resultFaults[fault].spoil(call, answer.result, random, ask)
    count(fault)
    return true
  }

  async function handle(body: string, response: ServerResponse): Promise<void> {
    const message = JSON.parse(body) as RpcMessage | RpcMessage[]
    const calls = Array.isArray(message) ? message : [message]
    const key = calls.map(({ method, params }) => `${method} ${JSON.stringify(params)}`).join(' ')
    const times = (seen.get(key) ?? 0) + 1
    seen.set(key, times)
    const random = draw(`${key} ${times}`)
    answers.all++

    const told = await tellTruth(calls)
    const reply = () => JSON.stringify(Array.isArray(message) ? told : told[0])
    if (random.below(1_000_000) >= share * 1_000_000) return send(response, reply())
    answers.faulty++
    // Half of the faults lie in what is said, half in how it arrives.
    if (random.below(2) === 0 && (await spoilOne(calls, told, random))) return send(response, reply())
    const kinds = exchangeFaults.filter(fault => fault !== 'missingEntry' || told.length > 1)
    // Batches are rare, and what only they can suffer would be rarer still.
    const fault = told.length > 1 && random.below(4) === 0 ? 'missingEntry' : random.pick(kinds as Kinds)
    count(fault)
    await spoilExchange(fault, { response, told, reply, random })
  }

  const server = createServer((request, response) => {
    readBody(request).then(
      body =>
        handle(body, response).catch(error => {
          mishaps.push(error)
          response.destroy()
        }),
      // The caller has called off its request.
      () => response.destroy()
    )
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answers,
    injected,
    mishaps,
    setShare(next) {
      share = next
    },
    setLag(most) {
      mostLag = most
    },
    close() {
      server.closeAllConnections()
      return new Promise(resolve => server.close(() => resolve()))
    }
  }
}

type Kinds = [ExchangeFaultName, ...ExchangeFaultName[]]

interface Exchange {
  readonly response: ServerResponse
  readonly told: Answer[]
  readonly reply: () => string
  readonly random: Random
}

async function spoilExchange(fault: ExchangeFaultName, { response, told, reply, random }: Exchange) {
  switch (fault) {
    case 'droppedBefore':
      response.socket?.destroy()
      return
    case 'droppedInside': {
      const bytes = Buffer.from(reply())
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length })
      response.write(bytes.subarray(0, bytes.length / 2), () => response.socket?.destroy())
      return
    }
    case 'reset':
      response.socket?.resetAndDestroy()
      return
    case 'delayed':
      await sleep(1 + random.below(longestDelayMs))
      return send(response, reply())
    case 'cutBody': {
      const text = reply()
      return send(response, text.slice(0, 1 + random.below(text.length - 1)))
    }
    case 'tooManyRequests':
      // One in thirty asks for a second, the shortest rest above none: on a node this near it is as long as a thousand
      // answers, and if more asked for it, obedience alone would set the pace of a run that takes ten.
      response
        .writeHead(429, { 'retry-after': random.below(30) === 0 ? '1' : '0', 'content-type': 'text/plain' })
        .end('slow down')
      return
    case 'serverError':
      response.writeHead(random.pick([500, 502, 503, 504])).end('something broke')
      return
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html><body>Please log in</body></html>')
      return
    case 'wrongId':
      told[0]!.id = Number(told[0]?.id) + 1_000_000
      return send(response, reply())
    case 'missingEntry':
      told.splice(random.below(told.length), 1)
      return send(response, reply())
  }
}

function send(response: ServerResponse, body: string): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(body)
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
