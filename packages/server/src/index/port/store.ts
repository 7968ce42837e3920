import type {
  AccountEvent,
  Address,
  BlockRef,
  ConfirmedTransaction,
  Hash,
  HoldingCandidate,
  PendingTransaction
} from '../../model/evm.ts'
import type { SyncStatus } from '../../model/sync.ts'
import type { PackedBlocks } from '../record/packBlocks.ts'
import type { RecordChunk } from '../record/record.ts'
import type { TallyDifference } from '../record/tally.ts'
import type { TransactionPosition } from '../record/transactionId.ts'

/**
 * One chain's index. Two sides that share nothing but the data: any number of readers, and one writer
 * that lives in the indexer's thread. Every engine passes `store.contract.ts`.
 */
export interface StoreReader {
  /**
   * Opens one consistent view; later commits do not show in it. While the chain has no store yet the view is empty.
   * @throws {StoreError} the store belongs to another chain or has a newer schema than this program; also after `close`.
   * @remarks Close it, also after an error: an open view keeps old pages alive.
   */
  openSnapshot(): Promise<Snapshot>
  /** Ends every snapshot that is still open, too: its next read throws. */
  close(): Promise<void>
}

/** What the index knows of a transaction hash. */
export type HashLookup =
  | { readonly kind: 'confirmed'; readonly position: TransactionPosition }
  /**
   * A reorg removed it and it has not been mined again. `commonAncestor` is the last block kept then, or a lower one
   * if a later reorg removed that too: it is always in the index.
   */
  | { readonly kind: 'reorged'; readonly commonAncestor: BlockRef }
  | { readonly kind: 'unknown' }

export interface IndexedRange {
  readonly from: number
  readonly to: BlockRef
  readonly toTimestampSeconds: number
}

/** What an index says of itself, beside its blocks. */
export interface IndexMarks {
  /** The first backfill has reached the head once. */
  readonly backfilled: boolean
  /**
   * The index and the pool have been level with the node since the last rollback. While false, transactions that a
   * rollback removed may be in neither, so that "none" must not be said.
   */
  readonly settled: boolean
  /** Final blocks were removed, and not everything that was removed with them is final again. */
  readonly degraded: boolean
  /** Newest stored block that the node has called final; absent when it has called none. */
  readonly finalized?: number
}

/**
 * How the indexer that writes an index says it stands, as far as the index itself does not say it. Read by servers that
 * wait for its place. It holds no time: clocks differ, and whoever reads it finds out by `beat` whether it is still said.
 */
export interface WriterReport {
  /** Another number in every report of this index, whoever writes it: one that stays is a writer that is silent. */
  readonly beat: number
  readonly phase: SyncStatus['phase']
  /** Newest block that its node has named. */
  readonly head?: number
  readonly finalized?: number
  /** Height of the index when this was written; whoever sees a higher one knows that `head` is older. */
  readonly indexedTo?: number
  readonly rollingBackTo?: number
  readonly poolCovered: boolean
  /** How old the last look at the pool was when this was written; absent before the first look. */
  readonly poolAgeMs?: number
  readonly problem?: string
}

/** Which part of a history is asked for. */
export interface HistoryPart {
  /** Only what is strictly older than this place. */
  readonly olderThan?: TransactionPosition
  /** At most so many; absent: all. */
  readonly limit?: number
}

/**
 * What is known of the indexed blocks besides their transactions. Each holds from its height up to the head; absent: not even
 * of the newest block.
 */
export interface IndexCoverage {
  /** Records hold the token transfers of their transactions, and account events are stored. */
  readonly detailedFrom?: number
  /** Blocks are traced: internal transfers are in the records, and their parties in the address index. */
  readonly tracedFrom?: number
  /** Rows of the address index were counted when they were written, so that it shows when one is lost. */
  readonly talliedFrom?: number
}

/** A stretch of a history, read in spite of what is missing in it. */
export interface AuditedChunk extends RecordChunk {
  readonly missing: readonly MissingPart[]
}

/** Something that has to be in the store for a transaction of the address index. */
export interface MissingPart {
  readonly position: TransactionPosition
  /**
   * Its record; the row by which it is found by its hash, of which nothing is known where the record is missing, or the engine
   * keeps no such rows; its block.
   */
  readonly part: 'record' | 'hash' | 'block'
}

/** What the rows of the address index say about one address, counted again. */
export interface Recount extends TallyDifference {
  /** False: there are too many rows to count, or the time is over; nothing is known then. */
  readonly isComplete: boolean
}

/** What one block does to one account. */
export interface BlockEvents {
  readonly blockNumber: number
  readonly events: readonly AccountEvent[]
}

