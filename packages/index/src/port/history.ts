import type { Address, BlockRef, Hash } from '../model/evm.ts'
import type { RecordChunk } from '../record/record.ts'
import type { TransactionPosition } from '../record/transactionId.ts'

/** Part of a history. */
export interface HistoryPart {
  /** Only transactions strictly older than this position. */
  readonly olderThan?: TransactionPosition
  /** Maximum number of transactions; absent: all. */
  readonly limit?: number
}

/** What the index knows of a transaction hash. */
export type HashLookup =
  | { readonly kind: 'confirmed'; readonly position: TransactionPosition }
  /**
   * A reorg removed it and it has not been mined again. `commonAncestor` is the last block kept then, or a lower one
   * if a later reorg removed that too: it is always in the index.
   */
  | { readonly kind: 'reorged'; readonly commonAncestor: BlockRef }
  | { readonly kind: 'unknown' }

/** Reads the confirmed transactions of an account. */
export interface HistoryReader {
  /**
   * Records of the transactions associated with `address`, undecoded, newest first, in chunks of bounded size; no chunk is
   * empty. The event loop runs between two chunks.
   * @throws {StoreError} while it is read: a transaction that the index names has no record.
   */
  records(address: Address, part?: HistoryPart): AsyncIterable<RecordChunk>
  /** Counts confirmed transactions of `address`, but stops at `atMost`. Reads keys only. */
  countHistory(address: Address, atMost: number): Promise<number>
  lookUpHash(hash: Hash): Promise<HashLookup>
}
