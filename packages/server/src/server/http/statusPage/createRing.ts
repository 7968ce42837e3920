/** The last so many values, oldest first. */
export interface Ring<T> {
  push(value: T): void
  values(): readonly T[]
  /** Puts another value in the place of each. */
  change(to: (value: T) => T): void
}

/** @param capacity - most values kept; an older one goes when a newer one comes. */
export function createRing<T>(capacity: number): Ring<T> {
  const kept: T[] = []
  return {
    push(value) {
      kept.push(value)
      if (kept.length > capacity) kept.shift()
    },
    values: () => kept,
    change(to) {
      for (const [place, value] of kept.entries()) kept[place] = to(value)
    }
  }
}
