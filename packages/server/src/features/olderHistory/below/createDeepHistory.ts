import type { Address, BlockRef, DeepHistoryCache, Hash } from '@chain-data/index'
import { hashesIn } from '../../../evm/blocks/blockRows.ts'
import type { EvmSource } from '../../../evm/blocks/evmSource.ts'
import type { DeepCoverage, DeepProgress, DeepSource } from '../../../model/deepHistory.ts'
import type { TraceMode } from '../../../model/traceMode.ts'
import { isAbsent, readCount, readObject } from '../../../nodes/evm/rawFields.ts'
import type { EvmUpstreams } from '../../../nodes/evm/rpc.ts'
import { isMethodMissing, messageKindOf } from '../../../nodes/upstreams/errorWords.ts'
import { BoundedMap } from '../../../platform/boundedMap.ts'
import { createSharedWork, DeadlineError, withDeadline } from '../../../platform/concurrency/deadline.ts'
import { NodeContradictionError, NodeRpcError } from '../../../platform/errors.ts'
import { cacheOfMode, createAccountReader } from './createAccountReader.ts'
import { createMeter } from './createMeter.ts'
import { createSourceChoice } from './createSourceChoice.ts'
import { CallBoundError, CallBudget } from './meterCalls.ts'
import { createSearches, type Searches } from './searches.ts'

/** The account to read, and how long it may take. */
interface DeepRequest {
  readonly address: Address
  /** First block of the index, as it is indexed. */
  readonly anchor: BlockRef
  readonly signal: AbortSignal
  /** `Date.now()` by which there has to be an answer. */
  readonly deadlineMs: number
  /** The index has a transaction that the account sent, so that it has a key; default: not known. */
  readonly hasKey?: boolean
}

/**
 * History older than the index of one chain, read from its nodes on demand, and kept. Blocks are verified and
 * normalised as those of the index are, so that records are the same.
 */
export interface DeepHistory {
  /** Returns what answers for histories; `undefined`: no node has been asked yet. Never waits. */
  answeredBy(): DeepSource | undefined
  /**
   * Makes sure that it is known.
   * @throws {NodeUnavailableError} no node answers.
   */
  findOut(signal: AbortSignal): Promise<DeepSource>
  /**
   * Reads transactions of the account until `isEnough`, newest first, or down to where its history can be proven.
   * @param wanted - how many there have to be more; absent: all.
   * @throws {NodeUnavailableError} and {NodeContradictionError}: what was read before stays known.
   */
  readRecords(request: DeepRequest, isEnough: () => Promise<boolean>, wanted?: number): Promise<DeepProgress>
  /** Returns how much of the account's history is answered, as far as the last reads have shown it. */
  coverage(address: Address, anchor: BlockRef): Promise<DeepCoverage>
  /** Reads on until it is known of all blocks what the account may hold. Needs no index of addresses. */
  readCandidates(request: DeepRequest): Promise<DeepProgress>
  /** The history that was read so far. */
  readonly cache: Pick<DeepHistoryCache, 'known' | 'records' | 'candidates'>
  /** Id of a transaction older than the index; absent where there is none of this hash. */
  lookUpHash(address: Address, hash: Hash, anchor: BlockRef, signal: AbortSignal): Promise<number | undefined>
}

export interface DeepHistoryOptions {
  readonly rpc: EvmUpstreams
  /** Opens a source that reads blocks as the indexer does. */
  openSource(rpc: EvmUpstreams): Pick<EvmSource, 'block' | 'blockRef'>
  readonly cache: DeepHistoryCache
  readonly traces: TraceMode
  /** Maximum of calls to nodes for one request, repeated ones not counted; default: no bound. */
  readonly maxCalls?: number
  /** `Date.now`, replaced in tests. */
  readonly now?: () => number
}

/** Searches under way that are remembered between two calls, so that nothing is asked twice. */
const rememberedSearches = 256
/** The part of a call's time that is left for the answer itself. */
const reserveMs = 500

