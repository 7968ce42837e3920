import type { Figures } from './limits.ts'
import { type PackageName, readEntries, readSources, roomOf, type SourceFile } from './readSources.ts'

/** A file of so many lines is a long one. Nine files in ten stay below. */
const longFile = 200

/**
 * Measures the source files of the server and of the index: lines in all and of each room, files, long files, and files that
 * only one file imports.
 */
export function measureSizes(): Figures {
  const ofIndex = Object.entries(measurePackage('index')).map(([name, value]) => [`index: ${name}`, value])
  const core = [...readSources('server'), ...readSources('index')].filter(isCore)
  return {
    'core, lines': linesOf(core),
    'core, lines of code': core.reduce((sum, { text }) => sum + linesOfCode(text), 0),
    ...measurePackage('server'),
    ...Object.fromEntries(ofIndex)
  }
}

/** Features can be left out of a server, and so can an engine. */
function isCore({ path }: SourceFile): boolean {
  return !/^(features\/\w+|postgres)\//.test(path)
}

function measurePackage(name: PackageName): Figures {
  const files = readSources(name)
  // Beside its rooms the index has entries, and files that choose the engine.
  const roomIn = (path: string) => (name === 'index' && !path.includes('/') ? 'own files' : roomOf(path))
  const rooms = [...new Set(files.map(({ path }) => roomIn(path)))]
  const long = files.filter(({ lines }) => lines >= longFile).length
  return {
    'all, lines': linesOf(files),
    'all, files': files.length,
    'all, files with one importer': filesWithOneImporter(files).length,
    [`all, percent of files from ${longFile} lines`]: Math.round((1_000 * long) / files.length) / 10,
    ...Object.fromEntries(
      rooms.map(room => [`${room}, lines`, linesOf(files.filter(({ path }) => roomIn(path) === room))])
    )
  }
}

/** Counts the lines of a file that are neither blank nor comment. */
function linesOfCode(text: string): number {
  return text.split('\n').filter(line => !/^\s*(\/\/|\/?\*|$)/.test(line)).length
}

function linesOf(files: readonly SourceFile[]): number {
  return files.reduce((sum, { lines }) => sum + lines, 0)
}

/** Returns the files that could lie in the only file that imports them. Entries are started from outside as well. */
function filesWithOneImporter(files: readonly SourceFile[]): SourceFile[] {
  const entries = readEntries()
  const importers = new Map<string, number>()
  for (const path of files.flatMap(({ imports }) => imports))
    importers.set(path, (importers.get(path) ?? 0) + 1)
  return files.filter(({ path }) => importers.get(path) === 1 && !entries.has(path))
}
