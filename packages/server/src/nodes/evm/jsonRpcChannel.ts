import { NodeRpcError } from '../../platform/errors.ts'
import type { BatchSize } from '../upstreams/batchSize.ts'
import { type HttpUpstream, UpstreamError } from '../upstreams/httpUpstream.ts'
import { type NodeMessageKind, readNodeMessage, speaksOfBatch } from '../upstreams/nodeMessages.ts'
import { exchangeJson, readAnswer } from './exchangeJson.ts'
import { findResult } from './findResult.ts'
import type { NodeCall, NodeOutcome, ResultScan } from './nodeCall.ts'

/** JSON-RPC 2.0 over one upstream: ids, batches, and the shapes real nodes answer with. No retries. */
export interface JsonRpcChannel {
  readonly name: string
  /**
   * @param scan - is shown the bytes of the result first, where they can be told from the rest of the answer.
   * @returns what `scan` made of them, else the parsed result.
   * @throws {NodeRpcError} the node answered an error.
   * @throws {UpstreamError} it did not answer, or asked to come back later.
   */
  send(call: NodeCall, signal: AbortSignal, scan?: ResultScan): Promise<unknown>
  /**
   * Fills the gaps of `outcomes` (same length as `calls`), so that a repeated attempt asks only for what is missing.
   * @throws {UpstreamError} like `send`; what has been answered by then stays in `outcomes`.
   */
  sendAll(
    calls: readonly NodeCall[],
    outcomes: (NodeOutcome | undefined)[],
    signal: AbortSignal
  ): Promise<readonly NodeOutcome[]>
}

/** How many HTTP requests one `sendAll` keeps under way. */
const parallelRequests = 4
const longestMessage = 300

interface Entry {
  readonly place: number
  readonly call: NodeCall
}

/** @param batchSize - learns from what the upstream refuses. */
export function createJsonRpcChannel(upstream: HttpUpstream, batchSize: BatchSize): JsonRpcChannel {
  const { name } = upstream
  let nextId = 1

  async function send(call: NodeCall, signal: AbortSignal, scan?: ResultScan): Promise<unknown> {
    const id = nextId++
    const whole = await upstream.post(JSON.stringify({ jsonrpc: '2.0', id, ...call }), signal)
    const result = scan === undefined || whole.status !== 200 ? undefined : findResult(whole.body, id)
    const scanned = result === undefined ? undefined : scan?.(result)
    if (scanned !== undefined) return scanned
    const answer = readAnswer(whole, name)
    const outcome = readOutcome(answer, call, upstream)
    if (outcome === undefined || (outcome.ok && !sameId(answer, id))) throw malformed(name, call.method)
    if (outcome.ok) return outcome.value
    throw outcome.error
  }

  async function sendSingle(entry: Entry, outcomes: (NodeOutcome | undefined)[], signal: AbortSignal) {
    try {
      outcomes[entry.place] = { ok: true, value: await send(entry.call, signal) }
    } catch (error) {
      if (!(error instanceof NodeRpcError)) throw error
      outcomes[entry.place] = { ok: false, error }
    }
  }

  async function sendBatch(
    entries: readonly Entry[],
    outcomes: (NodeOutcome | undefined)[],
    signal: AbortSignal
  ) {
    const byId = new Map(entries.map(entry => [nextId++, entry]))
    const body = [...byId].map(([id, { call }]) => ({ jsonrpc: '2.0', id, ...call }))
    let answers: unknown
    try {
      answers = await exchangeJson(upstream, body, signal)
    } catch (error) {
      if (!(error instanceof UpstreamError) || !isBatchRefusal(error)) throw error
      if (error.fault === 'refused') batchSize.refused(entries.length)
      return
    }
    if (!Array.isArray(answers)) {
      // One answer for many calls: an error about the batch as such.
      if (readOutcome(answers, body[0] ?? { method: 'batch', params: [] }, upstream) === undefined)
        throw malformed(name, 'batch')
      // Without a word about its size, batches are not taken at all.
      batchSize.refused(saysTooMany(answers) ? entries.length : 2)
      return
    }
    // Some answer a batch that is too large with the same error under every id.
    if (answers.length > 0 && answers.every(answer => speaksOfBatch(messageOf(answer)))) {
      batchSize.refused(entries.length)
      return
    }
    let throttled: UpstreamError | undefined
    for (const answer of answers) {
      const entry = byId.get(idOf(answer))
      if (entry === undefined) continue
      // Others with one error under the first id and nothing else.
      if (answers.length < entries.length && saysTooMany(answer)) {
        batchSize.refused(entries.length)
        continue
      }
      try {
        const outcome = readOutcome(answer, entry.call, upstream)
        if (outcome === undefined || asksForFewer(outcome)) continue
        outcomes[entry.place] = outcome
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error
        throttled = error
      }
    }
    if (throttled !== undefined) throw throttled
  }

  return {
    name,
    send,
    async sendAll(calls, outcomes, signal) {
      // Every round either fills gaps or makes the next round's batches smaller, down to single calls.
      let roundSize = batchSize.current()
      for (;;) {
        const missing = calls.map((call, place) => ({ call, place })).filter(({ place }) => !outcomes[place])
        if (missing.length === 0) break
        roundSize = Math.max(1, Math.min(roundSize, batchSize.current()))
        await runBounded(chunk(missing, roundSize), async entries => {
          const only = entries[0]
          if (entries.length === 1 && only !== undefined) await sendSingle(only, outcomes, signal)
          else await sendBatch(entries, outcomes, signal)
        })
        roundSize = Math.floor(roundSize / 2)
      }
      return outcomes.filter(outcome => outcome !== undefined)
    }
  }
}

