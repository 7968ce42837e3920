import type { Address, PendingTransaction } from '../model/evm.ts'

/** Reads the stored pool. */
export interface PoolReader {
  /** Pool transactions that name `address`: status 1 before 0, then nonce descending. */
  pending(address: Address): Promise<readonly PendingTransaction[]>
}

/** The node's whole pool as read at one time. */
export interface PoolUpdate {
  /** Everything the pool holds now. */
  readonly present: readonly Omit<PendingTransaction, 'firstSeenSeconds'>[]
  readonly seenAtSeconds: number
  /**
   * Node's head, asked after the pool was read. An entry that left the pool may be in a block up to this one,
   * so the store keeps it as pending until the index has reached this height. While a first backfill runs that is far
   * away: poll the pool only once the index is near the head.
   */
  readonly headAfter: number
}
