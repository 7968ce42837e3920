import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { findCycles } from './house/findCycles.ts'
import { importsOfParents, knotsOfFiles, knotsOfFolders } from './house/knownImports.ts'
import { readFiles, readSources, roomOf } from './house/readSources.ts'
import { readImportTable } from './importTable.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const everyoneMayUse = ['platform', 'model']

describe.each(['server', 'index'] as const)('the import graph of the %s', name => {
  /**
   * Which module may import which, as docs/architecture.md tells. Every module may also import `platform`, `model` and
   * itself.
   */
  const allowed = readImportTable(name)
  const sources = readSources(name)
  const imports = sources.flatMap(({ path, imports }) => imports.map(target => ({ path, target })))
  // Here the helpers of tests count, too.
  const crossings = readFiles(name).flatMap(({ path, imports }) =>
    imports
      // What packages may import of each other's files is below.
      .filter(target => !target.startsWith('..'))
      .map(target => ({ path, from: roomOf(path), to: roomOf(target) }))
  )

  it('has every module in the picture', () => {
    expect(crossings.length).toBeGreaterThan(50)
    const names = new Set(crossings.flatMap(({ from, to }) => [from, to]))
    names.delete(name === 'server' ? 'index' : '')
    expect([...names].filter(name => !(name in allowed))).toEqual([])
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
    expect(unlike(findCycles(graph), knotsOfFiles[name])).toEqual({ new: [], gone: [] })
  })

  it('has no folder that imports itself over others, types included', () => {
    const graph = new Map<string, Set<string>>()
    for (const { path, target } of imports) {
      graph.set(dirname(path), (graph.get(dirname(path)) ?? new Set()).add(dirname(target)))
    }
    expect(unlike(findCycles(graph), knotsOfFolders[name])).toEqual({ new: [], gone: [] })
  })

  it('has no folder that imports a folder which it lies in', () => {
    const found = imports
      .map(({ path, target }) => ({ path, target, from: dirname(path), to: dirname(target) }))
      .filter(({ from, to }) => from.startsWith(`${to}/`) || (to === '.' && from !== '.'))
    const usesOf = (way: string) => found.filter(({ from, to }) => `${from} -> ${to}` === way)
    const isMore = ({ from, to }: { from: string; to: string }) =>
      usesOf(`${from} -> ${to}`).length > (importsOfParents[`${from} -> ${to}`] ?? 0)
    expect(found.filter(isMore).map(({ path, target }) => `${path} -> ${target}`)).toEqual([])
    // Worked off: to be taken out of the list.
    expect(Object.keys(importsOfParents).filter(way => usesOf(way).length === 0)).toEqual([])
  })
})

describe('the package of the index', () => {
  const ofIndex = (path: string) => path.startsWith('packages/index/')
  const listed = execFileSync('git', ['ls-files', '--', '*.ts', '*.tsx', '*.mts', '*.js', '*.mjs', '*.cjs'], {
    cwd: root,
    encoding: 'utf8'
  })
  const imports = listed
    .trim()
    .split('\n')
    .filter(path => existsSync(join(root, path)))
    .flatMap(path =>
      ts
        .preProcessFile(readFileSync(join(root, path), 'utf8'), true, true)
        .importedFiles.map(({ fileName }) => ({ path, name: fileName }))
    )
  const relative = imports
    .filter(({ name }) => name.startsWith('.'))
    .map(({ path, name }) => ({ path, target: join(dirname(path), name) }))

  it('is entered through what it exports alone', () => {
    const wrong = relative.filter(({ path, target }) => ofIndex(target) && !ofIndex(path))
    // Node reads the settings of the test runner without the condition under which packages lead to their sources.
    expect(wrong).toEqual([
      { path: '.config/vitest.citus.config.ts', target: 'packages/index/test/support/startCitus.ts' }
    ])
    expect(relative.filter(({ target }) => ofIndex(target)).length).toBeGreaterThan(500)
  })

  it('has entries that only pass on what other files have', () => {
    const { exports } = JSON.parse(readFileSync(join(root, 'packages/index/package.json'), 'utf8')) as {
      readonly exports: Readonly<Record<string, string | { readonly '@chain-data/source': string }>>
    }
    const entries = Object.values(exports).flatMap(entry =>
      typeof entry === 'string' ? [] : [join('packages/index', entry['@chain-data/source'])]
    )
    expect(entries.length).toBeGreaterThan(2)
    for (const path of entries) {
      const { statements } = ts.createSourceFile(
        path,
        readFileSync(join(root, path), 'utf8'),
        ts.ScriptTarget.Latest
      )
      const others = statements.filter(
        statement => !ts.isExportDeclaration(statement) || statement.exportClause === undefined
      )
      expect(others, path).toEqual([])
      expect(relative.filter(({ path: importer, target }) => ofIndex(importer) && target === path)).toEqual(
        []
      )
    }
  })

  it('imports nothing of the other packages', () => {
    const outside = relative.filter(({ path, target }) => ofIndex(path) && !ofIndex(target))
    expect(outside.filter(({ target }) => target !== '.config/patience.ts')).toEqual([])
    const names = imports.filter(({ path, name }) => ofIndex(path) && name.startsWith('@chain-data/'))
    expect(new Set(names.map(({ name }) => name))).toEqual(new Set(['@chain-data/index/package.json']))
  })

  it('needs nothing that the server does not bring in the same version', () => {
    const [index, server] = ['index', 'server'].map(
      name => JSON.parse(readFileSync(join(root, `packages/${name}/package.json`), 'utf8')) as Manifest
    ) as [Manifest, Manifest]
    expect(server.dependencies).toMatchObject(index.dependencies)
    expect(server.peerDependencies).toMatchObject(index.peerDependencies)
  })
})

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
}

/** Knots that are in no known one, and known ones of which nothing is left. */
function unlike(knots: readonly (readonly string[])[], known: readonly (readonly string[])[]) {
  const isPart = (knot: readonly string[], whole: readonly string[]) =>
    knot.every(name => whole.includes(name))
  return {
    new: knots.filter(knot => !known.some(whole => isPart(knot, whole))),
    gone: known.filter(whole => !knots.some(knot => isPart(knot, whole)))
  }
}
