import type { Address, BlockRef, Hash, PendingTransaction } from '../model/evm.ts'
import { StoreError } from '../platform/errors.ts'
import type { ChangeFilter } from '../record/ChangeFilter.ts'
import type { RecordChunk } from '../record/record.ts'

/**
 * A position in the log of changes: after the changes of all earlier entries, and those of `entry` up to the number `index`. One
 * commit is one or two entries. Numbers of entries ascend, and so do those of the changes of one entry; both have gaps.
 */
export interface ChangePosition {
  readonly entry: number
  readonly index: number
}

/** The part of the log that a snapshot can replay. */
export interface ChangeBounds {
  /** Name of this log, as 16 hex digits: positions of another one say nothing here. Another one in every index that is made anew. */
  readonly log: string
  /** Changes after this position can be replayed, those before it may be gone. */
  readonly oldest: ChangePosition
  /** After every change that the snapshot shows: the histories of this snapshot are those of this position. */
  readonly newest: ChangePosition
}

/** A transaction as histories show it after a change. */
type ChangedRecord =
  | { readonly status: 'pending'; readonly transaction: PendingTransaction }
  /** One record, undecoded, as of `HistoryReader.records`. */
  | { readonly status: 'confirmed'; readonly chunk: RecordChunk }

/** What every change names. */
interface ChangeOfTransaction {
  /** After this change: where a reader that has seen it goes on. */
  readonly position: ChangePosition
  /** The accounts whose history it changes, in lower case, never empty: those that are watched. */
  readonly parties: readonly Address[]
  readonly hash: Hash
}

/**
 * One change of one transaction in the histories of some accounts. In the history of an account:
 *
 * - `added`: it was not there before, pending or in a block;
 * - `updated`: pending, and its status changed;
 * - `confirmed`: it was there, pending or in a block that a reorg removed, and is in a block now;
 * - `unconfirmed`: a reorg removed its block, and it is in the pool again;
 * - `removed`: it is not there any more. `replaced`: a block has another transaction of its sender with its nonce, or the pool has
 *   (`replacedBy`, where that is known); `dropped`: it left the pool; `reorged`: a reorg removed its block;
 * - `final`: the node calls its block final. Its record stays the same.
 *
 * A transaction changes several times in one entry where its accounts differ, and each account is in one of these changes: one that
 * a confirmed transaction has besides its sender and receiver sees `added`, the others see `confirmed`.
 */
export type AccountChange =
  | (ChangeOfTransaction & {
      readonly kind: 'added' | 'confirmed'
      readonly record: ChangedRecord
      /** Absent where the record is pending. */
      readonly block?: BlockRef
    })
  | (ChangeOfTransaction & {
      readonly kind: 'updated' | 'unconfirmed'
      readonly record: Extract<ChangedRecord, { readonly status: 'pending' }>
    })
  | (ChangeOfTransaction & {
      readonly kind: 'removed'
      readonly reason: 'replaced' | 'dropped' | 'reorged'
      readonly replacedBy?: Hash
    })
  | (ChangeOfTransaction & { readonly kind: 'final'; readonly block: BlockRef })

/** The changes of one entry in order, none when none of them is of a watched account, or of several entries without any; and the position after. */
export interface ChangePage {
  readonly changes: readonly AccountChange[]
  readonly position: ChangePosition
}

export interface ChangesOptions {
  /** Keys of accounts, as of `accountKeys`; absent: all. Other accounts with one of these keys are watched as well. */
  readonly watched?: Uint32Array
  /** Of this reader, and used for all its replays: what it knows is not read. */
  readonly filter?: ChangeFilter
}

/** A position that cannot be replayed from: too old, or of another log. Histories have to be read again. */
export class ChangesExpiredError extends StoreError {}

/**
 * Reads the log of changes, which is written in the same transactions as the histories. The history of an account in a snapshot,
 * with all changes of the account between that snapshot's `newest` and another one's, is its history in the other. Not while the
 * index is not settled (`IndexMarks.settled`): what a reorg removed is in a history of that time no more, and is told of once it is
 * in a block again, in the pool again, or known to be gone.
 *
 * Blocks older than the index and blocks that were written anew are no changes. Where the pool had a transaction of an older block,
 * its pending record is `removed`: it left the pool.
 */
export interface ChangeReader {
  changeBounds(): Promise<ChangeBounds>
  /**
   * Checks that a replay can begin at a position.
   * @throws {ChangesExpiredError} as `changes` does.
   * @remarks Reads two entries at most.
   */
  requireKept(after: ChangePosition): Promise<void>
  /**
   * Changes after a position up to `newest`, in order, entry after entry. A replay gives the same changes with the same
   * positions as the first reading did, also of blocks that were removed meanwhile.
   * @throws {ChangesExpiredError} while it is read: the position is older than `oldest`, or not one of this log.
   * @remarks Reads each entry once, and the records of watched accounts only.
   */
  changes(after: ChangePosition, options?: ChangesOptions): AsyncIterable<ChangePage>
}
