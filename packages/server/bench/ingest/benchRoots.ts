import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Listening } from '../http/messages.ts'
import { formatSpread, spread } from '../http/spread.ts'
import { startChild } from '../http/startChild.ts'
import { describeNode } from './benchIngest.ts'
import { compareRates } from './compareRates.ts'
import { createOurs, openFolder } from './contestants.ts'
import { prepareRecording } from './prepareRecording.ts'

const rounds = 3
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
  const recording = await prepareRecording(print)
  const replay = startChild('../ingest/serveRecording.ts', [recording, String(lastBlock)])
  const temporary = mkdtempSync(join(tmpdir(), 'chain-data-bench-'))
  try {
    const { url } = (await replay.first) as Listening
    const node = await describeNode(url)
    const contestants = Object.entries(settings).map(([name, chain]) =>
      createOurs(name, node, openFolder(temporary), { chain })
    )
    const [plain, ...held] = await compareRates(contestants, rounds, print)
    const figures: Record<string, unknown> = {}
    for (const { name, runs } of held) {
      for (const what of ['cpuMicrosPerTransaction', 'seconds']) {
        const of = spread(
          runs.map(
            ({ details }, round) =>
              (details[what] ?? Number.NaN) / (plain?.runs[round]?.details[what] ?? Number.NaN)
          )
        )
        figures[`${name}: ${what}`] = of
        print(`  ${name}: ${what} against nothing ${formatSpread(of, 2)}`)
      }
    }
    return figures
  } finally {
    await replay.stop()
    rmSync(temporary, { recursive: true, force: true })
  }
}
