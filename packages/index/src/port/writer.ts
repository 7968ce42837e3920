import type { BlockRef } from '../model/evm.ts'
import { type Damage, StoreError } from '../platform/errors.ts'
import type { PackedBlocks } from '../record/packBlocks.ts'
import type { PoolUpdate } from './pool.ts'
import type { IndexMarks, WriterReport } from './status.ts'

/** Another process or thread writes this index: wait until it has ended. */
export class StoreInUseError extends StoreError {}

/** A silent writer that the next one has fenced. For the log. */
export interface FencedWriter {
  readonly chainId: number
  /** Process id of its connection, as in the database's own log. */
  readonly backendPid: number
  readonly silentMs: number
}

/** State of a chain's store as its writer finds it. */
export interface WriterState extends IndexMarks {
  /** Newest indexed block; absent in an empty store. */
  readonly head?: BlockRef
  /** First block this index covers; set once, by the first commit. */
  readonly indexedFrom?: number
}

/**
 * Result of replacing a block. `gone`: none is stored at that height, because a reorg removed it. `other`: the stored chain has
 * another block there, as the next block names it; nothing is written then.
 */
export type ReplaceOutcome = 'replaced' | 'gone' | 'other'

/** The only way to change a chain's index. Used by one indexer at a time. */
export interface StoreWriter {
  /** Reads the state of the store; it changes with every commit. */
  state(): Promise<WriterState>
  /**
   * Appends blocks, each the child of the one before it, in ONE transaction together with the cursor. Pool entries
   * that these blocks confirm disappear in the same transaction. In an empty store the first block may be any.
   * @param options.finalized - what the node calls final, on the chain of these blocks: marks stored blocks up to here
   *   as final.
   * @param options.head - the newest block of the node: the log of changes begins anew after blocks that lie further below it than the
   *   log goes back; absent: all blocks are logged.
   * @throws {StoreError} when a block is not the child of the one before it or of the stored head; nothing is written then.
   */
  commitBlocks(
    blocks: PackedBlocks,
    options?: { readonly finalized?: number; readonly head?: number }
  ): Promise<void>
  /**
   * Adds blocks older than the index, each the child of the one before it and the last one the parent of the first stored
   * block, in ONE transaction: `indexedFrom` becomes the number of the first one. Marks of coverage that reached down to
   * `indexedFrom` go on down as far as these blocks allow. Pool entries that they confirm, which a node
   * that lags may show, disappear in the same transaction. An empty list changes nothing.
   * @throws {StoreError} when the blocks do not end at the parent of the first stored one; nothing is written then.
   */
  prependBlocks(blocks: PackedBlocks): Promise<void>
  /**
   * Replaces all that is stored of one block by `block`, which was fetched and verified anew, in ONE transaction. The rest of
   * the index stays as it is, marks included.
   * @param block - the one block, in the form in which it was committed: traced if it was.
   * @throws {StoreError} `block` has fewer details than the stored one is known to have.
   * @throws {IndexDamagedError} the row of the next block, which shows which one belongs here, is damaged too: replace that one first.
   */
  replaceBlock(block: PackedBlocks): Promise<ReplaceOutcome>
  /**
   * Repairs damage that names no block: writes a damaged run again from the records of its blocks, in several transactions, and
   * forgets damaged hashes that reorgs removed. Other calls are carried out between two of the transactions.
   * @throws {IndexDamagedError} a record, or the row of a block, that it needs is damaged: replace that block first.
   */
  repair(damage: Damage): Promise<void>
  /**
   * Removes all pool entries, damaged ones among them, with what is remembered of earlier ones. The index is not settled then:
   * until the pool has been read again, nothing is known of it.
   */
  dropPool(): Promise<void>
  /** Begins the log of changes anew, because it is damaged: no earlier position can be replayed any more. */
  dropChanges(): Promise<void>
  /** Whether a block is covered by the traces of the index: one that replaces it has to be traced too. */
  coversTraces(number: number): Promise<boolean>
  /** Takes the damage that readers have reported since the last call, of this and of other processes. */
  takeDamage(): Promise<readonly Damage[]>
  /**
   * Stored hash of a block at this height; absent when not (or no longer) indexed.
   * @throws {IndexDamagedError} the rows of this block and of the next one are damaged.
   */
  blockRef(number: number): Promise<BlockRef | undefined>
  /**
   * Removes every block above `ancestor` in ONE transaction and remembers the removed hashes, so that a cursor can
   * be told from a typing mistake. Works at any depth.
   * The index is not settled then; if a final block was among the removed ones, it is degraded until the newest
   * removed height is final again.
   * @throws {StoreError} when `ancestor` is not a stored block.
   */
  rollbackTo(ancestor: BlockRef): Promise<void>
  /**
   * Removes every block (the chain contradicts even the first one stored). The index is as empty as a new one:
   * `indexedFrom` is unset, `backfilled` false again and no removed hash remembered, since no common ancestor exists.
   * Marks as `rollbackTo` does. The pool and an earlier degraded mark stay.
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
   * Replaces the last report, with another `beat`, in a small transaction of its own: a reader that sees it also sees every
   * earlier commit.
   */
  report(report: Omit<WriterReport, 'beat'>): Promise<void>
  close(): Promise<void>
}
