import type { BlockRef } from '../../model/evm.ts'
import { StoreError } from '../../platform/errors.ts'
import { present } from '../../platform/present.ts'
import type { IndexCoverage } from '../port/status.ts'
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

/** Computes the coverage of an index once these blocks are appended. */
export function coverageWith(before: IndexCoverage, appended: readonly BlockHeader[]): IndexCoverage {
  const first = appended[0]?.ref.number
  if (first === undefined) return before
  const tracedFrom = stretchWith(before.tracedFrom, appended, ({ isTraced }) => isTraced)
  const rootsFrom = stretchWith(before.rootsFrom, appended, ({ hasVerifiedRoots }) => hasVerifiedRoots)
  return {
    detailedFrom: before.detailedFrom ?? first,
    ...(tracedFrom !== undefined && { tracedFrom }),
    countedFrom: before.countedFrom ?? first,
    operationsFrom: before.operationsFrom ?? first,
    ...(rootsFrom !== undefined && { rootsFrom }),
    checkedFrom: before.checkedFrom ?? first
  }
}

/**
 * Computes the coverage once older blocks are stored right below the index. A mark above its first block stays: what lies
 * between is not covered.
 */
export function coverageWithOlder(before: IndexCoverage, older: readonly BlockHeader[]): IndexCoverage {
  const [first, last] = [older[0]?.ref.number, older.at(-1)?.ref.number]
  if (first === undefined || last === undefined) return before
  const lowered = (from: number | undefined, belongs: (block: BlockHeader) => boolean = () => true) => {
    if (from !== last + 1) return from
    return older[older.findLastIndex(block => !belongs(block)) + 1]?.ref.number ?? from
  }
  return present({
    detailedFrom: lowered(before.detailedFrom),
    tracedFrom: lowered(before.tracedFrom, ({ isTraced }) => isTraced),
    countedFrom: lowered(before.countedFrom),
    operationsFrom: lowered(before.operationsFrom),
    rootsFrom: lowered(before.rootsFrom, ({ hasVerifiedRoots }) => hasVerifiedRoots),
    checkedFrom: lowered(before.checkedFrom)
  })
}

/**
 * Computes the coverage once a stored block has been written anew. It grows by a block that lies right below it. Rows of the
 * address index are not counted again, and a block that was not covered by traces is not traced.
 * @param head - number of the newest block.
 */
export function coverageWithRewritten(
  before: IndexCoverage,
  { ref: { number }, hasVerifiedRoots }: BlockHeader,
  head: number
): IndexCoverage {
  const isBelow = (from = head + 1) => number === from - 1
  return {
    ...before,
    ...(isBelow(before.detailedFrom) && { detailedFrom: number }),
    ...(isBelow(before.operationsFrom) && { operationsFrom: number }),
    ...(isBelow(before.rootsFrom) && hasVerifiedRoots && { rootsFrom: number }),
    ...(isBelow(before.checkedFrom) && { checkedFrom: number })
  }
}

/**
 * Computes the coverage once all blocks above `ancestor` are removed. A mark that covered only removed blocks begins anew with
 * the next appended block.
 */
export function coverageUpTo(
  { detailedFrom, tracedFrom, countedFrom, operationsFrom, rootsFrom, checkedFrom }: IndexCoverage,
  ancestor: number
): IndexCoverage {
  return {
    ...(detailedFrom !== undefined && detailedFrom <= ancestor && { detailedFrom }),
    ...(tracedFrom !== undefined && tracedFrom <= ancestor && { tracedFrom }),
    ...(countedFrom !== undefined && countedFrom <= ancestor && { countedFrom }),
    ...(operationsFrom !== undefined && operationsFrom <= ancestor && { operationsFrom }),
    ...(rootsFrom !== undefined && rootsFrom <= ancestor && { rootsFrom }),
    ...(checkedFrom !== undefined && checkedFrom <= ancestor && { checkedFrom })
  }
}

/** One block that does not belong to it ends the stretch up to the head; the next one that does begins another. */
function stretchWith(
  before: number | undefined,
  appended: readonly BlockHeader[],
  belongs: (block: BlockHeader) => boolean
): number | undefined {
  const last = appended.findLastIndex(block => !belongs(block))
  return last < 0 ? (before ?? appended[0]?.ref.number) : appended[last + 1]?.ref.number
}

/** Number of blocks that keep undo data. */
export interface UndoLayout {
  /** Undo data of so many newest blocks are kept, even when they have become final. */
  readonly minUndoBlocks: number
  /** Undo data of more blocks are never kept: a deeper rollback scans instead. */
  readonly maxUndoBlocks: number
}

/** Computes the newest block whose undo data can be dropped; negative when there is none. */
export function newestDroppableUndo(head: number, finalized: number | undefined, layout: UndoLayout): number {
  const needless = Math.min(finalized ?? -1, head - layout.minUndoBlocks)
  return Math.max(needless, head - layout.maxUndoBlocks)
}
