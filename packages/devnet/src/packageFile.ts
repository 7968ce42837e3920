import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const require = createRequire(import.meta.url)
const packageRoot = dirname(require.resolve('@chain-data/devnet/package.json'))

/**
 * Path of a file of this package, whether it runs from `src` or from the bundled `dist`.
 *
 * @param source - Path of a TypeScript file below `src`, or of any other file below the package root.
 * @returns For `src/x.ts` the bundled `dist/x.js` when this code itself runs from `dist`.
 */
export function packageFile(source: string): string {
  const runsFromSource = import.meta.url.endsWith('.ts')
  if (runsFromSource || !source.startsWith('src/')) return join(packageRoot, source)
  return join(packageRoot, source.replace(/^src\//, 'dist/').replace(/\.ts$/, '.js'))
}
