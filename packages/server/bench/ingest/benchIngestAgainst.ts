import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Listening } from '../http/messages.ts'
import { formatSpread, type Spread, spread } from '../http/spread.ts'
import { startChild } from '../http/startChild.ts'
import { describeNode } from './benchIngest.ts'
import { type Compared, compareRates } from './compareRates.ts'
import { createOurs, type Node, openFolder } from './contestants.ts'
import { planChain } from './planChain.ts'
import { playChain } from './playChain.ts'
import { prepareRecording } from './prepareRecording.ts'
import { readTransactions } from './recording.ts'
import { startBenchAnvil } from './startBenchAnvil.ts'

const rounds = 5
const liveBlocks = 150

/**
 * Fills SQLite indexes with this checkout and with another one in turn, from a recorded chain and from an anvil.
 * @param other - the root of the other checkout, with its packages installed.
 * @returns ratios of this one to the other: processor time and duration, below 1 where this one takes less.
 */
export async function benchIngestAgainst(other: string, print: (line: string) => void): Promise<object> {
  const recording = await prepareRecording(print)
  const replay = startChild('../ingest/serveRecording.ts', [recording])
  const anvil = await startBenchAnvil()
  try {
    await playChain(anvil.url, planChain(), readTransactions(recording, liveBlocks - 1))
    print('  recorded bytes')
    const { url } = (await replay.first) as Listening
    const replayed = await compareCheckouts(await describeNode(url), other, print)
    print('  anvil')
    return { replayed, live: await compareCheckouts(await describeNode(anvil.url), other, print) }
  } finally {
    await replay.stop()
    await anvil.stop()
  }
}

async function compareCheckouts(
  node: Node,
  other: string,
  print: (line: string) => void
): Promise<Readonly<Record<string, Spread>>> {
  const temporary = mkdtempSync(join(tmpdir(), 'chain-data-bench-'))
  const script = 'packages/server/bench/ingest/ingestOnce.ts'
  try {
    const [former, current] = await compareRates(
      [
        createOurs('other', node, openFolder(temporary), { script: pathToFileURL(join(other, script)).href }),
        createOurs('this', node, openFolder(temporary))
      ],
      rounds,
      print
    )
    const ratios = {
      cpu: ratioOf('cpuMicrosPerTransaction', current, former),
      seconds: ratioOf('seconds', current, former)
    }
    for (const [what, of] of Object.entries(ratios)) print(`  ${what}, this / other: ${formatSpread(of, 2)}`)
    return ratios
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

function ratioOf(detail: string, one: Compared | undefined, other: Compared | undefined): Spread {
  const detailOf = (compared: Compared | undefined, round: number) =>
    compared?.runs[round]?.details[detail] ?? Number.NaN
  return spread(Array.from({ length: rounds }, (_, round) => detailOf(one, round) / detailOf(other, round)))
}
