import type { HoldingCandidate } from '../../../model/evm.ts'

/** Ids from `first` to `last`, both included. */
export interface IdRange {
  readonly first: bigint
  readonly last: bigint
}

/**
 * The ids of candidates of one contract as the fewest ranges, ascending; none of them touches another.
 * @param candidates - in any order, may overlap. One without `lastTokenId` is a range of one id; one without `tokenId`
 *   is passed over.
 */
export function mergeRanges(
  candidates: readonly Pick<HoldingCandidate, 'tokenId' | 'lastTokenId'>[]
): readonly IdRange[] {
  const ascending = candidates
    .flatMap(({ tokenId, lastTokenId = tokenId }) =>
      tokenId === undefined || lastTokenId === undefined ? [] : [{ first: tokenId, last: lastTokenId }]
    )
    .sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0))
  const merged: IdRange[] = []
  for (const range of ascending) {
    const before = merged.at(-1)
    if (before === undefined || range.first > before.last + 1n) merged.push(range)
    else if (range.last > before.last) merged[merged.length - 1] = { first: before.first, last: range.last }
  }
  return merged
}
