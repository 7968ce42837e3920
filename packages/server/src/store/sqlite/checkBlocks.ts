import type { BlockRef, IndexedBlock } from '../../model/evm.ts'
import { StoreError } from '../../platform/errors.ts'
import { maxTransactionsPerBlock } from '../transactionId.ts'

/**
 * Refuses a batch that does not continue the chain or contradicts itself, before anything of it is written.
 * @param head - the stored head; absent in an empty store, where any block may be the first.
 * @throws {StoreError} naming the block and what was expected.
 */
export function checkBlocks(blocks: readonly IndexedBlock[], head: BlockRef | undefined): void {
  let parent = head
  for (const block of blocks) {
    if (parent !== undefined) checkParent(block, parent)
    checkTransactions(block)
    parent = block.ref
  }
}

function checkParent({ ref, parentHash }: IndexedBlock, parent: BlockRef): void {
  if (ref.number === parent.number + 1 && parentHash === parent.hash) return
  throw new StoreError(
    `block ${ref.number} (${ref.hash}) with parent ${parentHash} does not continue block ${parent.number} (${parent.hash})`,
    { blockNumber: ref.number, blockHash: ref.hash, parentHash, expectedParent: parent.hash }
  )
}

function checkTransactions({ ref, transactions }: IndexedBlock): void {
  if (transactions.length > maxTransactionsPerBlock) {
    throw new StoreError(
      `block ${ref.number} has ${transactions.length} transactions; the store holds at most ${maxTransactionsPerBlock} a block`,
      { blockNumber: ref.number, transactions: transactions.length }
    )
  }
  let previous = -1
  for (const { transaction } of transactions) {
    if (transaction.blockNumber !== ref.number || transaction.index <= previous) {
      throw new StoreError(
        `transaction ${transaction.hash} (block ${transaction.blockNumber}, index ${transaction.index}) is out of place in block ${ref.number} after index ${previous}`,
        { blockNumber: ref.number, hash: transaction.hash, index: transaction.index }
      )
    }
    previous = transaction.index
  }
}
