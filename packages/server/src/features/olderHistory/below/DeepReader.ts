import type { Address, BlockRef, DeepHistoryCache } from '@chain-data/index'
import type { EvmSource } from '../../../evm/blocks/evmSource.ts'
import type { DeepProgress } from '../../../model/deepHistory.ts'
import { isMethodMissing, messageKindOf } from '../../../nodes/upstreams/errorWords.ts'
import { BoundedMap } from '../../../platform/boundedMap.ts'
import { createSharedWork, DeadlineError, withDeadline } from '../../../platform/concurrency/deadline.ts'
import { NodeContradictionError, NodeRpcError } from '../../../platform/errors.ts'
import { createAccountReader } from './createAccountReader.ts'
import { createMeter } from './createMeter.ts'
import type { createSourceChoice } from './createSourceChoice.ts'
import { CallBoundError, CallBudget } from './meterCalls.ts'
import type { createSearches, Searches } from './searches.ts'

/** The account to read, and how long it may take. */
export interface DeepRequest {
  readonly address: Address
  /** First block of the index, as it is indexed. */
  readonly anchor: BlockRef
  readonly signal: AbortSignal
  /** `Date.now()` by which there has to be an answer. */
  readonly deadlineMs: number
  /** The index has a transaction that the account sent, so that it has a key; default: not known. */
  readonly hasKey?: boolean
}

/** What is read of an account: its records, or what it may hold. */
type Lane = 'records' | 'candidates'

/** One request's reading. */
interface Reading {
  readonly request: DeepRequest
  readonly lane: Lane
  readonly name: string
  readonly meter: ReturnType<typeof createMeter>
  /** How many records there have to be more. */
  readonly wanted: number
  isDone(below: number): Promise<boolean>
}

/** Searches under way that are remembered between two calls, so that nothing is asked twice. */
const rememberedSearches = 256
/** The part of a call's time that is left for the answer itself. */
const reserveMs = 500

/** Reads accounts downwards, as far as each request needs and its time and calls allow. */
export class DeepReader {
  readonly #choice: ReturnType<typeof createSourceChoice>
  readonly #begin: ReturnType<typeof createSearches>['begin']
  readonly #accounts: ReturnType<typeof createAccountReader>
  readonly #maxCalls: number
  readonly #share = createSharedWork()
  /** By the signal of the request. */
  readonly #budgets = new WeakMap<AbortSignal, CallBudget>()
  readonly #begun = new BoundedMap<string, Searches>(rememberedSearches)

  constructor(options: {
    readonly cache: DeepHistoryCache
    readonly choice: ReturnType<typeof createSourceChoice>
    readonly begin: ReturnType<typeof createSearches>['begin']
    readonly maxCalls: number
  }) {
    this.#choice = options.choice
    this.#begin = options.begin
    this.#accounts = createAccountReader(options.cache)
    this.#maxCalls = options.maxCalls
  }

