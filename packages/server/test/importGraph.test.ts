import { dirname } from 'node:path/posix'
import { describe, expect, it } from 'vitest'
import { findCycles } from './house/findCycles.ts'
import { importsOfParents, knotsOfFiles, knotsOfFolders } from './house/knownImports.ts'
import { readFiles, readSources, roomOf } from './house/readSources.ts'
import { readImportTable } from './importTable.ts'

/**
 * Which module may import which, as docs/architecture.md tells. Every module may also import `platform`, `model` and
 * itself.
 */
const allowed = readImportTable()

const everyoneMayUse = ['platform', 'model']

const sources = readSources()
const imports = sources.flatMap(({ path, imports }) => imports.map(target => ({ path, target })))

describe('the import graph of the server', () => {
  // Here the helpers of tests count, too.
  const crossings = readFiles().flatMap(({ path, imports }) =>
    imports.map(target => ({ path, from: roomOf(path), to: roomOf(target) }))
  )

  it('has every module in the picture', () => {
    expect(crossings.length).toBeGreaterThan(50)
    const names = new Set(crossings.flatMap(({ from, to }) => [from, to]))
    expect([...names].filter(name => !(name in allowed) && !name.startsWith('..'))).toEqual([])
  })

  it('only goes the ways the architecture allows', () => {
    const wrong = crossings
      .filter(({ from, to }) => from !== to && !everyoneMayUse.includes(to) && !allowed[from]?.includes(to))
      .map(({ path, from, to }) => `${path}: ${from} -> ${to}`)
    expect(wrong).toEqual([])
  })

  it('reads the environment in config only', () => {
    const readers = sources.filter(({ text }) => text.includes('process.env')).map(({ path }) => path)
    expect(readers.filter(path => path !== 'server/config/config.ts')).toEqual([])
  })

  it('has no file that imports itself over others, types included', () => {
    const graph = new Map(sources.map(({ path, imports }) => [path, imports]))
    expect(unlike(findCycles(graph), knotsOfFiles)).toEqual({ new: [], gone: [] })
  })

  it('has no folder that imports itself over others, types included', () => {
    const graph = new Map<string, Set<string>>()
    for (const { path, target } of imports) {
      graph.set(dirname(path), (graph.get(dirname(path)) ?? new Set()).add(dirname(target)))
    }
    expect(unlike(findCycles(graph), knotsOfFolders)).toEqual({ new: [], gone: [] })
  })

  it('has no folder that imports a folder which it lies in', () => {
    const found = imports
      .map(({ path, target }) => ({ path, target, from: dirname(path), to: dirname(target) }))
      .filter(({ from, to }) => from.startsWith(`${to}/`))
    const usesOf = (way: string) => found.filter(({ from, to }) => `${from} -> ${to}` === way)
    const isMore = ({ from, to }: { from: string; to: string }) =>
      usesOf(`${from} -> ${to}`).length > (importsOfParents[`${from} -> ${to}`] ?? 0)
    expect(found.filter(isMore).map(({ path, target }) => `${path} -> ${target}`)).toEqual([])
    // Worked off: to be taken out of the list.
    expect(Object.keys(importsOfParents).filter(way => usesOf(way).length === 0)).toEqual([])
  })
})

/** Knots that are in no known one, and known ones of which nothing is left. */
function unlike(knots: readonly (readonly string[])[], known: readonly (readonly string[])[]) {
  const isPart = (knot: readonly string[], whole: readonly string[]) =>
    knot.every(name => whole.includes(name))
  return {
    new: knots.filter(knot => !known.some(whole => isPart(knot, whole))),
    gone: known.filter(whole => !knots.some(knot => isPart(knot, whole)))
  }
}
