import type { BlockSpan } from '../model/blockSpans.ts'
import type { BlockRef, Hash } from '../model/evm.ts'
import type { SyncStatus } from '../model/sync.ts'

/** Identity of a chain; a store made for another one is refused, never mixed. */
export interface ChainIdentity {
  readonly chainId: number
  readonly genesisHash: Hash
}

/** The row of a block. */
export interface StoredBlock {
  readonly ref: BlockRef
  readonly parentHash: Hash
  readonly timestampSeconds: number
  readonly transactionCount: number
}

export interface IndexedRange {
  readonly from: number
  readonly to: BlockRef
  readonly toTimestampSeconds: number
}

/** State of an index besides its blocks. */
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
 * Heights from which on the index knows more of its blocks than it has to. Each holds up to the head; absent: not even for the
 * newest block.
 */
export interface CoverageHeights {
  /** Blocks are traced: internal transfers are in the records, and their parties in the address section. */
  readonly tracedFrom?: number
  /** Blocks were held against their headers when they were stored, as far as the encoding of the chain is known. */
  readonly rootsFrom?: number
}

/** What the index knows of its blocks. */
export interface IndexCoverage extends CoverageHeights {
  /** Blocks that are stored with a part unknown: a receipt, or their transactions. Ascending; absent: none. */
  readonly unknown?: readonly BlockSpan[]
}

/**
 * State of the indexer that writes an index, as far as the index itself does not show it. Servers that do not index read it
 * from the store. It holds no time, because clocks differ: `beat` shows whether the writer still reports.
 */
export interface WriterReport {
  /** Another number in every report of this index, whichever writer reports: a number that stays means a silent writer. */
  readonly beat: number
  readonly phase: SyncStatus['phase']
  /** Newest block that the writer's node has named. */
  readonly head?: number
  /** Timestamp of that block, in Unix seconds; absent where it is not known. */
  readonly headTimestampSeconds?: number
  readonly finalized?: number
  /** Height of the index when this was written: if the index is higher now, `head` is outdated. */
  readonly indexedTo?: number
  readonly rollingBackTo?: number
  readonly poolCovered: boolean
  /** Age of the last poll of the pool when this was written; absent before the first poll. */
  readonly poolAgeMs?: number
  readonly problem?: string
}

/** Reads the state of one chain's index as a whole. */
export interface StatusReader {
  marks(): Promise<IndexMarks>
  /**
   * Number that grows, by one or more, whenever blocks are removed from this index. Chain state that was read before the
   * number changed may belong to a branch that is gone.
   */
  rollbacks(): Promise<number>
  /** Chain of this index; absent while there is no store. */
  identity(): Promise<ChainIdentity | undefined>
  /** Last report of the writer; absent before the first one. */
  writerReport(): Promise<WriterReport | undefined>
  /** Absent while nothing is indexed. */
  indexedRange(): Promise<IndexedRange | undefined>
  coverage(): Promise<IndexCoverage>
  /** The indexed block at a height; absent when there is none. */
  blockRef(number: number): Promise<BlockRef | undefined>
  /** All that is stored of it besides its transactions. */
  storedBlock(number: number): Promise<StoredBlock | undefined>
}
