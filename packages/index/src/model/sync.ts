import type { BlockRef } from './evm.ts'

/** Where one chain's index stands, as its indexer last reported it. */
export interface SyncStatus {
  /** The chain it speaks of. */
  readonly chainId: number
  /** `starting` until the node has answered once; `stalled` while it does not, or contradicts itself. */
  readonly phase: 'starting' | 'backfilling' | 'following' | 'stalled'
  /** Newest block the node has named; absent before its first answer. */
  readonly head?: number
  /** Timestamp of that block, in Unix seconds; absent where it is not known. */
  readonly headTimestampSeconds?: number
  /** Newest block the chain holds final; absent where it names none. */
  readonly finalized?: number
  /** First block of the index; while nothing is indexed, the one that the configuration names. */
  readonly indexedFrom: number
  /** Absent while nothing is indexed. */
  readonly indexedTo?: BlockRef
  /** The index has reached the head once; lasting. */
  readonly backfilled: boolean
  /** Lowest block that is wanted: while the index begins above it, older blocks are added; absent: none are. */
  readonly startBlock?: number
  /** Time until that block is added, at the present rate; absent where it is not known. */
  readonly backfillSeconds?: number
  /** Why older blocks cannot be had; absent while they can. Never holds a URL. */
  readonly backfillProblem?: string
  /**
   * Blocks that were final have been replaced, and not everything that was removed with them is final again. Answers
   * given before may have been wrong; what is indexed now is what the node says.
   */
  readonly degraded: boolean
  /** The newest block that will stay, while blocks are being removed; -1 when none will. */
  readonly rollingBackTo?: number
  /** The node offers its transaction pool. */
  readonly poolCovered: boolean
  /**
   * `Date.now()` of the last look at the pool; of a node that never showed one: when it last said so. Absent before the
   * first look since the start or since a reorg.
   */
  readonly poolSeenAtMs?: number
  /**
   * Another process or thread indexes this chain, and this one waits for its place or only watches. All the rest is that
   * one's word, as long as it is heard; `stalled` when it is not.
   */
  readonly waiting?: true
  /** This process does not index, and never takes the place of the one that does. */
  readonly indexing?: false
  /**
   * `Date.now()` since which the chain has been stalled, as far as this process has seen it. Kept during further attempts,
   * until a block is stored or the index is level with its node.
   */
  readonly stalledSinceMs?: number
  /**
   * The index itself cannot be used: it is gone, replaced, damaged or read-only. No history is answered, also none that needs
   * no node. The chain is stalled, and `problem` says what to do.
   */
  readonly indexUnusable?: true
  /** Why the chain does not move; absent while it does. Never holds a URL. */
  readonly problem?: string
  /** Absent where this process does not write the index. */
  readonly integrity?: IndexIntegrity
}

/** Result of checking a chain's index against its checksums, by its writer. Counts run from the start of the indexer's thread. */
export interface IndexIntegrity extends Omit<Integrity, 'passEndedAt'> {
  /** Blocks whose stored rows were checked while nobody asked for them. */
  readonly checkedBlocks: number
  /** `Date.now()` at the end of the last pass over the whole index. */
  readonly passEndedAtMs?: number
  readonly damaged: number
  readonly healed: number
}

/** Integrity of an index as the wire and all pages show it. What is not known is absent. */
export interface Integrity {
  /** First block from which on everything that is stored has checksums. */
  readonly checkedFrom?: number
  /** Share of the index that the current pass of the background check has read, from 0 to 1. */
  readonly passDone?: number
  /** Unix second at which the last pass over the whole index ended. */
  readonly passEndedAt?: number
  /** Damaged parts that are not healed yet. */
  readonly damaged?: number
  /** Damaged parts that were healed. */
  readonly healed?: number
  /** Why damage is not healed yet. Never holds a URL. */
  readonly problem?: string
}
