import { firstTransactionId } from '../../index/record/transactionId.ts'
import type { DeepCoverage, DeepHistoryCache, DeepProgress, DeepSource } from '../../model/deepHistory.ts'
import type { Address, BlockRef, Hash } from '../../model/evm.ts'
import type { TraceMode } from '../../model/traceMode.ts'
import { isAbsent, readCount, readObject } from '../../nodes/evm/rawFields.ts'
import type { EvmUpstreams } from '../../nodes/evm/rpc.ts'
import { isMethodMissing, messageKindOf } from '../../nodes/upstreams/errorWords.ts'
import { BoundedMap } from '../../platform/boundedMap.ts'
import { createSharedWork, DeadlineError, withDeadline } from '../../platform/concurrency/deadline.ts'
import { eachOnce } from '../../platform/eachOnce.ts'
import { NodeContradictionError, NodeRpcError } from '../../platform/errors.ts'
import type { EvmSource } from '../blocks/evmSource.ts'
import { chooseSource, findOffers, gapsFrom, type Offers } from './chooseSource.ts'
import { cacheOfMode, createAccountReader } from './createAccountReader.ts'
import { createMeter } from './createMeter.ts'
import { CallBoundError, CallBudget } from './meterCalls.ts'
import type { SearchEnd } from './search/DownwardSearch.ts'
import { createSearches, hashesIn, type Searches } from './searches.ts'

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
  lookUpHash(hash: Hash, anchor: BlockRef, signal: AbortSignal): Promise<number | undefined>
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

/** A node may be upgraded: one without an index of addresses is asked again after this time. */
const forgetAfterMs = 10 * 60_000
/** Searches under way that are remembered between two calls, so that nothing is asked twice. */
const rememberedSearches = 256
/** Accounts are remembered whose history cannot be proven; code may be given or taken after this time. */
const rememberedEnds = 4_096
/** The part of a call's time that is left for the answer itself. */
const reserveMs = 500

