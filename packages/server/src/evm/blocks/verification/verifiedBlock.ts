import type { BlockRef, Hash, IndexedBlock } from '@chain-data/index'
import type { RawObject } from '../../../nodes/evm/rawFields.ts'
import type { BrokenCheck } from './blockChecks.ts'

/** The check that a system transaction breaks; it names the kind of the transaction too. */
export type SystemTransactionKind = 'stateSync' | 'systemTransaction'

/** A block whose own parts agree, but for the checks listed; its receipts have not been read. */
export interface VerifiedHeader {
  readonly ref: BlockRef
  readonly parentHash: Hash
  readonly timestampSeconds: number
  /** As the node sent it. */
  readonly raw: RawObject
  /** In block order. */
  readonly transactions: readonly VerifiedHeaderTransaction[]
  /** Transactions that the header does not commit to, by their hashes. */
  readonly system: ReadonlyMap<Hash, SystemTransactionKind>
  /** Checks that it breaks and that are not waived: its receipts are verified only to complete this list. */
  readonly broken: readonly BrokenCheck[]
}

export interface VerifiedHeaderTransaction {
  readonly hash: Hash
  /** The node's `transactionIndex`, which may leave gaps (system transactions); else the index in the list. */
  readonly index: number
  readonly raw: RawObject
}

/** A block and its receipts, known to belong together. */
export interface VerifiedBlock extends Omit<VerifiedHeader, 'transactions' | 'broken'> {
  readonly transactions: readonly VerifiedTransaction[]
  /** As in `IndexedBlock`. */
  readonly unknown?: IndexedBlock['unknown']
}

export interface VerifiedTransaction extends VerifiedHeaderTransaction {
  /** Absent: unknown. */
  readonly receipt?: RawObject
}
