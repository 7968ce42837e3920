import { NotShown } from './verdicts.ts'

/**
 * Looks at each of some things, and says so where there was none.
 *
 * @param what - The things in words, for the report.
 * @param look - Its count is how many things it could hold something against; `void` counts as one.
 * @throws {NotShown} Nothing was looked at.
 */
export async function eachShown<T>(
  things: readonly T[],
  what: string,
  look: (thing: T) => Promise<number | undefined> | number | undefined
): Promise<void> {
  const counts = await Promise.all(things.map(async thing => (await look(thing)) ?? 1))
  if (counts.every(count => count === 0)) throw new NotShown(`no ${what} was there to see it on`)
}
