import type { IndexCoverage } from '../port/status.ts'
import type { BlockHeader } from '../record/encodeBlock.ts'

/** What is known of an index's blocks once these are appended to them. */
export function coverageWith(before: IndexCoverage, appended: readonly BlockHeader[]): IndexCoverage {
  const first = appended[0]?.ref.number
  if (first === undefined) return before
  const tracedFrom = tracedWith(before.tracedFrom, first, appended)
  return {
    detailedFrom: before.detailedFrom ?? first,
    ...(tracedFrom !== undefined && { tracedFrom }),
    talliedFrom: before.talliedFrom ?? first
  }
}

/**
 * What is still known once all blocks above `ancestor` are removed. What was known of none of the others is known from the next
 * appended block on.
 */
export function coverageUpTo(
  { detailedFrom, tracedFrom, talliedFrom }: IndexCoverage,
  ancestor: number
): IndexCoverage {
  return {
    ...(detailedFrom !== undefined && detailedFrom <= ancestor && { detailedFrom }),
    ...(tracedFrom !== undefined && tracedFrom <= ancestor && { tracedFrom }),
    ...(talliedFrom !== undefined && talliedFrom <= ancestor && { talliedFrom })
  }
}

/** One block that is not traced ends the stretch up to the head; the next one that is begins another. */
function tracedWith(
  before: number | undefined,
  first: number,
  appended: readonly BlockHeader[]
): number | undefined {
  const lastUntraced = appended.findLastIndex(({ isTraced }) => !isTraced)
  return lastUntraced < 0 ? (before ?? first) : appended[lastUntraced + 1]?.ref.number
}
