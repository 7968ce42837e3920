/** Creates numbers that follow from a seed. @returns gives the next one, from 0 up to, but not including, `below`. */
export function createNumbers(seed: number): (below: number) => number {
  let state = seed | 0
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return Math.floor(((state >>> 8) / 2 ** 24) * below)
  }
}
