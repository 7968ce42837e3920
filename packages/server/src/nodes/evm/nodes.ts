import { openAbortScope } from '../../platform/concurrency/deadline.ts'
import { chunk, mapConcurrently } from '../../platform/concurrency/permits.ts'
import { NodeRpcError } from '../../platform/errors.ts'
import { messageKindOf, speaksOfBatch } from '../upstreams/errorWords.ts'
import type { UpstreamLink } from '../upstreams/upstream.ts'
import { UpstreamError } from '../upstreams/upstreamError.ts'
import { errorMessageOf, idOf, readAnswer, readOutcome } from './jsonRpc.ts'
import type { EvmNode, NodeCall, NodeOutcome, PostedBatch } from './nodeCall.ts'

/** HTTP requests that one batch keeps under way, at least; more where a node takes few calls in one, or only one. */
const parallelRequests = 4
const parallelCalls = 64

interface Entry {
  readonly index: number
  readonly call: NodeCall
}

interface BatchRun {
  readonly outcomes: (NodeOutcome | undefined)[]
  readonly signal: AbortSignal
  readonly onSize: ((bytes: number) => void) | undefined
}

/**
 * Speaks JSON-RPC 2.0 over one upstream: ids, batches, and the shapes real nodes answer with. No retries.
 *
 * @param link - its batch size learns from what the upstream refuses.
 */
