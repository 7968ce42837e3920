import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Listening } from '../http/messages.ts'
import { startChild } from '../http/startChild.ts'
import { describeNode } from './benchIngest.ts'
import { type Compared, type Contestant, compareRates } from './compareRates.ts'
import { type Node, openFolder } from './contestants.ts'
import { prepareRecording } from './prepareRecording.ts'

const rounds = 3

/**
 * Fills indexes from the recorded chain, three rounds in which all take turns.
 *
 * @param contestantsOf - what is compared; `openStore` makes an empty SQLite index.
 * @param lastBlock - how much of the chain; absent: all of it.
 * @returns in the order of the contestants.
 */
export async function fillInTurn(
  print: (line: string) => void,
  contestantsOf: (node: Node, openStore: ReturnType<typeof openFolder>) => readonly Contestant[],
  lastBlock?: number
): Promise<readonly Compared[]> {
  const recording = await prepareRecording(print)
  const upTo = lastBlock === undefined ? [] : [String(lastBlock)]
  const replay = startChild('../ingest/serveRecording.ts', [recording, ...upTo])
  const temporary = mkdtempSync(join(tmpdir(), 'chain-data-bench-'))
  try {
    const { url } = (await replay.first) as Listening
    const node = await describeNode(url)
    return await compareRates(contestantsOf(node, openFolder(temporary)), rounds, print)
  } finally {
    await replay.stop()
    rmSync(temporary, { recursive: true, force: true })
  }
}
