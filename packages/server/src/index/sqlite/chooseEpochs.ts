import type { Epoch } from './epochs.ts'

/** How epochs grow. */
export interface MergeLayout {
  /** A block that finds so many transactions in its epoch begins the next one. */
  readonly epochTransactions: number
  /** So many neighbours of one size are merged into one of the next size. */
  readonly mergeFanOut: number
}

/**
 * The neighbours to merge next, oldest first; nothing when there are none. Sizes are levels, each `mergeFanOut` times the one
 * before: `mergeFanOut` neighbours of one level are merged, the lowest level first, and smaller ones that lie before or between
 * them go along. So each row is copied about once for each level.
 * @param epochs - all of them, oldest first.
 * @param safeBlock - only epochs whose blocks all lie at or below this one are merged.
 */
export function chooseEpochs(
  epochs: readonly Epoch[],
  safeBlock: number,
  layout: MergeLayout
): readonly Epoch[] | undefined {
  // The newest one still grows, and where the others end is where the next one begins.
  const complete = epochs.filter((_, i) => {
    const next = epochs[i + 1]
    return next !== undefined && next.firstBlock - 1 <= safeBlock
  })
  const levels = complete.map(({ txCount }) => levelOf(txCount, layout))
  const highest = Math.max(-1, ...levels)
  for (let level = 0; level <= highest; level++) {
    let start = 0
    let found = 0
    for (const [i, each] of levels.entries()) {
      if (each === level) found++
      if (each > level) {
        start = i + 1
        found = 0
      }
      if (found === layout.mergeFanOut) return complete.slice(start, i + 1)
    }
  }
  return undefined
}

function levelOf(txCount: number, { epochTransactions, mergeFanOut }: MergeLayout): number {
  let level = 0
  for (let size = epochTransactions * mergeFanOut; size <= txCount; size *= mergeFanOut) level++
  return level
}
