import { StoreError } from '../../platform/errors.ts'

/** Place of a confirmed transaction in the chain; history is ordered by it, newest first. */
export interface TransactionPosition {
  readonly blockNumber: number
  readonly index: number
}

/** Ids leave 16 bits for the place in the block. */
export const maxTransactionsPerBlock = 65_536
/** Ids stay exact as JS numbers up to here: 2^37 blocks x 2^16 places = 2^53. */
export const maxBlockNumber = 2 ** 37 - 1

/**
 * The number that stands for a confirmed transaction in every key: `block * 65536 + index`. It sorts as the chain
 * does, so it is order and cursor at once, and it is exact as a JS number.
 * @throws {StoreError} the place does not fit; it would collide with another block's transaction.
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

/** Smallest id a transaction of this block can have; everything below belongs to earlier blocks. */
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
