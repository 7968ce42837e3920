import {
  type Address,
  type BlockRef,
  type HistoryPart,
  type HistoryReader,
  hasLeft,
  type StatusReader,
  type SyncStatus
} from '@chain-data/index'
import {
  decodeDetailed,
  firstTransactionId,
  type TransactionPosition,
  toPosition,
  toTransactionId
} from '@chain-data/index/record'
import type { DeepProgress, DeepSource } from '../../model/deepHistory.ts'
import type { BoundedMap } from '../../platform/boundedMap.ts'
import { DeadlineError, withDeadline } from '../../platform/concurrency/deadline.ts'
import { NodeUnavailableError } from '../../platform/errors.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { MethodContext } from '../../server/methods/MethodContext.ts'
import type { BelowIndex } from '../../server/methods/OlderHistory.ts'
import type { DeepHistory } from './below/createDeepHistory.ts'
import { endless, requireComplete, retryAfterMs, stillReading } from './refusals.ts'

/** A chain whose index may not begin at its first block. */
interface DeepChain {
  readonly chainId: number
  readonly deep: DeepHistory
  /** Refuse history older than the index that may lack anything; default false. */
  readonly isStrict?: boolean
  /**
   * First block of the index when an account's older history was first read: what was read is kept by it, while the index gets
   * older blocks. Absent: it is read anew then.
   */
  readonly anchors?: BoundedMap<Address, BlockRef>
}

/** Opens history older than the index for one answer. @returns `undefined`: there is none. */
export async function openBelowIndex(
  { chainId, deep, isStrict = false, anchors }: DeepChain,
  snapshot: StatusReader & Pick<HistoryReader, 'records'>,
  address: Address,
  status: SyncStatus,
  { signal, deadlineMs }: MethodContext
): Promise<BelowIndex | undefined> {
  const range = await snapshot.indexedRange()
  if (range === undefined || range.from === 0) return undefined
  const indexedFrom = range.from
  const anchor = await findAnchor(deep, anchors, snapshot, address, indexedFrom)
  const { finalized = -1 } = await snapshot.marks()
  const isFinal = Math.max(finalized, status.finalized ?? -1) >= range.from - 1
  const request = { address, anchor, signal, deadlineMs }
  const requireFinal = () => {
    if (isFinal) return
    const message = `Block ${range.from - 1} of chain ${chainId}, the last one before the index, is not final yet.`
    throw new Refusal('UPSTREAM_UNAVAILABLE', message, { retryAfterMs })
  }
  const requireDone = (progress: DeepProgress) => {
    if (progress.problem !== undefined) throw endless(chainId, range.from, progress.problem)
    if (!progress.isDone) throw stillReading(chainId, range.from, progress)
  }
  const coverage = () => deep.coverage(address, anchor)
  /** Returns the first block of the history that can be read; 0 while that is not known. */
  const lowest = async () => (deep.answeredBy() === undefined ? 0 : (await coverage()).from)
  const belowId = (olderThan: TransactionPosition | undefined) =>
    Math.min(
      firstTransactionId(indexedFrom),
      olderThan === undefined ? Number.POSITIVE_INFINITY : toTransactionId(olderThan)
    )
  const kept = ({ olderThan, limit }: HistoryPart) =>
    deep.cache.records(address, anchor, {
      belowId: belowId(olderThan),
      ...(limit === undefined ? {} : { limit })
    })
  /** Checks that the account is still in the cache: one that has left it is like one that has nothing. */
  const requireKept = async (lane: 'recordsFrom' | 'candidatesFrom', from: number) => {
    if ((await deep.cache.known(address, anchor))[lane] > from) throw hasLeft()
  }
  const count = async (olderThan: TransactionPosition | undefined, atMost: number) => {
    let found = 0
    for await (const { ids } of kept({ ...(olderThan && { olderThan }), limit: atMost })) found += ids.length
    return found
  }

  return {
    ...{ anchor, indexedFrom, count, coverage },
    async *records(part) {
      let left = part.limit ?? Number.POSITIVE_INFINITY
      for await (const chunk of kept(part)) {
        left -= chunk.ids.length
        yield chunk
      }
      if (left > 0) await requireKept('recordsFrom', await lowest())
    },
    async missing(olderThan, atMost = Number.POSITIVE_INFINITY) {
      const isEnough = async () => Number.isFinite(atMost) && (await count(olderThan, atMost)) >= atMost
      if (atMost === 0) return undefined
      requireFinal()
      if (isStrict && deep.answeredBy() !== undefined)
        requireComplete(chainId, anchor.number, await coverage())
      const { recordsFrom } = await deep.cache.known(address, anchor)
      if (recordsFrom <= (await lowest()) || (await isEnough())) return undefined
      const wanted = atMost - (Number.isFinite(atMost) ? await count(olderThan, atMost) : 0)
      const hasKey = await hasSent(snapshot, address)
      return {
        read: async () => requireDone(await deep.readRecords({ ...request, hasKey }, isEnough, wanted))
      }
    },
    async lookUpHash(hash) {
      requireFinal()
      const id = await deep.lookUpHash(address, hash, anchor, signal)
      return id === undefined ? undefined : toPosition(id)
    },
    async readCandidates() {
      requireFinal()
      requireDone(await deep.readCandidates(request))
      const candidates = await deep.cache.candidates(address, anchor)
      await requireKept('candidatesFrom', 0)
      return candidates
    }
  }
}

/** @throws {Error} the first block is not in the index. */
async function findAnchor(
  { cache }: DeepHistory,
  anchors: DeepChain['anchors'],
  snapshot: StatusReader,
  address: Address,
  indexedFrom: number
): Promise<BlockRef> {
  const known = anchors?.get(address)
  if (known !== undefined && known.number > indexedFrom) {
    const stored = await snapshot.blockRef(known.number)
    const { recordsFrom, candidatesFrom } = await cache.known(address, known)
    // What was read counts as long as it goes further back than the index.
    if (stored?.hash === known.hash && Math.min(recordsFrom, candidatesFrom) < indexedFrom) return known
  }
  const first = await snapshot.blockRef(indexedFrom)
  if (first === undefined) throw new Error(`the first indexed block ${indexedFrom} is not in the index`)
  anchors?.set(address, first)
  return first
}

/** An account that has sent something has most likely done so in one of so many of its newest transactions. */
const maxLookedThrough = 1_000

/** Reports whether one of the account's newest transactions in the index is its own, which shows that it has a key. */
async function hasSent(snapshot: Pick<HistoryReader, 'records'>, address: Address): Promise<boolean> {
  for await (const chunk of snapshot.records(address, { limit: maxLookedThrough }))
    if (decodeDetailed(chunk).some(({ transaction }) => transaction.from === address)) return true
  return false
}

/** Maximum wait for a silent node by an answer that the index alone may give. */
const findOutTimeoutMs = 1_500

/** Returns what answers for history older than the index; `undefined` while no node has answered whether it can. */
export async function whoAnswersBelow(
  deep: DeepHistory,
  snapshot: StatusReader,
  signal: AbortSignal
): Promise<DeepSource | undefined> {
  const known = deep.answeredBy()
  if (known !== undefined && known !== 'none') return known
  const range = await snapshot.indexedRange()
  if (range === undefined || range.from === 0) return 'none'
  try {
    return await withDeadline({ timeoutMs: findOutTimeoutMs, signal }, within => deep.findOut(within))
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof NodeUnavailableError || error instanceof DeadlineError) return deep.answeredBy()
    throw error
  }
}
