/** Longer names are no typing mistakes, and cost more to compare. */
const maxLength = 40

/**
 * Returns the name that was most likely meant: at most three letters away, and at most half of them. Upper and lower case count as
 * one.
 */
export function findSimilar(typed: string, names: readonly string[]): string | undefined {
  if (typed.length > maxLength) return undefined
  const [nearest] = names
    .map(name => ({ name, distance: distanceOf(typed.toLowerCase(), name.toLowerCase()) }))
    .filter(({ distance }) => distance <= Math.min(3, typed.length / 2))
    .sort((a, b) => a.distance - b.distance)
  return nearest?.name
}

/** Counts the letters to insert, delete or replace (Levenshtein), row by row. */
function distanceOf(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, length) => length)
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1]
    for (const [at, otherLetter] of [...other].entries()) {
      const replaced = (row[at] ?? 0) + (letter === otherLetter ? 0 : 1)
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
