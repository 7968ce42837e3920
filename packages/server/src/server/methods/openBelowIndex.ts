import type { DeepHistory, DeepProgress } from '../../evm/below/createDeepHistory.ts'
import { hasLeft } from '../../index/caches/createDeepHistoryCache.ts'
import type { HistoryPart } from '../../index/port/history.ts'
import type { StatusReader } from '../../index/port/status.ts'
import type { RecordChunk } from '../../index/record/record.ts'
import {
  firstTransactionId,
  type TransactionPosition,
  toPosition,
  toTransactionId
} from '../../index/record/transactionId.ts'
import type { DeepSource } from '../../model/deepHistory.ts'
import type { Address, BlockRef, Hash, HoldingCandidate } from '../../model/evm.ts'
import type { SyncStatus } from '../../model/sync.ts'
import { DeadlineError, withDeadline } from '../../platform/concurrency/deadline.ts'
import { NodeUnavailableError } from '../../platform/errors.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { HistoryView } from './createPageTexts.ts'
import type { MethodContext } from './MethodContext.ts'

/** A chain whose index may not begin at its first block. */
export interface DeepChain {
  readonly chainId: number
  /** Absent: history older than the index is not answered. */
  readonly deep?: DeepHistory | undefined
}

/** History older than the index, for one answer about one account. */
export interface BelowIndex {
  /** First block of the index. */
  readonly anchor: BlockRef
  /** Reads the account's records, newest first; only what is not `missing`. @throws {StoreUnavailableError} it is missing by now. */
  records(part: HistoryPart): AsyncIterable<RecordChunk>
  /** Returns the read that is needed for `atMost` records older than that, or all there are; absent: none. */
  missing(olderThan: TransactionPosition | undefined, atMost?: number): Promise<MissingBelow | undefined>
  /** Counts the records, `atMost` at most. */
  count(olderThan: TransactionPosition | undefined, atMost: number): Promise<number>
  lookUpHash(hash: Hash): Promise<TransactionPosition | undefined>
  /** Reads the account's candidates, all of them. @throws as `MissingBelow.read`. */
  readCandidates(): Promise<readonly HoldingCandidate[]>
}

/** A read from nodes that is still to be done. It may take long: no snapshot should be open meanwhile. */
export interface MissingBelow {
  /**
   * @throws {Refusal} UPSTREAM_UNAVAILABLE when the time does not suffice; the next call goes on from there.
   * @throws {NodeUnavailableError} and {NodeContradictionError} likewise.
   */
  read(): Promise<void>
}

/** The `retryAfterMs` of an unfinished read: what was read so far is kept. */
const retryAfterMs = 1_000

/** @returns `undefined`: there is no history older than the index, or no node answers for it. */
export async function openBelowIndex(
  { chainId, deep }: DeepChain,
  snapshot: StatusReader,
  address: Address,
  status: SyncStatus,
  { signal, deadlineMs }: MethodContext
): Promise<BelowIndex | undefined> {
  const range = await snapshot.indexedRange()
  if (deep === undefined || range === undefined || range.from === 0) return undefined
  const anchor = await snapshot.blockRef(range.from)
  if (anchor === undefined) throw new Error(`the first indexed block ${range.from} is not in the index`)
  const { finalized = -1 } = await snapshot.marks()
  const isFinal = Math.max(finalized, status.finalized ?? -1) >= range.from - 1
  const request = { address, anchor, signal, deadlineMs }
  const requireFinal = () => {
    if (isFinal) return
    throw unfinished(
      `Block ${range.from - 1} of chain ${chainId}, the last one before the index, is not final yet.`
    )
  }
  const requireDone = ({ isDone, reachedBlock }: DeepProgress) => {
    if (isDone) return
    throw unfinished(
      `History before block ${range.from} of chain ${chainId} is still being read, down to block ${reachedBlock} so far.`
    )
  }
  const belowId = (olderThan: TransactionPosition | undefined) =>
    Math.min(
      firstTransactionId(anchor.number),
      olderThan === undefined ? Number.POSITIVE_INFINITY : toTransactionId(olderThan)
    )
  const kept = ({ olderThan, limit }: HistoryPart) =>
    deep.cache.records(address, anchor, {
      belowId: belowId(olderThan),
      ...(limit === undefined ? {} : { limit })
    })
  /** Checks that the account is still in the cache: one that has left it is like one that has nothing. */
  const requireKept = async (lane: 'recordsFrom' | 'candidatesFrom') => {
    if ((await deep.cache.known(address, anchor))[lane] > 0) throw hasLeft()
  }
  const count = async (olderThan: TransactionPosition | undefined, atMost: number) => {
    let found = 0
    for await (const { ids } of kept({ ...(olderThan && { olderThan }), limit: atMost })) found += ids.length
    return found
  }

  return {
    ...{ anchor, count },
    async *records(part) {
      let left = part.limit ?? Number.POSITIVE_INFINITY
      for await (const chunk of kept(part)) {
        left -= chunk.ids.length
        yield chunk
      }
      if (left > 0) await requireKept('recordsFrom')
    },
    async missing(olderThan, atMost = Number.POSITIVE_INFINITY) {
      const isEnough = async () => Number.isFinite(atMost) && (await count(olderThan, atMost)) >= atMost
      if (atMost === 0) return undefined
      requireFinal()
      const { recordsFrom } = await deep.cache.known(address, anchor)
      if (recordsFrom === 0 || (await isEnough())) return undefined
      return { read: async () => requireDone(await deep.readRecords(request, isEnough)) }
    },
    async lookUpHash(hash) {
      requireFinal()
      const id = await deep.lookUpHash(hash, anchor, signal)
      return id === undefined ? undefined : toPosition(id)
    },
    async readCandidates() {
      requireFinal()
      requireDone(await deep.readCandidates(request))
      const candidates = await deep.cache.candidates(address, anchor)
      await requireKept('candidatesFrom')
      return candidates
    }
  }
}

/** Joins a snapshot and the history older than it: same order, nothing twice. */
export function joinBelow(snapshot: HistoryView, below: BelowIndex): HistoryView {
  return {
    rollbacks: () => snapshot.rollbacks(),
    async *records(address, part = {}) {
      let left = part.limit ?? Number.POSITIVE_INFINITY
      for await (const chunk of snapshot.records(address, part)) {
        left -= chunk.ids.length
        yield chunk
      }
      if (left > 0) yield* below.records({ ...part, ...(Number.isFinite(left) ? { limit: left } : {}) })
    }
  }
}

/** Maximum wait for a silent node by an answer that the index alone may give. */
const findOutTimeoutMs = 1_500

/** Returns who answers for history older than the index; `undefined` while no node has answered whether it can. */
export async function whoAnswersBelow(
  deep: DeepHistory,
  snapshot: StatusReader,
  signal: AbortSignal
): Promise<'node' | 'none' | undefined> {
  const answers = (index: DeepSource | undefined) =>
    index === undefined || index === 'none' ? index : 'node'
  if (answers(deep.answeredBy()) === 'node') return 'node'
  const range = await snapshot.indexedRange()
  if (range === undefined || range.from === 0) return 'none'
  try {
    return answers(
      await withDeadline({ timeoutMs: findOutTimeoutMs, signal }, within => deep.findOut(within))
    )
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof NodeUnavailableError || error instanceof DeadlineError)
      return answers(deep.answeredBy())
    throw error
  }
}

function unfinished(message: string): Refusal {
  return new Refusal('UPSTREAM_UNAVAILABLE', message, { retryAfterMs })
}
