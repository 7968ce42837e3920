import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/** The packages that are measured: the server and its index. */
export type PackageName = 'server' | 'index'

/** Folder of a package's sources, as an absolute path. */
const sourcesOf = (name: PackageName) => fileURLToPath(new URL(`../../../${name}/src`, import.meta.url))

/** One file of `packages/<name>/src`. */
export interface SourceFile {
  /** Relative to `src`, with slashes: `evm/blocks/blocks.ts`. */
  readonly path: string
  readonly text: string
  /** As `wc -l` counts them. */
  readonly lines: number
  /**
   * Source files that it imports, types included, or starts as a thread by their URL; each once. What the server imports of the
   * package `@chain-data/index` is the file where it is written, such as `@chain-data/index/port/store.ts`.
   */
  readonly imports: readonly string[]
}

/**
 * Reads the source files of a package, in the order of their paths. Left out: tests, their helpers and contract suites,
 * benchmarks and generated files.
 */
export function readSources(name: PackageName = 'server'): SourceFile[] {
  return readFiles(name).filter(({ path }) => !/\.(test-d|contract|bench|gen)\.ts$|(^|\/)test\//.test(path))
}

/** Reads all files of a package but tests and benchmarks, so with what only tests use. */
export function readFiles(name: PackageName = 'server'): SourceFile[] {
  const sourceFolder = sourcesOf(name)
  return readdirSync(sourceFolder, { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.ts') && !/\.(test|bench)\.ts$/.test(path))
    .sort()
    .map(path => {
      const text = readFileSync(join(sourceFolder, path), 'utf8')
      return { path, text, lines: text.split('\n').length - 1, imports: importsOf(path, text) }
    })
}

/** Returns the relative imports of a file, resolved against `src`; paths outside of `src` begin with `..`. */
function importsOf(path: string, text: string): string[] {
  const imported = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName)
  const started = [...text.matchAll(/new URL\(\s*'([^']+\.ts)',\s*import\.meta\.url/g)].map(
    ([, name = '']) => name
  )
  const relative = [...imported, ...started].filter(name => name.startsWith('.'))
  const files = relative.map(name => posix.join(posix.dirname(path), name))
  return [...new Set([...files, ...importsOfIndex(path, text)])]
}

/** Returns the files of the index that a file imports by the names of the package. */
function importsOfIndex(path: string, text: string): string[] {
  if (!text.includes("'@chain-data/index")) return []
  return namedIn(path, text)
    .filter(({ from }) => /^@chain-data\/index(\/\w+)?$/.test(from))
    .map(({ from, names }) => ({ names, entry: entries.get(from) }))
    .flatMap(({ names, entry }) => names.map(name => `@chain-data/index/${entry?.get(name) ?? 'index.ts'}`))
}

/** What is imported, or exported, from where. */
function namedIn(path: string, text: string): { readonly from: string; readonly names: readonly string[] }[] {
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest).statements.flatMap(statement => {
    const isOne = ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement)
    if (!isOne || !statement.moduleSpecifier || !ts.isStringLiteral(statement.moduleSpecifier)) return []
    const list = ts.isImportDeclaration(statement)
      ? statement.importClause?.namedBindings
      : statement.exportClause
    const isNamed = list !== undefined && (ts.isNamedImports(list) || ts.isNamedExports(list))
    // The name by which it is known where it comes from, or goes to.
    const nameOf = ({ name, propertyName }: ts.ImportSpecifier | ts.ExportSpecifier) =>
      ts.isImportDeclaration(statement) ? (propertyName ?? name).text : name.text
    return [{ from: statement.moduleSpecifier.text, names: isNamed ? list.elements.map(nameOf) : [''] }]
  })
}

/** The entries of the index that the server is made with: where each name is written. */
const entries: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map(
  [['@chain-data/index', 'index.ts'] as const, ['@chain-data/index/record', 'record.ts'] as const].map(
    ([name, file]) => {
      const text = readFileSync(join(sourcesOf('index'), file), 'utf8')
      const named = namedIn(file, text).flatMap(({ from, names }) =>
        names.map(each => [each, posix.join(from)] as const)
      )
      return [name, new Map(named)]
    }
  )
)

/** Returns the files that a bundle or a thread begins with, which nothing has to import: the entries of `tsup.config.ts`. */
export function readEntries(): Set<string> {
  const config = readFileSync(new URL('../../tsup.config.ts', import.meta.url), 'utf8')
  return new Set([...config.matchAll(/'src\/([^']+\.ts)'/g)].map(([, path = '']) => path))
}

/**
 * Returns the room that a file is in, or the module of the rooms `server` and `features`: `evm`, `server/http`,
 * `features/certificates`. `index` is the package; what everyone may use of it is in its `model` and `platform`.
 */
export function roomOf(path: string): string {
  const [, ofIndex] = /^@chain-data\/index\/(\w+)/.exec(path) ?? []
  if (ofIndex !== undefined) return ofIndex === 'model' || ofIndex === 'platform' ? ofIndex : 'index'
  const [settings] = /^features\/\w+\/settings(?=\/)/.exec(path) ?? []
  if (settings !== undefined) return settings
  const [room = '', module, inside] = path.split('/')
  return ['server', 'features'].includes(room) && inside !== undefined ? `${room}/${module}` : room
}
