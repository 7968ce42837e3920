import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const repository = fileURLToPath(new URL('../../../..', import.meta.url))
const sources = ['packages/*/src/**/*.{ts,tsx}', 'examples/**/*.{ts,tsx}']
const skipped = /(^|\/)(node_modules|dist|test)$|\.(test|test-d|contract|bench|gen)\.tsx?$/

/**
 * Finds the functions that have more lines than `maxLines`, in the sources of all packages and examples. Left out: tests and
 * contract suites, benchmarks and generated files.
 *
 * @returns each as `<path>: <name>`, in the order of their paths.
 */
export function findLongFunctions(maxLines: number): string[] {
  return globSync(sources, { cwd: repository, exclude: path => skipped.test(path) })
    .sort()
    .flatMap(path => {
      const text = readFileSync(join(repository, path), 'utf8')
      return longFunctionsIn(path, text, maxLines).map(name => `${path}: ${name}`)
    })
}

/** Returns the names of the functions of one file that have more lines than `maxLines`. */
export function longFunctionsIn(path: string, text: string, maxLines: number): string[] {
  // Most files are shorter than that as a whole.
  if (text.split('\n').length <= maxLines) return []
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && linesOf(node, file) > maxLines) {
      found.push(node.name?.getText(file) ?? 'anonymous')
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

function linesOf(node: ts.Node, file: ts.SourceFile): number {
  const lineAt = (position: number) => file.getLineAndCharacterOfPosition(position).line
  return lineAt(node.end) - lineAt(node.getStart(file)) + 1
}
