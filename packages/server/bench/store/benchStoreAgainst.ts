import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startPostgres } from '@chain-data/index/test'
import { formatSpread, spread } from '../http/spread.ts'
import { type Engine, engines, postgresSettings } from './stores.ts'

const transactions = 300_000
const rounds = 3
const script = fileURLToPath(new URL('storeOnce.ts', import.meta.url))
const here = fileURLToPath(new URL('../../../..', import.meta.url))
const run = promisify(execFile)

type Figures = Readonly<Record<string, number>>

/**
 * Fills stores with this checkout and with another one in turn, and reads pages of them.
 * @param other - the root of the other checkout, with its packages installed and `packages/index`.
 * @returns for each engine and figure the other's value by this one's: above 1 where this checkout takes less.
 */
export async function benchStoreAgainst(
  other: string,
  print: (line: string) => void
): Promise<Partial<Record<Engine, object>>> {
  const results: Partial<Record<Engine, object>> = {}
  for (const engine of engines) {
    const pairs: (readonly [Figures, Figures])[] = []
    for (let round = 0; round < rounds; round++) {
      pairs.push([await measure(engine, other), await measure(engine, here)])
    }
    const [first] = pairs
    results[engine] = Object.fromEntries(
      Object.keys(first?.[1] ?? {}).map(name => {
        const values = pairs.map(([theirs, ours]) => (theirs[name] ?? 0) / (ours[name] ?? 0))
        const last = pairs.at(-1)
        const [theirs, ours] = [last?.[0][name] ?? 0, last?.[1][name] ?? 0]
        print(
          `  ${engine} ${name.padEnd(14)} ${formatSpread(spread(values), 2)}   last: ${theirs.toFixed(1)} / ${ours.toFixed(1)}`
        )
        return [name, spread(values)]
      })
    )
  }
  return results
}

async function measure(engine: Engine, root: string): Promise<Figures> {
  const server = engine === 'postgres' ? await startPostgres({ settings: postgresSettings }) : undefined
  try {
    const place = server === undefined ? 'sqlite' : await server.createDatabase()
    const conditions = '--conditions=@chain-data/source'
    const { stdout } = await run(process.execPath, [conditions, script, root, place, String(transactions)], {
      cwd: root
    })
    return JSON.parse(stdout) as Figures
  } finally {
    await server?.stop()
  }
}
