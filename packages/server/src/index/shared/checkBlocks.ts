import type { BlockRef } from '../../model/evm.ts'
import { StoreError } from '../../platform/errors.ts'
import type { BlockHeader } from '../record/encodeBlock.ts'

/**
 * Refuses a batch that does not continue the chain, before anything of it is written.
 * @param head - the stored head; absent in an empty store, where any block may be the first.
 * @throws {StoreError} naming the block and what was expected.
 */
export function checkBlocks(blocks: readonly BlockHeader[], head: BlockRef | undefined): void {
  let parent = head
  for (const block of blocks) {
    if (parent !== undefined) checkParent(block, parent)
    parent = block.ref
  }
}

function checkParent({ ref, parentHash }: BlockHeader, parent: BlockRef): void {
  if (ref.number === parent.number + 1 && parentHash === parent.hash) return
  throw new StoreError(
    `block ${ref.number} (${ref.hash}) with parent ${parentHash} does not continue block ${parent.number} (${parent.hash})`,
    { blockNumber: ref.number, blockHash: ref.hash, parentHash, expectedParent: parent.hash }
  )
}
