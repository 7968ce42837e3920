/** Measurements counted by size: plain data, so that it can come out of a worker thread. */
export interface TallyFigures {
  /** One count per bound, of what was at most that and above the bound before; then one for those beyond. */
  readonly counts: readonly number[]
  readonly sum: number
}

/** Counts measurements by size. */
export interface Tally {
  note(value: number): void
  /** Frozen at this moment. */
  read(): TallyFigures
}

/** @param bounds - ascending. */
export function createTally(bounds: readonly number[]): Tally {
  const counts = new Array<number>(bounds.length + 1).fill(0)
  let sum = 0
  return {
    note(value) {
      const place = bounds.findIndex(bound => value <= bound)
      const at = place < 0 ? bounds.length : place
      counts[at] = (counts[at] ?? 0) + 1
      sum += value
    },
    read: () => ({ counts: [...counts], sum })
  }
}
