/**
 * Prints the sizes of the server's rooms and how many files its walks run through, and compares both with `limits.ts`.
 *
 * `npm run house` measures everything, `npm run house -- sizes` and `npm run house -- walks` one half.
 */
import { parseArgs } from 'node:util'
import { type Figures, findExcesses, limits } from './limits.ts'
import { measureSizes } from './measureSizes.ts'

const {
  positionals: [only]
} = parseArgs({ allowPositionals: true })

const measures: Readonly<Record<'sizes' | 'walks', () => Figures | Promise<Figures>>> = {
  sizes: measureSizes,
  // Imported on demand: it loads the server and a node.
  walks: async () => (await import('./measureWalks.ts')).measureWalks()
}

for (const part of ['sizes', 'walks'] as const) {
  if (only !== undefined && only !== part) continue
  const figures = await measures[part]()
  print(figures, limits[part])
  for (const excess of findExcesses(figures, limits[part])) {
    process.stdout.write(`FAIL ${excess}\n`)
    process.exitCode = 1
  }
}
if (process.exitCode === 1)
  process.stdout.write('Make it smaller, or change the limit in packages/server/test/house/limits.ts.\n')

function print(figures: Figures, limits: Figures): void {
  const row = (name: string, ...cells: readonly unknown[]) =>
    `${name.padEnd(42)}${cells.map(cell => String(cell ?? '').padStart(8)).join('')}\n`
  process.stdout.write(row('', 'now', 'limit'))
  for (const [name, value] of Object.entries(figures)) process.stdout.write(row(name, value, limits[name]))
}
