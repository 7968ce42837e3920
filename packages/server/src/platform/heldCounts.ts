/** Counts what each of many keys holds at a time. */
export interface HeldCounts {
  /**
   * Counts one more for each of the keys, unless one of them holds as many as it may.
   *
   * @returns counts them down again, to be called once; `undefined` when nothing was counted.
   */
  take(keys: readonly (readonly [key: string, max: number])[]): (() => void) | undefined
}

/** @remarks Nothing is kept of a key that holds nothing. */
export function createHeldCounts(): HeldCounts {
  const counts = new Map<string, number>()
  const add = (key: string, change: 1 | -1) => {
    const count = (counts.get(key) ?? 0) + change
    if (count > 0) counts.set(key, count)
    else counts.delete(key)
  }
  return {
    take(keys) {
      if (keys.some(([key, max]) => (counts.get(key) ?? 0) >= max)) return undefined
      for (const [key] of keys) add(key, 1)
      return () => {
        for (const [key] of keys) add(key, -1)
      }
    }
  }
}
