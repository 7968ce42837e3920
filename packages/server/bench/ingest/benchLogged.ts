import { startPostgres } from '@chain-data/index/test'
import { formatSpread } from '../http/spread.ts'
import { durable } from './benchIngest.ts'
import { detailRatio } from './compareRates.ts'
import { createOurs } from './contestants.ts'
import { createDatabases } from './createDatabases.ts'
import { fillInTurn } from './fillInTurn.ts'

/** So many a new index reads upwards, as a chain that it follows; older ones are added below it and never logged. */
const lastBlock = 256
/** The log cannot be switched off: 64 is the least that it holds. */
const settings = {
  'all blocks logged': { history: { changeLogBlocks: 10_000 } },
  'the newest 64 logged': { history: { changeLogBlocks: 64 } }
}

/** Fills indexes whose log of changes holds every block, and such whose log holds a quarter of them, in turn, over both stores. */
export async function benchLogged(print: (line: string) => void): Promise<object> {
  const postgres = await startPostgres({ settings: durable })
  try {
    const compared = await fillInTurn(
      print,
      (node, openFolder) =>
        Object.entries({ SQLite: openFolder, PostgreSQL: createDatabases(postgres) }).flatMap(
          ([engine, openStore]) =>
            Object.entries(settings).map(([name, server]) =>
              createOurs(`${engine}, ${name}`, node, openStore, { server })
            )
        ),
      lastBlock
    )
    const figures: Record<string, unknown> = {}
    for (const [index, engine] of ['SQLite', 'PostgreSQL'].entries()) {
      const [all, few] = compared.slice(2 * index)
      for (const what of ['cpuMicrosPerTransaction', 'seconds', 'bytesPerTransaction']) {
        const of = detailRatio(all, few, what)
        figures[`${engine}: ${what}`] = of
        print(`  ${engine}: ${what}, all logged against a quarter ${formatSpread(of, 2)}`)
      }
    }
    return figures
  } finally {
    await postgres.stop()
  }
}
