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
  /** What lies below `from` is answered by the node, or by nobody; absent where nothing lies there. */
  readonly deepHistory?: 'node' | 'none'
}
