import { firstTransactionId } from '../../index/record/transactionId.ts'
import type { DeepCoverage, DeepHistoryCache, DeepSource } from '../../model/deepHistory.ts'
import type { Address, BlockRef, Hash } from '../../model/evm.ts'
import type { TraceMode } from '../../model/traceMode.ts'
import { isAbsent, readCount, readObject } from '../../nodes/evm/rawFields.ts'
import type { EvmRpc } from '../../nodes/evm/rpc.ts'
import { isMethodMissing } from '../../nodes/upstreams/errorWords.ts'
import { BoundedMap } from '../../platform/boundedMap.ts'
import { createSharedWork, DeadlineError, withDeadline } from '../../platform/concurrency/deadline.ts'
import { NodeContradictionError } from '../../platform/errors.ts'
import type { EvmSource } from '../blocks/evmSource.ts'
import { cacheOfMode, createAccountReader } from './createAccountReader.ts'
import { createSearches, findAddressIndex, hashesIn, type Searches } from './searches.ts'

/** The account to read, and how long it may take. */
interface DeepRequest {
  readonly address: Address
  /** First block of the index, as it is indexed. */
  readonly anchor: BlockRef
  readonly signal: AbortSignal
  /** `Date.now()` by which there has to be an answer. */
  readonly deadlineMs: number
}

/** The progress of a reading: `isDone`, or to be asked for again; what lies from `reachedBlock` upwards is known. */
export interface DeepProgress {
  readonly isDone: boolean
  readonly reachedBlock: number
  /** How much of what was asked for is read, from 0 to below 100; absent: the blocks passed tell. */
  readonly percent?: number
  /** Time that the rest is expected to take; absent: not known yet. */
  readonly expectedMs?: number
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
   * Reads transactions of the account until `isEnough`, newest first, or down to the beginning.
   * @throws {NodeUnavailableError} and {NodeContradictionError}: what was read before stays known.
   */
  readRecords(request: DeepRequest, isEnough: () => Promise<boolean>): Promise<DeepProgress>
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
  readonly rpc: Pick<EvmRpc, 'request'>
  /** Reads blocks as the indexer does. */
  readonly source: Pick<EvmSource, 'block' | 'blockRef'>
  readonly cache: DeepHistoryCache
  readonly traces: TraceMode
  /** `Date.now`, replaced in tests. */
  readonly now?: () => number
}

/** A node may be upgraded: one without an index of addresses is asked again after this time. */
const forgetAfterMs = 10 * 60_000
/** Searches under way that are remembered between two calls, so that nothing is asked twice. */
const rememberedSearches = 256
/** The part of a call's time that is left for the answer itself. */
const reserveMs = 500

export function createDeepHistory(options: DeepHistoryOptions): DeepHistory {
  const { rpc, source, traces, now = Date.now } = options
  const cache = cacheOfMode(options.cache, traces)
  const share = createSharedWork()
  const searchesOf = createSearches({ rpc, source, traces })
  const begun = new BoundedMap<string, Searches>(rememberedSearches)
  const reader = createAccountReader({ source, cache })
  let found: { readonly index: DeepSource; readonly atMs: number } | undefined

  async function addressIndex(signal: AbortSignal): Promise<DeepSource> {
    if (found !== undefined && (found.index !== 'none' || now() - found.atMs < forgetAfterMs))
      return found.index
    await share('address index', signal, async within => {
      found = { index: await findAddressIndex(rpc, traces !== 'off', within), atMs: now() }
    })
    return found?.index ?? 'none'
  }

  /**
   * The searches of an account from where it is known; those of the last call, where they stand there. They belong to one
   * step at a time: one that was called off may still be at work on its own when the next one begins.
   */
  function takeUp(
    name: string,
    address: Address,
    below: number,
    index: DeepSource,
    anchor: BlockRef
  ): Searches {
    const known = begun.get(name)
    begun.delete(name)
    if (known !== undefined && known.below === below && known.anchor.hash === anchor.hash) return known
    return searchesOf({ address, below, index, anchor })
  }

  /** Checks that older blocks belong to the index's chain; else nothing is read. */
  async function requireBranch(anchor: BlockRef, signal: AbortSignal): Promise<void> {
    const canonical = await source.blockRef(anchor.number, signal)
    if (canonical?.hash === anchor.hash) return
    throw new NodeContradictionError(
      `block ${anchor.number}: the node has ${canonical?.hash ?? 'none'}, the index ${anchor.hash}`,
      { number: anchor.number }
    )
  }

  async function read(
    { address, anchor, signal, deadlineMs }: DeepRequest,
    lane: 'records' | 'candidates',
    isEnough: () => Promise<boolean>
  ): Promise<DeepProgress> {
    const lowest = async () => {
      const { recordsFrom, candidatesFrom } = await cache.known(address, anchor)
      return lane === 'records' ? recordsFrom : candidatesFrom
    }
    const isDone = async (below: number) => below === 0 || (await isEnough())
    let below = await lowest()
    if (await isDone(below)) return { isDone: true, reachedBlock: below }
    const index = lane === 'records' ? await addressIndex(signal) : 'none'
    // Without one, histories begin at the index.
    if (lane === 'records' && index === 'none') return { isDone: true, reachedBlock: below }
    const timeoutMs = Math.max(1, deadlineMs - reserveMs - Date.now())
    const name = `${lane} ${address}`
    try {
      await withDeadline({ timeoutMs, signal }, async within => {
        while (!(await isDone(below))) {
          await share(name, within, async stepSignal => {
            const searches = takeUp(name, address, await lowest(), index, anchor)
            try {
              if (!searches.isOfBranch) await requireBranch(anchor, stepSignal)
              searches.isOfBranch = true
              await reader.step(searches, stepSignal)
            } finally {
              begun.set(name, searches)
            }
          })
          below = await lowest()
        }
      })
      return { isDone: true, reachedBlock: below }
    } catch (error) {
      // The node was exchanged for another one, perhaps: the next call finds out what that one has.
      if (lane === 'records' && isMethodMissing(error)) {
        found = undefined
        begun.delete(name)
      }
      if (signal.aborted || !(error instanceof DeadlineError)) throw error
      return { isDone: false, reachedBlock: await lowest() }
    }
  }

  return {
    cache,
    answeredBy: () => found?.index,
    findOut: addressIndex,
    async coverage(address, anchor) {
      const source = found?.index ?? 'none'
      const { isFromState } = await cache.known(address, anchor)
      return {
        ...{ source, from: source === 'none' ? anchor.number : 0 },
        ...(isFromState || source === 'state' ? { lacks: 'zero-value-receipts' } : {})
      }
    },
    readRecords: (request, isEnough) => read(request, 'records', isEnough),
    readCandidates: request => read(request, 'candidates', async () => false),
    async lookUpHash(hash, anchor, signal) {
      const kept = await cache.lookUpHash(hash, anchor)
      if (kept !== undefined) return kept
      const raw = await rpc.request({ method: 'eth_getTransactionByHash', params: [hash] }, { signal })
      if (raw === null) return undefined
      const { blockNumber } = readObject(raw, `transaction ${hash}`)
      if (isAbsent(blockNumber)) return undefined
      const number = readCount(blockNumber, `transaction ${hash}: blockNumber`)
      if (number >= anchor.number) return undefined
      await requireBranch(anchor, signal)
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
