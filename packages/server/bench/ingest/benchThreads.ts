import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Listening } from '../http/messages.ts'
import { formatSpread, spread } from '../http/spread.ts'
import { startChild } from '../http/startChild.ts'
import { describeNode } from './benchIngest.ts'
import { type Compared, compareRates, ratio } from './compareRates.ts'
import { createOurs, openFolder } from './contestants.ts'
import { prepareRecording } from './prepareRecording.ts'

const rounds = 3

/** Fills SQLite indexes from the recording with 0, 1 and 2 threads that decode, in turn. */
export async function benchThreads(print: (line: string) => void): Promise<object> {
  const recording = await prepareRecording(print)
  const replay = startChild('../ingest/serveRecording.ts', [recording])
  const temporary = mkdtempSync(join(tmpdir(), 'chain-data-bench-'))
  try {
    const { url } = (await replay.first) as Listening
    const node = await describeNode(url)
    const contestants = [0, 1, 2].map(threads =>
      createOurs(`${threads} threads`, node, openFolder(temporary), { threads })
    )
    const [none, one, two] = await compareRates(contestants, rounds, print)
    const figures = {
      'rate, 1 thread / 0': ratio(one, none),
      'rate, 2 threads / 1': ratio(two, one),
      'largest share of the decoding, 2 threads': largestShare(two)
    }
    for (const [what, of] of Object.entries(figures)) print(`  ${what}: ${formatSpread(of, 2)}`)
    return figures
  } finally {
    await replay.stop()
    rmSync(temporary, { recursive: true, force: true })
  }
}

/** Returns the share that the busiest thread has of the processor time of all threads that decode. */
function largestShare(compared: Compared | undefined) {
  return spread(
    (compared?.runs ?? []).map(({ details }) => {
      const times = Object.entries(details).flatMap(([name, time]) => (/^decoder/.test(name) ? [time] : []))
      return Math.max(...times) / times.reduce((sum, time) => sum + time, 0)
    })
  )
}
