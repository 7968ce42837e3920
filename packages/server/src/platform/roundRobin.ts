/**
 * Orders items round-robin by owner: the first item of each owner, then the second of each, and so on. An owner of very
 * many items does not keep back those who have few.
 *
 * @param ownerOf - compared as a key of a Map; owners and their items keep the order of `items`.
 */
export function roundRobin<T>(items: readonly T[], ownerOf: (item: T) => unknown): readonly T[] {
  const counts = new Map<unknown, number>()
  const turns: T[][] = []
  for (const item of items) {
    const owner = ownerOf(item)
    const turn = counts.get(owner) ?? 0
    counts.set(owner, turn + 1)
    const others = turns[turn]
    if (others === undefined) turns.push([item])
    else others.push(item)
  }
  return turns.flat()
}