  /** Reads until `isEnough`, or all. @param wanted - how many records there have to be more. */
  async read(
    request: DeepRequest,
    lane: Lane,
    isEnough: () => Promise<boolean>,
    wanted: number
  ): Promise<DeepProgress> {
    const { address, anchor, signal, deadlineMs } = request
    const meter = createMeter(await this.#lowest(request, lane))
    const isDone = async (below: number) => below === 0 || (await isEnough())
    if (await isDone(meter.began)) return { isDone: true, reachedBlock: meter.began }
    const timeoutMs = Math.max(1, deadlineMs - reserveMs - Date.now())
    const reading = { ...{ request, lane, wanted, meter, isDone }, name: `${lane} ${address}` }
    try {
      return await withDeadline({ timeoutMs, signal }, within => this.#readDown(reading, within))
    } catch (error) {
      // The node was exchanged for another one, perhaps: the next call finds out what that one has.
      if (lane === 'records' && (isMethodMissing(error) || isStateMissing(error))) {
        this.#choice.findOutAnew()
        this.#begun.delete(reading.name)
      }
      if (error instanceof NodeContradictionError) {
        const from = await this.#lowest(request, lane)
        const context = { ...error.context, ...(from < anchor.number && { keptFrom: from }) }
        throw new NodeContradictionError(error.message, context, { cause: error })
      }
      if (signal.aborted || !(error instanceof DeadlineError)) throw error
      return meter.progress(await this.#lowest(request, lane), this.#begun.get(reading.name))
    }
  }

  async #readDown(reading: Reading, within: AbortSignal): Promise<DeepProgress> {
    const { request, lane, name, meter, isDone } = reading
    const { address, anchor } = request
    let below = meter.began
    while (!(await isDone(below))) {
      const index = lane === 'records' ? await this.#choice.sourceOf(address, anchor, below, within) : 'none'
      // Without one, histories begin at the index, or where they can be proven.
      if (lane === 'records' && index === 'none') break
      let searches: Searches | undefined
      try {
        await this.#share(name, within, async signal => {
          searches = await this.#takeUp(reading, index)
          await this.#step(searches, reading, signal)
        })
      } catch (error) {
        if (!(error instanceof CallBoundError)) throw error
        // Another request's bound ends nothing for this one.
        if (searches !== undefined) return meter.progress(await this.#lowest(request, lane), searches)
      }
      below = await this.#lowest(request, lane)
      if (searches === undefined) continue
      const { problem, from = 0 } = searches.direct ?? {}
      // What was found above is kept first, and may be enough.
      if (problem !== undefined && below <= from && !(await isDone(below)))
        return { isDone: false, reachedBlock: below, problem }
    }
    return { isDone: true, reachedBlock: below }
  }

  /** Everything from this block upwards is known. */
  async #lowest({ address, anchor }: DeepRequest, lane: Lane): Promise<number> {
    return (await this.#choice.knownOf(address, anchor))[`${lane}From`]
  }

  /**
   * The searches of an account from where it is known; those of the last call, where they stand there. They belong to one
   * step at a time: one that was called off may still be at work on its own when the next one begins.
   */
  async #takeUp({ request, lane, name }: Reading, index: Searches['source']): Promise<Searches> {
    const { address, anchor } = request
    const { [`${lane}From` as const]: below, gaps } = await this.#choice.knownOf(address, anchor)
    const known = this.#begun.get(name)
    this.#begun.delete(name)
    const isSame = known?.source === index && known.below === below && known.anchor.hash === anchor.hash
    if (isSame) return known
    const offers = this.#choice.offers() ?? {}
    // What was found from state was found because the account has a key, or is marked.
    const isShown = gaps.includes('zero-value-receipts') && !gaps.includes('payments-passed-on')
    return this.#begin({ address, below, index, anchor, offers, hasKey: request.hasKey === true || isShown })
  }

  async #step(
    searches: Searches,
    { request, name, meter, wanted }: Reading,
    signal: AbortSignal
  ): Promise<void> {
    searches.budget = this.#budgetOf(request.signal)
    meter.begin(searches)
    try {
      if (!searches.isOfBranch) await requireBranch(searches.blocks, request.anchor, signal)
      searches.isOfBranch = true
      await this.#accounts.step(searches, signal, Math.max(1, wanted - meter.kept))
    } catch (error) {
      if (error instanceof CallBoundError) searches.isFrugal = true
      throw error
    } finally {
      this.#begun.set(name, searches)
      this.#choice.noteEnd(searches)
    }
  }

  #budgetOf(signal: AbortSignal): CallBudget {
    const budget = this.#budgets.get(signal) ?? new CallBudget(this.#maxCalls)
    this.#budgets.set(signal, budget)
    return budget
  }
}

/** Checks that older blocks belong to the index's chain; else nothing is read. */
export async function requireBranch(
  { blockRef }: Pick<EvmSource, 'blockRef'>,
  anchor: BlockRef,
  signal: AbortSignal
): Promise<void> {
  const canonical = await blockRef(anchor.number, signal)
  if (canonical?.hash === anchor.hash) return
  throw new NodeContradictionError(
    `block ${anchor.number}: the node has ${canonical?.hash ?? 'none'}, the index ${anchor.hash}`,
    { number: anchor.number }
  )
}

function isStateMissing(error: unknown): boolean {
  return error instanceof NodeRpcError && messageKindOf(error) === 'missingData'
}
