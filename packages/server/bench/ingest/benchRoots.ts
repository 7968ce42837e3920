import { formatSpread } from '../http/spread.ts'
import { detailRatio } from './compareRates.ts'
import { createOurs } from './contestants.ts'
import { fillInTurn } from './fillInTurn.ts'

/** Senders are dear: less of the chain is enough. */
const lastBlock = 300

/** Chain settings by name; a chain without a preset counts as encoded like Ethereum, so that all parts are recomputed. */
const settings = {
  'nothing held against headers': { verify: 'basic' },
  'header, receipts, withdrawals': { verify: 'roots', dev: true },
  'all parts, senders included': { verify: 'roots', dev: false, preset: false }
}

/** Fills SQLite indexes with blocks that are held against their headers, and with blocks that are not, in turn. */
export async function benchRoots(print: (line: string) => void): Promise<object> {
  const [plain, ...held] = await fillInTurn(
    print,
    (node, openStore) =>
      Object.entries(settings).map(([name, chain]) => createOurs(name, node, openStore, { chain })),
    lastBlock
  )
  const figures: Record<string, unknown> = {}
  for (const one of held) {
    for (const what of ['cpuMicrosPerTransaction', 'seconds']) {
      const of = detailRatio(one, plain, what)
      figures[`${one.name}: ${what}`] = of
      print(`  ${one.name}: ${what} against nothing ${formatSpread(of, 2)}`)
    }
  }
  return figures
}
