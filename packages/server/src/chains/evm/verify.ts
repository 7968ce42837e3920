import type { BlockRef, Hash } from '../../model/evm.ts'
import { NodeContradictionError } from '../../platform/errors.ts'
import { isAbsent, type RawObject, readCount, readHash, readList, readObject } from './rawFields.ts'

/** A block whose own parts agree; its receipts have not been seen. */
export interface VerifiedHeader {
  readonly ref: BlockRef
  readonly parentHash: Hash
  readonly timestampSeconds: number
  /** As the node sent it. */
  readonly raw: RawObject
  /** In block order. */
  readonly transactions: readonly VerifiedHeaderTransaction[]
}

export interface VerifiedHeaderTransaction {
  readonly hash: Hash
  /** The node's `transactionIndex`, which may leave gaps (system transactions); else the place in the list. */
  readonly index: number
  readonly raw: RawObject
}

/** A block and its receipts, known to belong together. */
export interface VerifiedBlock extends Omit<VerifiedHeader, 'transactions'> {
  readonly transactions: readonly VerifiedTransaction[]
}

export interface VerifiedTransaction extends VerifiedHeaderTransaction {
  readonly receipt: RawObject
}

/** Places are stored in 16 bits. */
const mostTransactions = 65_536

/**
 * Checks that an answer to `eth_getBlockByNumber(number, true)` is that block and is consistent in itself.
 * @throws {NodeContradictionError} naming the block, the place and the disagreement.
 * @see https://ethereum.github.io/execution-apis/api-documentation
 */
export function verifyHeader(rawBlock: unknown, number: number): VerifiedHeader {
  const block = `block ${number}`
  const raw = readObject(rawBlock, block)
  const ref: BlockRef = {
    number: readCount(raw.number, `${block}: number`),
    hash: readHash(raw.hash, `${block}: hash`)
  }
  if (ref.number !== number) throw contradiction(number, `the node answered block ${ref.number}`)

  let previousIndex = -1
  const transactions = readList(raw.transactions, `${block}: transactions`).map((entry, place) => {
    const where = `${block} transaction ${place}`
    const transaction = readObject(entry, where)
    const hash = readHash(transaction.hash, `${where}: hash`)
    expectSameBlock(transaction, ref, where, { hashRequired: false })
    const index = isAbsent(transaction.transactionIndex)
      ? place
      : readCount(transaction.transactionIndex, `${where}: transactionIndex`)
    if (index <= previousIndex || index >= mostTransactions) {
      throw contradiction(number, `transaction ${place} has index ${index} after index ${previousIndex}`)
    }
    previousIndex = index
    return { hash, index, raw: transaction }
  })
  return {
    ref,
    parentHash: readHash(raw.parentHash, `${block}: parentHash`),
    timestampSeconds: readCount(raw.timestamp, `${block}: timestamp`),
    raw,
    transactions
  }
}

/**
 * Binds receipts to their block: as many as transactions, in the same order, each naming the transaction and the
 * block's hash. A lagging node answers null or an empty list, which is refused here like any other disagreement.
 * @throws {NodeContradictionError} naming the block, the place and the disagreement.
 */
export function verifyReceipts(header: VerifiedHeader, rawReceipts: unknown): VerifiedBlock {
  const { ref } = header
  const block = `block ${ref.number}`
  const receipts = readList(rawReceipts, `${block}: receipts`)
  if (receipts.length !== header.transactions.length) {
    throw contradiction(
      ref.number,
      `the node gave ${receipts.length} receipts for ${header.transactions.length} transactions`
    )
  }
  const transactions = header.transactions.map((transaction, place) => {
    const where = `${block} receipt ${place}`
    const receipt = readObject(receipts[place], where)
    const hash = readHash(receipt.transactionHash, `${where}: transactionHash`)
    if (hash !== transaction.hash) {
      throw contradiction(ref.number, `receipt ${place} is for ${hash}, not for ${transaction.hash}`)
    }
    expectSameBlock(receipt, ref, where, { hashRequired: true })
    const { transactionIndex } = receipt
    if (!isAbsent(transactionIndex) && !isAbsent(transaction.raw.transactionIndex)) {
      const index = readCount(transactionIndex, `${where}: transactionIndex`)
      if (index !== transaction.index) {
        throw contradiction(
          ref.number,
          `receipt ${place} has index ${index}, its transaction ${transaction.index}`
        )
      }
    }
    return { ...transaction, receipt }
  })
  return { ...header, transactions }
}

function expectSameBlock(
  part: RawObject,
  ref: BlockRef,
  where: string,
  { hashRequired }: { readonly hashRequired: boolean }
): void {
  const { blockHash, blockNumber } = part
  if (hashRequired || !isAbsent(blockHash)) {
    const hash = readHash(blockHash, `${where}: blockHash`)
    if (hash !== ref.hash) throw contradiction(ref.number, `${where} is of block ${hash}, not ${ref.hash}`)
  }
  if (!isAbsent(blockNumber)) {
    const number = readCount(blockNumber, `${where}: blockNumber`)
    if (number !== ref.number) throw contradiction(ref.number, `${where} is of block ${number}`)
  }
}

function contradiction(blockNumber: number, what: string): NodeContradictionError {
  return new NodeContradictionError(`block ${blockNumber}: ${what}`, { blockNumber })
}
