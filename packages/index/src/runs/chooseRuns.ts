import type { Run } from './run.ts'

/** How runs are merged. */
export interface MergeLayout {
  /** So many neighbours of one size are merged into one of the next size. */
  readonly mergeFactor: number
  /** Number of newest blocks whose runs are not merged: most reorgs remove whole runs then. */
  readonly unmergedBlocks: number
  /** A run with blocks that are not final has at most so many transactions: a reorg into it writes it anew. */
  readonly maxUnsettled: number
  /** No run has more transactions than this. */
  readonly maxTransactions: number
}

export const defaultMergeLayout: MergeLayout = {
  mergeFactor: 8,
  unmergedBlocks: 12,
  maxUnsettled: 262_144,
  maxTransactions: 200_000_000
}

/**
 * Chooses the neighbours to merge next, oldest first; nothing where there are none. Sizes are levels, each `mergeFactor` times the
 * one before: that many neighbours of one level are merged, the lowest level first, and smaller ones between them go along. Where
 * they would be too large together, as many are merged as may be. So each row is copied about once a level.
 * @param runs - all of them, oldest first.
 * @param finalized - newest block that the node has called final; absent: none.
 */
export function chooseRuns(
  runs: readonly Run[],
  finalized: number | undefined,
  layout: MergeLayout
): readonly Run[] | undefined {
  const { unmergedBlocks, maxUnsettled, maxTransactions } = layout
  const head = runs.at(-1)?.lastBlock ?? -1
  const mergeable = runs.filter(({ lastBlock }) => lastBlock <= head - unmergedBlocks)
  const isFinal = ({ lastBlock }: Run) => lastBlock <= (finalized ?? -1)
  const unsettled = mergeable.findIndex(run => !isFinal(run))
  const end = unsettled < 0 ? mergeable.length : unsettled
  return (
    chooseAmong(mergeable.slice(end), maxUnsettled, layout) ??
    chooseAmong(mergeable.slice(0, end), maxTransactions, layout)
  )
}

function chooseAmong(
  runs: readonly Run[],
  most: number,
  { mergeFactor }: MergeLayout
): readonly Run[] | undefined {
  const levels = runs.map(run => levelOf(run, mergeFactor))
  const highest = Math.max(-1, ...levels)
  for (let level = 0; level <= highest; level++) {
    let chosen: Run[] = []
    let found = 0
    for (const [i, run] of runs.entries()) {
      const each = levels[i] ?? 0
      if (each > level || transactionsOf([...chosen, run]) > most) {
        // The run after them would be too much: there will be no better time.
        if (each <= level && isWorthwhile(chosen)) return chosen
        chosen = []
        found = 0
      }
      if (each > level) continue
      chosen.push(run)
      if (each === level) found++
      if (found === mergeFactor) return chosen
    }
  }
  return undefined
}

/** Reports whether the merged run is twice as large as each of these: each row is copied a few times, whatever their sizes. */
function isWorthwhile(runs: readonly Run[]): boolean {
  return transactionsOf(runs) >= 2 * Math.max(1, ...runs.map(({ transactions }) => transactions))
}

function transactionsOf(runs: readonly Run[]): number {
  return runs.reduce((sum, { transactions }) => sum + transactions, 0)
}

/** Blocks count, too: without transactions they are merged all the same. */
function levelOf({ transactions, firstBlock, lastBlock }: Run, mergeFactor: number): number {
  let level = 0
  for (let size = mergeFactor; size <= transactions + lastBlock - firstBlock + 1; size *= mergeFactor) level++
  return level
}