/** A frozen view of one chain's index. All reads of one answer come from one snapshot. */
export interface Snapshot {
  marks(): Promise<IndexMarks>
  /**
   * Grows whenever blocks are removed from this index, by one or more. What was read of the chain's state before the number changed may
   * belong to a branch that is gone.
   */
  rollbacks(): Promise<number>
  /** Which chain this index is of; absent while there is no store. */
  identity(): Promise<ChainIdentity | undefined>
  /** What its writer has said last; absent when none has said anything yet. */
  writerReport(): Promise<WriterReport | undefined>
  /** Absent while nothing is indexed. */
  indexedRange(): Promise<IndexedRange | undefined>
  /** The first backfill has reached the head once. */
  backfilled(): Promise<boolean>
  /**
   * Confirmed transactions associated with `address`, newest first, in chunks of bounded size; no chunk is empty.
   * Other work of the thread gets its turn between two chunks.
   */
  history(address: Address, part?: HistoryPart): AsyncIterable<readonly ConfirmedTransaction[]>
  /**
   * The same as `history`, undecoded.
   * @throws {StoreError} while it is read: a transaction that the index names has no record.
   */
  records(address: Address, part?: HistoryPart): AsyncIterable<RecordChunk>
  /** Counts confirmed transactions of `address`, but stops at `atMost`. Reads keys only. */
  countHistory(address: Address, atMost: number): Promise<number>
  /** Pool transactions that name `address`: status 1 before 0, then nonce descending. */
  pending(address: Address): Promise<readonly PendingTransaction[]>
  lookUpHash(hash: Hash): Promise<HashLookup>
  /**
   * Each candidate once, in chunks; ordered by contract, then token id, then last token id (none first). Ranges come as
   * they were committed: they may overlap each other and the single ids.
   */
  holdingCandidates(address: Address): AsyncIterable<readonly HoldingCandidate[]>
  coverage(): Promise<IndexCoverage>
  /**
   * The whole history, newest first, as `records` gives it, but with each part that is missing named in place of an error.
   * `ids` and `bytes` leave out what has no record; a chunk may have no record at all. For each transaction its hash and its
   * block are looked up too.
   */
  auditedRecords(address: Address): AsyncIterable<AuditedChunk>
  /**
   * Counts the rows of the part of the address index that `address` is in, and compares them with what was written.
   * @param options.maxRows - more are not counted.
   */
  recount(
    address: Address,
    options?: { readonly maxRows?: number; readonly signal?: AbortSignal }
  ): Promise<Recount>
  /** What blocks did to the account besides its transactions, by block ascending, in chunks. */
  accountEvents(address: Address): AsyncIterable<readonly BlockEvents[]>
  /** The block at a height, as it is indexed. */
  blockRef(number: number): Promise<BlockRef | undefined>
  close(): Promise<void>
}

/** What the writer finds when it opens a chain's store. */
export interface WriterState extends IndexMarks {
  /** Newest indexed block; absent in an empty store. */
  readonly head?: BlockRef
  /** First block this index covers; set once, by the first commit. */
  readonly indexedFrom?: number
}

/** A complete look at the node's pool, as seen at one time. */
export interface PoolUpdate {
  /** Everything the pool holds now. */
  readonly present: readonly Omit<PendingTransaction, 'firstSeenSeconds'>[]
  readonly seenAtSeconds: number
  /**
   * Node's head, asked after the pool was read. An entry that left the pool may be in a block up to this one,
   * so the store keeps it as pending until the index has reached this height. While a first backfill runs that is far
   * away: look at the pool only once the index is near the head.
   */
  readonly headAfter: number
}

/** The only way to change a chain's index. Used by one indexer at a time. */
export interface StoreWriter {
  /** What is in the store now; changes with every commit. */
  state(): Promise<WriterState>
  /**
   * Appends blocks, each the child of the one before it, in ONE transaction together with the cursor. Pool entries
   * that these blocks confirm disappear in the same transaction. In an empty store the first block may be any.
   * @param options.finalized - what the node calls final, on the chain of these blocks: marks stored blocks up to here
   *   as final, and undo data below it may be dropped.
   * @throws {StoreError} when a block is not the child of the one before it or of the stored head; nothing is written then.
   */
  commitBlocks(blocks: PackedBlocks, options?: { readonly finalized?: number }): Promise<void>
  /** Stored hash of a block at this height; absent when not (or no longer) indexed. */
  blockRef(number: number): Promise<BlockRef | undefined>
  /**
   * Removes every block above `ancestor` in ONE transaction and remembers the removed hashes, so that a cursor can
   * be told from a typing mistake. Works at any depth; beyond the undo data it is slower, never wrong.
   * The index is not settled then; if a final block was among the removed ones, it is degraded until the newest
   * removed height is final again. Holding candidates stay: they are hints.
   * @throws {StoreError} when `ancestor` is not a stored block.
   */
  rollbackTo(ancestor: BlockRef): Promise<void>
  /**
   * Removes every block (the chain contradicts even the first one stored). The index is as empty as a new one:
   * `indexedFrom` is unset, `backfilled` false again and no removed hash remembered, since no common ancestor exists.
   * Marks as `rollbackTo` does. Holding candidates, the pool and an earlier degraded mark stay.
   */
  rollbackAll(): Promise<void>
  markBackfilled(): Promise<void>
  /** The index and the pool are level with the node. Writes nothing when they were already. */
  markSettled(): Promise<void>
  /**
   * The node calls blocks up to this height final, on the chain that is stored. Never takes back what was final before.
   * Writes nothing when that says nothing new.
   */
  markFinal(number: number): Promise<void>
  /**
   * Makes the stored pool equal to `update`, keeping the first-seen second of entries that stay, come back, or are
   * thrown back into the pool by a reorg. Transactions that the index has confirmed are passed over. Writes nothing
   * when nothing has changed.
   */
  updatePool(update: PoolUpdate): Promise<void>
  /**
   * Replaces what was said before, with another `beat`, in a small transaction of its own: what was committed before can be
   * seen by whoever sees this.
   */
  report(report: Omit<WriterReport, 'beat'>): Promise<void>
  close(): Promise<void>
}

/** Identity of a chain; a store made for another one is refused, never mixed. */
export interface ChainIdentity {
  readonly chainId: number
  readonly genesisHash: Hash
}
