import type {
  Address,
  ConfirmedTransaction,
  HoldingCandidate,
  IndexedRange,
  Snapshot,
  StoreReader
} from '@chain-data/index'
import { decodeDetailed, type RecordDetails, type TransactionPosition } from '@chain-data/index/record'

/** A transaction as the index has it, with what moved in it. */
export type IndexedTransactionView = ConfirmedTransaction & RecordDetails

/** One consistent view of the index of an EVM chain: blocks that are committed or removed meanwhile do not show in it. */
export interface IndexView {
  /** The first and the last indexed block; `undefined` while nothing is indexed. */
  range(): Promise<IndexedRange | undefined>
  /**
   * The confirmed transactions associated with an account, newest first, in parts of bounded size. Pending ones, and those
   * older than the index, are not among them.
   * @param address - in lower case.
   * @param part.olderThan - only transactions before this position of a block.
   * @param part.limit - most transactions; absent: all.
   * @throws {StoreError} while it is read: a part of the index is damaged. It is repaired meanwhile.
   */
  transactions(
    address: Address,
    part?: { readonly olderThan?: TransactionPosition; readonly limit?: number }
  ): AsyncIterable<readonly IndexedTransactionView[]>
  /**
   * The tokens that an account may hold: every one that it was ever party to a transfer of, ordered by contract. What it
   * holds of each, only the chain's state tells.
   * @param address - in lower case.
   */
  holdingCandidates(address: Address): AsyncIterable<readonly HoldingCandidate[]>
}

/**
 * Runs a query over one view of an index.
 * @returns what the query returns. The view ends then: what it iterates has to be read before.
 * @throws {StoreError} the index cannot be read; and whatever the query throws.
 */
export async function readIndex<T>(
  reader: Pick<StoreReader, 'openSnapshot'>,
  query: (index: IndexView) => Promise<T>
): Promise<T> {
  const snapshot = await reader.openSnapshot()
  try {
    return await query(viewOf(snapshot))
  } finally {
    await snapshot.close()
  }
}

function viewOf(snapshot: Snapshot): IndexView {
  return {
    range: () => snapshot.indexedRange(),
    holdingCandidates: address => snapshot.holdingCandidates(address),
    async *transactions(address, part) {
      for await (const chunk of snapshot.records(address, part)) {
        yield decodeDetailed(chunk).map(({ transaction, details }) => ({ ...transaction, ...details }))
      }
    }
  }
}
