/**
 * Prints how large the server is and how far its walks go, and holds both to `ledger.json`.
 *
 * - `npm run house`: everything; `npm run house -- sizes` and `npm run house -- walks`: one half.
 * - `npm run house -- --write`: takes smaller figures into the ledger as well.
 * - `npm run house -- --write --why '<reason>'`: takes larger ones too.
 */
import { parseArgs } from 'node:util'
import { compare, type Entries, type Figures, readLedger, update, writeLedger } from './ledger.ts'
import { measureSizes } from './measureSizes.ts'

const { values, positionals } = parseArgs({
  options: { write: { type: 'boolean', default: false }, why: { type: 'string', default: '' } },
  allowPositionals: true
})
const [only] = positionals

const measures: Readonly<Record<'sizes' | 'walks', () => Figures | Promise<Figures>>> = {
  sizes: measureSizes,
  // Loads the server and a node.
  walks: async () => (await import('./measureWalks.ts')).measureWalks()
}

let ledger = readLedger()
for (const part of ['sizes', 'walks'] as const) {
  if (only !== undefined && only !== part) continue
  const figures = await measures[part]()
  if (values.write) {
    ledger = { ...ledger, [part]: update(figures, ledger[part], values.why) }
    writeLedger(ledger)
  }
  print(figures, ledger[part])
  const problems = compare(figures, ledger[part])
  for (const problem of problems) process.stdout.write(`FAIL ${problem}\n`)
  if (problems.length > 0) process.exitCode = 1
}
if (process.exitCode === 1)
  process.stdout.write("Make it smaller, or raise the ledger: npm run house -- --write --why '<reason>'\n")

function print(figures: Figures, entries: Entries): void {
  const cells = (name: string, ...numbers: readonly unknown[]) =>
    `${name.padEnd(42)}${numbers.map(number => String(number ?? '').padStart(8)).join('')}\n`
  process.stdout.write(cells('', 'now', 'ledger', 'aim'))
  for (const [name, value] of Object.entries(figures))
    process.stdout.write(cells(name, value, entries[name]?.limit, entries[name]?.aim))
}
