import { StoreError } from '../platform/errors.ts'

/** Position of a confirmed transaction in the chain; a history is ordered by it, newest first. */
export interface TransactionPosition {
  readonly blockNumber: number
  readonly index: number
}

/** Ids have 16 bits for the index in the block. */
export const maxTransactionsPerBlock = 65_536
/** Ids stay exact as JS numbers up to here: 2^37 blocks x 2^16 indexes = 2^53. */
export const maxBlockNumber = 2 ** 37 - 1

/**
 * Returns the id of a confirmed transaction, as every key has it: `block * 65536 + index`. Ids sort as the chain does, so an
 * id is order and cursor at once, and it is exact as a JS number.
 * @throws {StoreError} the index does not fit; the id would be that of another block's transaction.
 */
export function toTransactionId({ blockNumber, index }: TransactionPosition): number {
  if (!Number.isInteger(index) || index < 0 || index >= maxTransactionsPerBlock) {
    throw new StoreError(
      `transaction index ${index} of block ${blockNumber} cannot be stored: expected 0 to ${maxTransactionsPerBlock - 1}`,
      { blockNumber, index }
    )
  }
  return firstTransactionId(blockNumber) + index
}

/** Returns the smallest id of a block's transactions; lower ids belong to earlier blocks. */
export function firstTransactionId(blockNumber: number): number {
  if (!Number.isInteger(blockNumber) || blockNumber < 0 || blockNumber > maxBlockNumber) {
    throw new StoreError(`block number ${blockNumber} cannot be stored: expected 0 to ${maxBlockNumber}`, {
      blockNumber
    })
  }
  return blockNumber * maxTransactionsPerBlock
}

/** Inverse of `toTransactionId`. */
export function toPosition(id: number): TransactionPosition {
  const index = id % maxTransactionsPerBlock
  return { blockNumber: (id - index) / maxTransactionsPerBlock, index }
}
