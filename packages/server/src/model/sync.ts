import type { BlockRef } from './evm.ts'

/** Where one chain's index stands, as its indexer last reported it. */
export interface SyncStatus {
  /** The chain it speaks of. */
  readonly chainId: number
  /** `starting` until the node has answered once; `stalled` while it does not, or contradicts itself. */
  readonly phase: 'starting' | 'backfilling' | 'following' | 'stalled'
  /** Newest block the node has named; absent before its first answer. */
  readonly head?: number
  /** Newest block the chain holds final; absent where it names none. */
  readonly finalized?: number
  /** First block of the index; while nothing is indexed, the one that the configuration names. */
  readonly indexedFrom: number
  /** Absent while nothing is indexed. */
  readonly indexedTo?: BlockRef
  /** The first backfill has reached the head once; lasting. */
  readonly backfilled: boolean
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
  /** Why the chain does not move; absent while it does. Never holds a URL. */
  readonly problem?: string
}

/** Whether the node of a Solana cluster answers; nothing of it is indexed. */
export interface SolanaStatus {
  readonly chainId: number
  /** `starting`: not looked at lately; `following`: it answers. */
  readonly phase: 'starting' | 'following' | 'stalled'
  /** Newest slot the node has named. */
  readonly head?: number
  /** Why it is stalled. Never holds a URL. */
  readonly problem?: string
}

/**
 * What callers, health page and metrics all call degraded: the index does not move, so that nobody knows what is new,
 * or final blocks have been replaced lately.
 */
export function isDegraded({ phase, degraded }: Pick<SyncStatus, 'phase' | 'degraded'>): boolean {
  return degraded || phase === 'stalled'
}
