import type { BlockRows } from '../../../index/record/encodeBlock.ts'
import { decodeRecords } from '../../../index/record/record.ts'
import { toTransactionId } from '../../../index/record/transactionId.ts'
import type { Address, BlockRef, Hash } from '../../../model/evm.ts'

/** What is known of a block before its traces are asked for, and what these must agree with. */
export interface TraceableBlock {
  readonly ref: BlockRef
  /** In block order. */
  readonly transactions: readonly TraceableTransaction[]
}

export interface TraceableTransaction {
  readonly hash: Hash
  readonly from: Address
  /** Absent: it creates a contract. */
  readonly to?: Address
  readonly value: bigint
  readonly hasFailed: boolean
}

/** @throws {StoreError} the rows are damaged. */
export function traceableBlock({ ref, indexes, records }: BlockRows): TraceableBlock {
  const ids = Array.from(indexes, index => toTransactionId({ blockNumber: ref.number, index }))
  const transactions = decodeRecords({ ids, bytes: records }).map(transaction => ({
    ...transaction,
    hasFailed: transaction.status === 4
  }))
  return { ref, transactions }
}
