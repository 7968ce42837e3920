/**
 * Returns the name that a misspelt one most probably means: at most three letters away, and at most half of them;
 * `undefined` where none is. Upper and lower case count as one.
 *
 * @param names - The known names. A name that is among them is not misspelt.
 */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  // Nothing longer is near, and what a caller sent may be of any length. A known name is misplaced, not misspelt.
  if (name.length > 64 || names.includes(name)) return undefined
  const near = names.map(known => ({ known, distance: distanceOf(name.toLowerCase(), known.toLowerCase()) }))
  const [best] = near.toSorted((a, b) => a.distance - b.distance)
  return best !== undefined && best.distance <= Math.min(3, name.length / 2) ? best.known : undefined
}

/** Counts the letters to add, remove or change (Levenshtein). */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++) {
      const change = (row[j] ?? 0) + (letter === b[j] ? 0 : 1)
      next.push(Math.min(change, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
