import type { TallyFigures } from './tally.ts'

/** Upper bounds, in seconds, of how long a transaction of the store takes. */
export const writeBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const
/** Upper bounds, in blocks, of how deep a reorg goes. */
export const depthBounds = [1, 2, 3, 5, 8, 16, 32, 64, 128, 512] as const

/**
 * What the indexer of one chain has done: plain data, out of its thread. Counts run from the start of the thread.
 */
export interface IndexFigures {
  readonly chainId: number
  /** Stored. Blocks that a reorg removed later stay counted. */
  readonly blocks: number
  readonly transactions: number
  /** In seconds, by {@link writeBounds}. */
  readonly commits: TallyFigures
  readonly rollbacks: TallyFigures
  /** In blocks, by {@link depthBounds}. */
  readonly reorgDepths: TallyFigures
  /** Asked of the nodes at the moment. */
  readonly blocksUnderWay: number
  /** Pending transactions of the last look; absent before the first, and where no node shows any. */
  readonly poolTransactions?: number
  /** Of the index on the disk, its write-ahead log included; absent where that is not known. */
  readonly storeBytes?: number
}
