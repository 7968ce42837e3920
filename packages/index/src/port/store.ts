import type { Address } from '../model/evm.ts'
import type { Damage } from '../platform/errors.ts'
import type { AuditReader } from './audit.ts'
import type { ChangeBounds, ChangeReader } from './changes.ts'
import type { HistoryReader } from './history.ts'
import type { HoldingsReader } from './holdings.ts'
import type { PoolReader } from './pool.ts'
import type { IndexCoverage, IndexedRange, IndexMarks, StatusReader } from './status.ts'

/**
 * Reads one chain's index. Readers and the one writer (`StoreWriter`, in the indexer's thread) share nothing but the data.
 * Every engine passes `store.contract.ts`.
 */
export interface StoreReader {
  /**
   * Opens one consistent view; later commits do not show in it. While the chain has no store yet the view is empty.
   * @param options.pause - awaited between two parts of a long read; absent: the event loop runs in between.
   * @throws {StoreError} the store belongs to another chain or has a newer schema than this program; also after `close`.
   * @remarks Close it, also after an error: an open view keeps old pages alive.
   */
  openSnapshot(options?: SnapshotOptions): Promise<Snapshot>
  /**
   * Returns the state of the index, if nothing was committed since a snapshot last read it: then everything that was read from
   * snapshots of its version still holds. Absent where that is not known, as always in PostgreSQL.
   * @param sinceMs - as `performance.now()` has it: it held then, or later. Absent: it holds now.
   */
  unchangedState(sinceMs?: number): IndexState | undefined
  /** Reports damage that a snapshot met to the writer of the index, whichever process that is in. */
  reportDamage(damage: Damage): Promise<void>
  /**
   * Calls `listener` soon after commits that this process or another one made, perhaps once for several, and perhaps once too
   * often. While there is a listener, commits cost a look every few milliseconds (SQLite) or a connection (PostgreSQL).
   * @returns ends it.
   */
  onCommit(listener: () => void): () => void
  /** Also ends every open snapshot: its next read throws. */
  close(): Promise<void>
}

/** How a snapshot is read. */
export interface SnapshotOptions {
  /** An account whose history is read from its newest transaction on: an engine may ask for it in the round trip that opens the view. */
  readonly historyOf?: Address | undefined
  readonly pause?: (() => Promise<unknown> | undefined) | undefined
}

/** The state of an index as a whole. */
export interface IndexState {
  /** That of the snapshots that hold the same. */
  readonly version: number
  readonly marks: IndexMarks
  readonly range: IndexedRange | undefined
  readonly coverage: IndexCoverage
  readonly changes: ChangeBounds
}

/** A frozen view of one chain's index. All reads of one answer come from one snapshot. */
export interface Snapshot
  extends StatusReader,
    HistoryReader,
    HoldingsReader,
    PoolReader,
    AuditReader,
    ChangeReader {
  /**
   * Snapshots of one reader with the same version hold the same: nothing was committed in between. Absent where that is not
   * known, as in the first snapshot after a commit, and in PostgreSQL.
   */
  readonly version: number | undefined
  close(): Promise<void>
}
