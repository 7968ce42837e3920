import { chunk, mapConcurrently } from '../../platform/concurrency/permits.ts'
import { NodeRpcError } from '../../platform/errors.ts'
import { messageKindOf, speaksOfBatch } from '../upstreams/errorWords.ts'
import type { UpstreamLink } from '../upstreams/upstream.ts'
import { UpstreamError } from '../upstreams/upstreamError.ts'
import { errorMessageOf, idOf, readAnswer, readOutcome } from './jsonRpc.ts'
import type { NodeCall, NodeOutcome, PostedBatch } from './nodeCall.ts'

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

/** Speaks JSON-RPC 2.0 over one upstream: ids, batches, and the shapes real nodes answer with. No retries. */
export class JsonRpcLink {
  readonly #link: UpstreamLink
  #nextId = 1

  /** @param link - its batch size learns from what the upstream refuses. */
  constructor(link: UpstreamLink) {
    this.#link = link
  }

  /** @throws {NodeRpcError} the error that the upstream answers with. */
  async send(call: NodeCall, signal: AbortSignal, onSize?: (bytes: number) => void): Promise<unknown> {
    const id = this.#nextId++
    const whole = await this.#link.post(JSON.stringify({ jsonrpc: '2.0', id, ...call }), signal)
    const answer = readAnswer(whole, this.#link.name)
    const outcome = readOutcome(answer, call, this.#link)
    if (outcome === undefined || (outcome.ok && idOf(answer) !== id)) throw this.#malformed(call.method)
    if (!outcome.ok) throw outcome.error
    onSize?.(whole.byteLength)
    return outcome.value
  }

  /** Sends a batch and leaves its answer unread. */
  async postBatch(calls: readonly NodeCall[], signal: AbortSignal): Promise<PostedBatch> {
    const ids = calls.map(() => this.#nextId++)
    const body = calls.map((call, i) => ({ jsonrpc: '2.0', id: ids[i], ...call }))
    return { ids, answer: await this.#link.post(JSON.stringify(body), signal, calls.length) }
  }

  /** Fills the gaps of `outcomes`, so that a repeated attempt asks only for what is missing. */
  async sendAll(
    calls: readonly NodeCall[],
    run: BatchRun,
    posted?: PostedBatch
  ): Promise<readonly NodeOutcome[]> {
    const { outcomes } = run
    if (posted !== undefined) {
      await this.#sendBatch(
        calls.map((call, index) => ({ call, index })),
        run,
        posted
      )
    }
    // Every round either fills gaps or makes the next round's batches smaller, down to single calls.
    const { batchSize } = this.#link
    let roundSize = batchSize.current()
    for (;;) {
      const missing = calls.map((call, index) => ({ call, index })).filter(({ index }) => !outcomes[index])
      if (missing.length === 0) break
      roundSize = Math.max(1, Math.min(roundSize, batchSize.current()))
      const atOnce = Math.max(parallelRequests, Math.floor(parallelCalls / roundSize))
      await mapConcurrently(chunk(missing, roundSize), atOnce, async entries => {
        const only = entries[0]
        if (entries.length === 1 && only !== undefined) await this.#sendSingle(only, run)
        else await this.#sendBatch(entries, run)
      })
      roundSize = Math.floor(roundSize / 2)
    }
    return outcomes.filter(outcome => outcome !== undefined)
  }

  async #sendSingle(entry: Entry, { outcomes, signal, onSize }: BatchRun) {
    try {
      outcomes[entry.index] = { ok: true, value: await this.send(entry.call, signal, onSize) }
    } catch (error) {
      if (!(error instanceof NodeRpcError)) throw error
      outcomes[entry.index] = { ok: false, error }
    }
  }

  async #sendBatch(entries: readonly Entry[], run: BatchRun, posted?: PostedBatch) {
    const calls = entries.map(({ call }) => call)
    try {
      const { ids, answer } = posted ?? (await this.postBatch(calls, run.signal))
      if (posted === undefined) run.onSize?.(answer.byteLength)
      this.#readBatch(
        new Map(entries.map((entry, i) => [ids[i] ?? 0, entry])),
        readAnswer(answer, this.#link.name),
        run
      )
    } catch (error) {
      if (!(error instanceof UpstreamError) || !isBatchRefusal(error)) throw error
      if (error.fault === 'refused') this.#link.batchSize.refused(entries.length)
    }
  }

  #readBatch(byId: ReadonlyMap<number, Entry>, answers: unknown, { outcomes }: BatchRun): void {
    const { size } = byId
    const { batchSize } = this.#link
    if (!Array.isArray(answers)) {
      // One answer for many calls: an error about the batch as such.
      if (readOutcome(answers, { method: 'batch', params: [] }, this.#link) === undefined)
        throw this.#malformed('batch')
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
        const outcome = readOutcome(answer, entry.call, this.#link)
        if (outcome === undefined || asksForFewer(outcome)) continue
        outcomes[entry.index] = outcome
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error
        throttled = error
      }
    }
    if (throttled !== undefined) throw throttled
  }

  #malformed(what: string): UpstreamError {
    return new UpstreamError(
      `${this.#link.name} answered ${what} with something that is not JSON-RPC`,
      'malformed'
    )
  }
}

/** Reports whether the node would answer this call, but not beside so many others. */
function asksForFewer(outcome: NodeOutcome): boolean {
  return (
    !outcome.ok && outcome.error instanceof NodeRpcError && messageKindOf(outcome.error) === 'answerTooLarge'
  )
}

/** HTTP statuses and sizes that a smaller batch can mend; credentials and the like it cannot. */
export function isBatchRefusal({ fault, httpStatus }: UpstreamError): boolean {
  if (fault === 'tooLarge') return true
  return fault === 'refused' && [400, 405, 413, 414, 415, 422].includes(httpStatus ?? 0)
}

function saysTooMany(answer: unknown): boolean {
  return /batch|too (many|large)|limit|exceed/i.test(errorMessageOf(answer))
}