export function createEvmNodes(link: UpstreamLink): (signal: AbortSignal) => EvmNode {
  const { name, batchSize } = link
  let nextId = 1

  async function send(
    call: NodeCall,
    signal: AbortSignal,
    onSize?: (bytes: number) => void
  ): Promise<unknown> {
    const id = nextId++
    const whole = await link.post(JSON.stringify({ jsonrpc: '2.0', id, ...call }), signal)
    const answer = readAnswer(whole, name)
    const outcome = readOutcome(answer, call, link)
    if (outcome === undefined || (outcome.ok && idOf(answer) !== id)) throw malformed(call.method)
    if (!outcome.ok) throw outcome.error
    onSize?.(whole.byteLength)
    return outcome.value
  }

  async function sendSingle(entry: Entry, { outcomes, signal, onSize }: BatchRun) {
    try {
      outcomes[entry.index] = { ok: true, value: await send(entry.call, signal, onSize) }
    } catch (error) {
      if (!(error instanceof NodeRpcError)) throw error
      outcomes[entry.index] = { ok: false, error }
    }
  }

  async function postBatch(calls: readonly NodeCall[], signal: AbortSignal): Promise<PostedBatch> {
    const ids = calls.map(() => nextId++)
    const body = calls.map((call, i) => ({ jsonrpc: '2.0', id: ids[i], ...call }))
    return { ids, answer: await link.post(JSON.stringify(body), signal, calls.length) }
  }

  async function sendBatch(entries: readonly Entry[], run: BatchRun, posted?: PostedBatch) {
    const calls = entries.map(({ call }) => call)
    try {
      const { ids, answer } = posted ?? (await postBatch(calls, run.signal))
      if (posted === undefined) run.onSize?.(answer.byteLength)
      readBatch(new Map(entries.map((entry, i) => [ids[i] ?? 0, entry])), readAnswer(answer, name), run)
    } catch (error) {
      if (!(error instanceof UpstreamError) || !isBatchRefusal(error)) throw error
      if (error.fault === 'refused') batchSize.refused(entries.length)
    }
  }

  function readBatch(byId: ReadonlyMap<number, Entry>, answers: unknown, { outcomes }: BatchRun): void {
    const { size } = byId
    if (!Array.isArray(answers)) {
      // One answer for many calls: an error about the batch as such.
      if (readOutcome(answers, { method: 'batch', params: [] }, link) === undefined) throw malformed('batch')
      // Without a word about its size, batches are not taken at all.
      batchSize.refused(saysTooMany(answers) ? size : 2)
      return
    }
    // Some answer a batch that is too large with the same error under every id.
    if (answers.length > 0 && answers.every(answer => speaksOfBatch(errorMessageOf(answer)))) {
      batchSize.refused(size)
      return
    }
    let throttled: UpstreamError | undefined
    for (const answer of answers) {
      const entry = byId.get(idOf(answer))
      if (entry === undefined) continue
      // Others with one error under the first id and nothing else.
      if (answers.length < size && saysTooMany(answer)) {
        batchSize.refused(size)
        continue
      }
      try {
        const outcome = readOutcome(answer, entry.call, link)
        if (outcome === undefined || asksForFewer(outcome)) continue
        outcomes[entry.index] = outcome
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error
        throttled = error
      }
    }
    if (throttled !== undefined) throw throttled
  }

  function malformed(what: string): UpstreamError {
    return new UpstreamError(`${name} answered ${what} with something that is not JSON-RPC`, 'malformed')
  }

  /** Fills the gaps of `outcomes`, so that a repeated attempt asks only for what is missing. */
  async function sendAll(
    calls: readonly NodeCall[],
    run: BatchRun,
    posted?: PostedBatch
  ): Promise<readonly NodeOutcome[]> {
    const { outcomes } = run
    if (posted !== undefined) {
      await sendBatch(
        calls.map((call, index) => ({ call, index })),
        run,
        posted
      )
    }
    // Every round either fills gaps or makes the next round's batches smaller, down to single calls.
    let roundSize = batchSize.current()
    for (;;) {
      const missing = calls.map((call, index) => ({ call, index })).filter(({ index }) => !outcomes[index])
      if (missing.length === 0) break
      roundSize = Math.max(1, Math.min(roundSize, batchSize.current()))
      const atOnce = Math.max(parallelRequests, Math.floor(parallelCalls / roundSize))
      await mapConcurrently(chunk(missing, roundSize), atOnce, async entries => {
        const only = entries[0]
        if (entries.length === 1 && only !== undefined) await sendSingle(only, run)
        else await sendBatch(entries, run)
      })
      roundSize = Math.floor(roundSize / 2)
    }
    return outcomes.filter(outcome => outcome !== undefined)
  }

  function noteHead({ method, params }: NodeCall, value: unknown): void {
    const isHead = method === 'eth_blockNumber'
    if (!isHead && !(method === 'eth_getBlockByNumber' && params[0] === 'latest')) return
    const text = isHead ? value : (value as { number?: unknown } | null)?.number
    if (typeof text === 'string' && /^0x[0-9a-f]{1,13}$/i.test(text)) link.sawHead(Number(text))
  }

  const createNode = (signal: AbortSignal): EvmNode => ({
    name,
    position: link.position,
    async request(call, onSize) {
      const value = await link.track(signal, () => send(call, signal, onSize))
      noteHead(call, value)
      return value
    },
    async post(calls, onSize) {
      if (batchSize.current() < calls.length) return undefined
      try {
        const posted = await link.track(signal, () => postBatch(calls, signal))
        onSize?.(posted.answer.byteLength)
        return posted
      } catch (error) {
        if (error instanceof UpstreamError && isBatchRefusal(error)) return undefined
        throw error
      }
    },
    async batch(calls, known = new Array<NodeOutcome | undefined>(calls.length), onSize, posted) {
      const run = { outcomes: known, signal, onSize }
      const outcomes = await link.track(signal, () => sendAll(calls, run, posted))
      for (const [index, call] of calls.entries()) {
        const outcome = outcomes[index]
        if (outcome?.ok) noteHead(call, outcome.value)
      }
      return outcomes
    },
    attempt: link.capabilities.attempt,
    putAside: link.putAside,
    async within(timeoutMs, ask) {
      const scope = openAbortScope([signal])
      // No AttemptTimeout, which would count as the upstream's failure.
      const cutShort = new Error('cut short')
      scope.setDeadline(timeoutMs, () => cutShort)
      try {
        return await ask(createNode(scope.signal))
      } catch (error) {
        if (error === cutShort && !signal.aborted) return undefined
        throw error
      } finally {
        scope.end()
      }
    },
    memory: link.memory
  })
  return createNode
}

/** Reports whether the node would answer this call, but not beside so many others. */
function asksForFewer(outcome: NodeOutcome): boolean {
  return (
    !outcome.ok && outcome.error instanceof NodeRpcError && messageKindOf(outcome.error) === 'answerTooLarge'
  )
}

/** HTTP statuses and sizes that a smaller batch can mend; credentials and the like it cannot. */
function isBatchRefusal({ fault, httpStatus }: UpstreamError): boolean {
  if (fault === 'tooLarge') return true
  return fault === 'refused' && [400, 405, 413, 414, 415, 422].includes(httpStatus ?? 0)
}

function saysTooMany(answer: unknown): boolean {
  return /batch|too (many|large)|limit|exceed/i.test(errorMessageOf(answer))
}