/** Absent when `answer` is not a JSON-RPC response. @throws {UpstreamError} when it asks to come back later. */
function readOutcome(
  answer: unknown,
  call: NodeCall,
  { name, hide }: Pick<HttpUpstream, 'name' | 'hide'>
): NodeOutcome | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined
  if ('error' in answer && typeof answer.error === 'object' && answer.error !== null) {
    const { code, message, data } = answer.error as { code?: unknown; message?: unknown; data?: unknown }
    const rpcCode = typeof code === 'number' ? code : -32603
    // Not cut to its length first: half a key would not be recognised.
    const text =
      typeof message === 'string'
        ? hide(message.slice(0, 100 * longestMessage)).slice(0, longestMessage)
        : 'no message'
    const kind = readNodeMessage(rpcCode, text, data)
    if (kind === 'throttled' || kind === 'exhausted')
      throw new UpstreamError(`${name} limits the rate of calls (${rpcCode})`, kind)
    const context = { method: call.method, ...(kind === undefined ? {} : { nodeMessage: kind }) }
    const error = new NodeRpcError(`${call.method}: ${text} (${rpcCode})`, rpcCode, data, context)
    return { ok: false, error }
  }
  return 'result' in answer ? { ok: true, value: answer.result } : undefined
}

/** The node would answer this call, but not beside so many others. */
function asksForFewer(outcome: NodeOutcome): boolean {
  return (
    !outcome.ok && outcome.error instanceof NodeRpcError && messageKindOf(outcome.error) === 'answerTooLarge'
  )
}

/** What an error of this channel asks for; absent for a plain error of the call. */
export function messageKindOf(error: NodeRpcError): NodeMessageKind | undefined {
  return error.context.nodeMessage as NodeMessageKind | undefined
}

/** HTTP statuses and sizes that a smaller batch can mend; credentials and the like it cannot. */
function isBatchRefusal({ fault, httpStatus }: UpstreamError): boolean {
  if (fault === 'tooLarge') return true
  return fault === 'refused' && [400, 405, 413, 414, 415, 422].includes(httpStatus ?? 0)
}

function saysTooMany(answer: unknown): boolean {
  return /batch|too (many|large)|limit|exceed/i.test(messageOf(answer))
}

/** The error's message; empty where there is no error. */
function messageOf(answer: unknown): string {
  const error = typeof answer === 'object' && answer !== null && 'error' in answer ? answer.error : undefined
  const message =
    typeof error === 'object' && error !== null && 'message' in error ? error.message : undefined
  return typeof message === 'string' ? message.slice(0, longestMessage) : ''
}

function idOf(answer: unknown): number {
  const id = typeof answer === 'object' && answer !== null && 'id' in answer ? answer.id : undefined
  return typeof id === 'number' || typeof id === 'string' ? Number(id) : Number.NaN
}

function sameId(answer: unknown, id: number): boolean {
  return idOf(answer) === id
}

function malformed(name: string, what: string): UpstreamError {
  return new UpstreamError(`${name} answered ${what} with something that is not JSON-RPC`, 'malformed')
}

function chunk<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
    items.slice(i * size, (i + 1) * size)
  )
}

async function runBounded<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values()
  const lane = async () => {
    for (const item of queue) await run(item)
  }
  await Promise.all(Array.from({ length: Math.min(parallelRequests, items.length) }, lane))
}
