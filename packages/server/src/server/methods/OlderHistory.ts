import type {
  Address,
  BlockRef,
  Hash,
  HistoryPart,
  HistoryReader,
  HoldingCandidate,
  StatusReader,
  SyncStatus
} from '@chain-data/index'
import type { RecordChunk, TransactionPosition } from '@chain-data/index/record'
import type { DeepCoverage, DeepSource } from '../../model/deepHistory.ts'
import type { HistoryView } from './createPageTexts.ts'
import type { MethodContext } from './MethodContext.ts'

/** History older than the index of one chain, read from its nodes. */
export interface OlderHistory {
  /** Histories that may lack anything are refused. */
  readonly isStrict: boolean
  /** Returns what answers for it; `undefined` while no node has answered whether it can. Never waits. */
  answeredBy(): DeepSource | undefined
  /** As `answeredBy`, and waits a moment for a node to say so. */
  whoAnswers(snapshot: StatusReader, signal: AbortSignal): Promise<DeepSource | undefined>
  /**
   * Opens it for one answer about one account.
   * @param options.isStrict - in place of the chain's own rule.
   * @returns `undefined`: there is no history older than the index.
   */
  open(
    snapshot: StatusReader & Pick<HistoryReader, 'records'>,
    address: Address,
    status: SyncStatus,
    context: MethodContext,
    options?: { readonly isStrict: boolean }
  ): Promise<BelowIndex | undefined>
}

/** History older than the index, for one answer about one account. */
export interface BelowIndex {
  /** Block of the index before which history was read; its first one, or a later one. */
  readonly anchor: BlockRef
  readonly indexedFrom: number
  /** Reads the account's records, newest first; only what is not `missing`. @throws {StoreUnavailableError} it is missing by now. */
  records(part: HistoryPart): AsyncIterable<RecordChunk>
  /** Returns the read that is needed for `atMost` records older than that, or all there are; absent: none. */
  missing(olderThan: TransactionPosition | undefined, atMost?: number): Promise<MissingBelow | undefined>
  /** Counts the records, `atMost` at most. */
  count(olderThan: TransactionPosition | undefined, atMost: number): Promise<number>
  lookUpHash(hash: Hash): Promise<TransactionPosition | undefined>
  /** Returns how much of the account's history is answered, as far as the reads so far have shown it. */
  coverage(): Promise<DeepCoverage>
  /** Reads the account's candidates, all of them. @throws as `MissingBelow.read`. */
  readCandidates(): Promise<readonly HoldingCandidate[]>
}

/** A read from nodes that is still to be done. It may take long: no snapshot should be open meanwhile. */
export interface MissingBelow {
  /**
   * @throws {Refusal} STILL_READING when the time does not suffice; the next call goes on from there.
   * @throws {NodeUnavailableError} and {NodeContradictionError} likewise.
   */
  read(): Promise<void>
}

/** Joins a snapshot and the history older than it: same order, nothing twice. */
export function joinBelow(snapshot: HistoryView, below: BelowIndex): HistoryView {
  return {
    // What is read from nodes may grow in between.
    version: undefined,
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