export function createDeepHistory(options: DeepHistoryOptions): DeepHistory {
  const { rpc, traces, maxCalls = Number.POSITIVE_INFINITY, now = Date.now } = options
  const cache = cacheOfMode(options.cache, traces)
  const share = createSharedWork()
  const source = options.openSource(rpc)
  const { begin, spans } = createSearches(options)
  const choice = createSourceChoice({ rpc, spans, cache, now, payments: traces !== 'off' })
  /** By the signal of the request. */
  const budgets = new WeakMap<AbortSignal, CallBudget>()
  const begun = new BoundedMap<string, Searches>(rememberedSearches)
  const reader = createAccountReader(cache)
  /**
   * The searches of an account from where it is known; those of the last call, where they stand there. They belong to one
   * step at a time: one that was called off may still be at work on its own when the next one begins.
   */
  async function takeUp(name: string, wanted: Parameters<typeof begin>[0]): Promise<Searches> {
    const known = begun.get(name)
    begun.delete(name)
    const { below, index, anchor } = wanted
    const isSame = known?.source === index && known.below === below && known.anchor.hash === anchor.hash
    return isSame ? known : begin(wanted)
  }

  /** Checks that older blocks belong to the index's chain; else nothing is read. */
  async function requireBranch(
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

  function budgetOf(signal: AbortSignal): CallBudget {
    const budget = budgets.get(signal) ?? new CallBudget(maxCalls)
    budgets.set(signal, budget)
    return budget
  }

  async function read(
    { address, anchor, signal, deadlineMs, hasKey: isKeyIndexed = false }: DeepRequest,
    lane: 'records' | 'candidates',
    isEnough: () => Promise<boolean>,
    wanted: number
  ): Promise<DeepProgress> {
    const known = () => choice.knownOf(address, anchor)
    const budget = budgetOf(signal)
    const lowest = async () => (await known())[lane === 'records' ? 'recordsFrom' : 'candidatesFrom']
    const meter = createMeter(await lowest())
    const isDone = async (below: number) => below === 0 || (await isEnough())
    let below = meter.began
    if (await isDone(below)) return { isDone: true, reachedBlock: below }
    const timeoutMs = Math.max(1, deadlineMs - reserveMs - Date.now())
    const name = `${lane} ${address}`
    try {
      return await withDeadline({ timeoutMs, signal }, async within => {
        while (!(await isDone(below))) {
          const index = lane === 'records' ? await choice.sourceOf(address, anchor, below, within) : 'none'
          // Without one, histories begin at the index, or where they can be proven.
          if (lane === 'records' && index === 'none') break
          let searches: Searches | undefined
          try {
            await share(name, within, async stepSignal => {
              const { [lane === 'records' ? 'recordsFrom' : 'candidatesFrom']: from, gaps } = await known()
              const offers = choice.offers() ?? {}
              // What was found from state was found because the account has a key, or is marked.
              const isShown = gaps.includes('zero-value-receipts') && !gaps.includes('payments-passed-on')
              const hasKey = isKeyIndexed || isShown
              searches = await takeUp(name, { address, below: from, index, anchor, offers, hasKey })
              searches.budget = budget
              meter.begin(searches)
              try {
                if (!searches.isOfBranch) await requireBranch(searches.blocks, anchor, stepSignal)
                searches.isOfBranch = true
                await reader.step(searches, stepSignal, Math.max(1, wanted - meter.kept))
              } catch (error) {
                if (error instanceof CallBoundError) searches.isFrugal = true
                throw error
              } finally {
                begun.set(name, searches)
                choice.noteEnd(searches)
              }
            })
          } catch (error) {
            if (!(error instanceof CallBoundError)) throw error
            // Another request's bound ends nothing for this one.
            if (searches !== undefined) return meter.progress(await lowest(), searches)
          }
          below = await lowest()
          if (searches === undefined) continue
          const { problem, from = 0 } = searches.direct ?? {}
          // What was found above is kept first, and may be enough.
          if (problem !== undefined && below <= from && !(await isDone(below)))
            return { isDone: false, reachedBlock: below, problem }
        }
        return { isDone: true, reachedBlock: below }
      })
    } catch (error) {
      // The node was exchanged for another one, perhaps: the next call finds out what that one has.
      if (lane === 'records' && (isMethodMissing(error) || isStateMissing(error))) {
        choice.findOutAnew()
        begun.delete(name)
      }
      if (error instanceof NodeContradictionError) {
        const from = await lowest()
        const context = { ...error.context, ...(from < anchor.number && { keptFrom: from }) }
        throw new NodeContradictionError(error.message, context, { cause: error })
      }
      if (signal.aborted || !(error instanceof DeadlineError)) throw error
      return meter.progress(await lowest(), begun.get(name))
    }
  }

  return {
    ...{ answeredBy: choice.answeredBy, findOut: choice.findOut, coverage: choice.coverage },
    cache: { ...cache, known: choice.knownOf },
    readRecords: (request, isEnough, wanted = Number.POSITIVE_INFINITY) =>
      read(request, 'records', isEnough, wanted),
    readCandidates: request => read(request, 'candidates', async () => false, Number.POSITIVE_INFINITY),
    async lookUpHash(address, hash, anchor, signal) {
      const kept = await cache.lookUpHash(address, hash, anchor)
      if (kept !== undefined) return kept
      const raw = await rpc.request({ method: 'eth_getTransactionByHash', params: [hash] }, { signal })
      if (raw === null) return undefined
      const { blockNumber } = readObject(raw, `transaction ${hash}`)
      if (isAbsent(blockNumber)) return undefined
      const number = readCount(blockNumber, `transaction ${hash}: blockNumber`)
      if (number >= anchor.number) return undefined
      await requireBranch(source, anchor, signal)
      const rows = await source.block(number, signal)
      const place = hashesIn(rows).indexOf(hash)
      if (place < 0) {
        const problem = `transaction ${hash}: it is not in block ${number}, which the node names`
        throw new NodeContradictionError(problem, { number })
      }
      return rows.ids[place]
    }
  }
}

function isStateMissing(error: unknown): boolean {
  return error instanceof NodeRpcError && messageKindOf(error) === 'missingData'
}
