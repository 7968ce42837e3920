/** Up to so many are compared with each other, which costs less than a set of them. */
const maxCompared = 8

/** The list with each of its values once, at its first position. */
export function eachOnce<T>(list: readonly T[]): readonly T[] {
  if (list.length > maxCompared) return [...new Set(list)]
  const isOnce = list.every((value, place) => list.indexOf(value) === place)
  return isOnce ? list : list.filter((value, place) => list.indexOf(value) === place)
}
