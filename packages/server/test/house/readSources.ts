import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/** Folder of the server's sources, as an absolute path. */
const sourceFolder = fileURLToPath(new URL('../../src', import.meta.url))

/** One file of `packages/server/src`. */
export interface SourceFile {
  /** Relative to `src`, with slashes: `index/port/store.ts`. */
  readonly path: string
  readonly text: string
  /** As `wc -l` counts them. */
  readonly lines: number
  /** Source files that it imports, types included, or starts as a thread by their URL; each once. */
  readonly imports: readonly string[]
}

/**
 * Reads the source files of the server, in the order of their paths. Left out: tests, their helpers and contract suites,
 * benchmarks and generated files.
 */
export function readSources(): SourceFile[] {
  return readFiles().filter(({ path }) => !/\.(test-d|contract|bench|gen)\.ts$|(^|\/)test\//.test(path))
}

/** Reads all files of the server but tests and benchmarks, so with what only tests use. */
export function readFiles(): SourceFile[] {
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
  return [...new Set(relative.map(name => posix.join(posix.dirname(path), name)))]
}

/** Returns the files that a bundle or a thread begins with, which nothing has to import: the entries of `tsup.config.ts`. */
export function readEntries(): Set<string> {
  const config = readFileSync(new URL('../../tsup.config.ts', import.meta.url), 'utf8')
  return new Set([...config.matchAll(/'src\/([^']+\.ts)'/g)].map(([, path = '']) => path))
}

/** Returns the room that a file is in, or the module of the room `server`: `evm`, `server/http`. */
export function roomOf(path: string): string {
  const [room = '', module, inside] = path.split('/')
  return room === 'server' && inside !== undefined ? `server/${module}` : room
}
