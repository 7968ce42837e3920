import { type BlockSpan, joinSpans } from '../model/blockSpans.ts'
import type { BlockRef } from '../model/evm.ts'
import { StoreError } from '../platform/errors.ts'
import type { CoverageHeights, IndexCoverage } from '../port/status.ts'
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

/** Reports whether a height of the coverage holds for a block. */
type Belongs = (block: BlockHeader) => boolean

const marks: Readonly<Record<keyof CoverageHeights, Belongs>> = {
  tracedFrom: ({ isTraced }) => isTraced,
  rootsFrom: ({ hasVerifiedRoots }) => hasVerifiedRoots
}

/** Computes each height of a coverage from that before. */
function mapCoverage(
  before: IndexCoverage,
  unknown: readonly BlockSpan[],
  change: (from: number | undefined, belongs: Belongs) => number | undefined
): IndexCoverage {
  const names = Object.keys(marks) as (keyof CoverageHeights)[]
  const after = names.map(name => [name, change(before[name], marks[name])] as const)
  const heights = Object.fromEntries(after.filter(([, from]) => from !== undefined))
  return { ...heights, ...(unknown.length > 0 && { unknown }) }
}

function unknownWith({ unknown = [] }: IndexCoverage, added: readonly BlockHeader[]): readonly BlockSpan[] {
  const spans = added
    .filter(({ hasUnknown }) => hasUnknown)
    .map(({ ref: { number } }) => ({ from: number, to: number }))
  return spans.length === 0 ? unknown : joinSpans([...unknown, ...spans])
}

/**
 * Computes the coverage of an index once these blocks are appended. One block that does not belong to it ends the stretch up to the
 * head; the next one that does begins another.
 */
export function coverageWith(before: IndexCoverage, appended: readonly BlockHeader[]): IndexCoverage {
  return mapCoverage(before, unknownWith(before, appended), (from, belongs) => {
    const last = appended.findLastIndex(block => !belongs(block))
    return last < 0 ? (from ?? appended[0]?.ref.number) : appended[last + 1]?.ref.number
  })
}

/**
 * Computes the coverage once older blocks are stored right below the index. A mark above its first block stays: what lies
 * between is not covered.
 */
export function coverageWithOlder(before: IndexCoverage, older: readonly BlockHeader[]): IndexCoverage {
  const last = older.at(-1)?.ref.number
  return mapCoverage(before, unknownWith(before, older), (from, belongs) => {
    if (last === undefined || from !== last + 1) return from
    return older[older.findLastIndex(block => !belongs(block)) + 1]?.ref.number ?? from
  })
}

/**
 * Computes the coverage once all blocks above `ancestor` are removed. A mark that covered only removed blocks begins anew with
 * the next appended block.
 */
export function coverageUpTo(before: IndexCoverage, ancestor: number): IndexCoverage {
  const kept = (before.unknown ?? []).filter(({ from }) => from <= ancestor)
  const unknown = kept.map(({ from, to }) => ({ from, to: Math.min(to, ancestor) }))
  return mapCoverage(before, unknown, from => (from !== undefined && from <= ancestor ? from : undefined))
}