export function createDeepHistory(options: DeepHistoryOptions): DeepHistory {
  const { rpc, traces, maxCalls = Number.POSITIVE_INFINITY, now = Date.now } = options
  const payments = traces !== 'off'
  const cache = cacheOfMode(options.cache, traces)
  const share = createSharedWork()
  const source = options.openSource(rpc)
  const { begin, learn, isCapped, isSeenWide } = createSearches(options)
  /** By the signal of the request. */
  const budgets = new WeakMap<AbortSignal, CallBudget>()
  const begun = new BoundedMap<string, Searches>(rememberedSearches)
  const ends = new BoundedMap<string, { readonly end: SearchEnd; readonly atMs: number }>(rememberedEnds)
  const reader = createAccountReader(cache)
  let found: { readonly offers: Offers; readonly atMs: number } | undefined
  /** Blocks older than the index; absent: not known yet. */
  let olderBlocks: number | undefined

  const choose = (offers: Offers, blocks: number, isProvable: boolean) =>
    chooseSource(offers, { payments, isCapped: isCapped(blocks), isProvable })
  const answeredBy = () => found && choose(found.offers, olderBlocks ?? found.offers.head ?? 0, true)

  async function findOut(signal: AbortSignal): Promise<DeepSource> {
    const known = answeredBy()
    const isOld = now() - (found?.atMs ?? 0) >= forgetAfterMs
    if (known !== undefined && (known !== 'none' || !isOld)) return known
    await share('offers of nodes', signal, async within => {
      found = { offers: await findOffers(rpc, payments, within), atMs: now() }
      learn(found.offers)
    })
    return answeredBy() ?? 'none'
  }

  const endName = (address: Address, anchor: BlockRef) => `${address} ${anchor.hash}`
  function endOf(address: Address, anchor: BlockRef): SearchEnd | undefined {
    const known = ends.get(endName(address, anchor))
    return known !== undefined && now() - known.atMs < forgetAfterMs ? known.end : undefined
  }

  /** What answers for the account's blocks before one that is known. */
  async function sourceOf(address: Address, anchor: BlockRef, below: number, signal: AbortSignal) {
    olderBlocks = anchor.number
    await findOut(signal)
    if (found === undefined) return 'none'
    const end = endOf(address, anchor)
    return choose(found.offers, below, end === undefined || end.from < below)
  }

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

  /**
   * Returns how far down the account is known. What may lack more than a source that is there by now is forgotten, and read from
   * that.
   */
  async function knownOf(address: Address, anchor: BlockRef) {
    const known = await cache.known(address, anchor)
    if (found === undefined || known.gaps.length === 0) return known
    const source = choose(found.offers, anchor.number, true)
    const isSure = source === 'ots' || (source === 'trace_filter' && isSeenWide(anchor.number))
    const gaps = gapsFrom(source, found.offers.state)
    const isLess = gaps.length < known.gaps.length && gaps.every(gap => known.gaps.includes(gap))
    if (!isSure || !isLess) return known
    await cache.forget(address)
    return cache.known(address, anchor)
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
    const known = () => knownOf(address, anchor)
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
          const index = lane === 'records' ? await sourceOf(address, anchor, below, within) : 'none'
          // Without one, histories begin at the index, or where they can be proven.
          if (lane === 'records' && index === 'none') break
          let searches: Searches | undefined
          try {
            await share(name, within, async stepSignal => {
              const { [lane === 'records' ? 'recordsFrom' : 'candidatesFrom']: from, gaps } = await known()
              const offers = found?.offers ?? {}
              // What was found from state was found because the account has a key.
              const hasKey = isKeyIndexed || gaps.includes('zero-value-receipts')
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
                noteEnd(searches)
              }
            })
          } catch (error) {
            if (!(error instanceof CallBoundError)) throw error
            // Another request's bound ends nothing for this one.
            if (searches !== undefined) return meter.progress(await lowest(), searches)
          }
          below = await lowest()
          if (searches === undefined) continue
          const { problem } = searches.direct ?? {}
          if (searches.found === undefined && problem !== undefined && !(await isDone(below)))
            return { isDone: false, reachedBlock: below, problem }
        }
        return { isDone: true, reachedBlock: below }
      })
    } catch (error) {
      // The node was exchanged for another one, perhaps: the next call finds out what that one has.
      if (lane === 'records' && (isMethodMissing(error) || isStateMissing(error))) {
        found = undefined
        begun.delete(name)
      }
      if (signal.aborted || !(error instanceof DeadlineError)) throw error
      return meter.progress(await lowest(), begun.get(name))
    }
  }

  function noteEnd({ address, anchor, direct, below }: Searches): void {
    const end = direct?.end
    if (end !== undefined && below <= end.from) ends.set(endName(address, anchor), { end, atMs: now() })
  }

  return {
    ...{ answeredBy, findOut },
    cache: { ...cache, known: knownOf },
    async coverage(address, anchor) {
      const { gaps: kept, recordsFrom } = await knownOf(address, anchor)
      const end = endOf(address, anchor)
      const isEnded = end !== undefined && end.from >= recordsFrom
      const next = found ? choose(found.offers, anchor.number, !isEnded) : 'none'
      const isFromState = isEnded && end.from < anchor.number
      const gaps = eachOnce([
        ...kept,
        ...gapsFrom(next, found?.offers.state === true),
        ...gapsFrom(isFromState ? 'state' : 'none', true)
      ])
      const source = gaps.includes('zero-value-receipts') ? 'state' : next
      if (next !== 'none') return { source, from: 0, gaps }
      const reason = isEnded ? { reason: end.reason } : {}
      if (source === 'state' && recordsFrom < anchor.number)
        return { source, from: recordsFrom, gaps, ...reason }
      return { source: 'none', from: anchor.number, gaps: [], ...reason }
    },
    readRecords: (request, isEnough, wanted = Number.POSITIVE_INFINITY) =>
      read(request, 'records', isEnough, wanted),
    readCandidates: request => read(request, 'candidates', async () => false, Number.POSITIVE_INFINITY),
    async lookUpHash(hash, anchor, signal) {
      const kept = await cache.lookUpHash(hash, anchor)
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
      return firstTransactionId(number) + (rows.indexes[place] ?? 0)
    }
  }
}

function isStateMissing(error: unknown): boolean {
  return error instanceof NodeRpcError && messageKindOf(error) === 'missingData'
}
