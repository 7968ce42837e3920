/**
 * Finds what imports itself over others.
 *
 * @param graph - what each node imports; nodes that are only imported may be missing.
 * @returns the nodes of each knot, in which every node reaches every other one, sorted.
 */
export function findCycles(graph: ReadonlyMap<string, Iterable<string>>): string[][] {
  const knots: string[][] = []
  /** By node: when it was met, and the earliest node on the path that it reaches. */
  const met = new Map<string, { readonly at: number; earliest: number }>()
  const path: string[] = []

  function visit(name: string): { readonly earliest: number } {
    const node = { at: met.size, earliest: met.size }
    met.set(name, node)
    path.push(name)
    for (const next of graph.get(name) ?? []) {
      const known = met.get(next)
      if (known === undefined) node.earliest = Math.min(node.earliest, visit(next).earliest)
      else if (path.includes(next)) node.earliest = Math.min(node.earliest, known.at)
    }
    if (node.earliest === node.at) {
      const knot = path.splice(path.indexOf(name))
      if (knot.length > 1) knots.push(knot.sort())
    }
    return node
  }

  for (const name of graph.keys()) if (!met.has(name)) visit(name)
  return knots
}
