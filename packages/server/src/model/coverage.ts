import type { BlockSpan } from '@chain-data/index'
import type { DeepReason } from './deepHistory.ts'

/** Which blocks an answer about an account speaks of, and what is known of them. */
export interface AnswerCoverage {
  readonly chainId: number
  /** First indexed block; absent while nothing is indexed. */
  readonly from?: number
  readonly to?: number
  /** First block from which on token transfers are known of each transaction; absent: of none. */
  readonly transfersFrom?: number
  /** First block from which on every block is traced; absent: not even the newest. */
  readonly internalFrom?: number
  /** First block from which on operations, authorities and logs of failed transactions are indexed; absent: of none. */
  readonly operationsFrom?: number
  /** Blocks of which a part is unknown, so that transfers in them may be missing; absent: none. */
  readonly unknownBlocks?: readonly BlockSpan[]
  /**
   * What answers for history older than `from`: the node's index of addresses or its logs (`node`), its old states, or
   * nothing; absent where there is none.
   */
  readonly deepHistory?: 'node' | 'state' | 'none'
  /** Transactions of the older history that are left out. */
  readonly lacks?: 'zero-value-receipts'
  /** First block of the older history that is answered, where that is not all of it. */
  readonly deepFrom?: number
  /** Why what is older is not answered. */
  readonly reason?: DeepReason
}
