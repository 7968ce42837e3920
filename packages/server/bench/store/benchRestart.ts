import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Hash, openStoreWriter } from '@chain-data/index'
import { packBlocks } from '@chain-data/index/record'
import { askUntilAnswered } from '../http/askUntilAnswered.ts'
import type { Listening } from '../http/messages.ts'
import { formatSpread, spread } from '../http/spread.ts'
import { startChild } from '../http/startChild.ts'
import { chainFigures as nodeFigures } from '../ingest/planChain.ts'
import type { RecordedPlace } from '../ingest/recording.ts'
import { emptyBlocks, prepareEmptyChain } from '../remote/emptyChain.ts'
import { accountAddress, chainFigures, createSyntheticChain } from './syntheticChain.ts'

const { chainId } = nodeFigures
const starts = 5
/** They have as many transactions as blocks of a busy chain, the older ones the rest: there are few blocks. */
const newestBlocks = 300
const transactionsPerCommit = 4_000
const goalMs = 2_000

/** Starts a whole server over a large index again and again; README.md beside this file says what is timed. */
export async function benchRestart(print: (line: string) => void, transactions: number): Promise<object> {
  const recording = await prepareEmptyChain(print)
  const folder = mkdtempSync(join(tmpdir(), 'chain-data-bench-restart-'))
  const node = startChild('../remote/serveRemote.ts', [recording, String(emptyBlocks), '0', '0'])
  try {
    await fill(folder, recording, transactions, print)
    const { url: nodeUrl } = (await node.first) as Listening
    const answeredMs: number[] = []
    const readyMs: number[] = []
    for (let start = 0; start < starts; start++) {
      const startedMs = performance.now()
      const server = startChild('../soak/serveSoak.ts', [nodeUrl, String(chainId), folder])
      try {
        const { url } = (await server.first) as Listening
        readyMs.push(performance.now() - startedMs)
        await askUntilAnswered(url, chainId, accountAddress(10 + start))
        answeredMs.push(performance.now() - startedMs)
      } finally {
        await server.stop()
      }
    }
    const found = { readyMs: spread(readyMs), answeredMs: spread(answeredMs) }
    print(
      `  ${transactions} transactions, ${starts} starts, milliseconds from the start of the process: median (least-most)`
    )
    print(`  it listens: ${formatSpread(found.readyMs)}`)
    print(`  first page answered: ${formatSpread(found.answeredMs)} (goal: at most ${goalMs})`)
    return { transactions, starts, ...found }
  } finally {
    await node.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Writes the synthetic chain under the hashes of the node's blocks, so that a server finds its index level with the node. */
async function fill(
  folder: string,
  recording: string,
  transactions: number,
  print: (line: string) => void
): Promise<void> {
  const places = JSON.parse(readFileSync(`${recording}/places.json`, 'utf8')) as readonly RecordedPlace[]
  const hashOf = (number: number) => (places[number]?.hash ?? `0x${'0'.repeat(64)}`) as Hash
  const olderBlocks = emptyBlocks + 1 - newestBlocks
  const newest = newestBlocks * chainFigures.transactionsPerBlock
  const ofOlder = Math.ceil((transactions - newest) / olderBlocks)
  const chain = createSyntheticChain(hashOf)
  const blocksPerCommit = Math.ceil(transactionsPerCommit / ofOlder)
  const writer = await openStoreWriter({ kind: 'sqlite', folder }, { chainId, genesisHash: hashOf(0) })
  for (let number = 0; number <= emptyBlocks; number += blocksPerCommit) {
    const count = Math.min(blocksPerCommit, emptyBlocks + 1 - number)
    const blocks = Array.from({ length: count }, (_, i) =>
      chain.block(number + i < olderBlocks ? ofOlder : chainFigures.transactionsPerBlock)
    )
    await writer.commitBlocks(packBlocks(blocks), { finalized: Math.max(0, number - 64) })
    if ((number / blocksPerCommit) % 500 === 499) print(`  block ${number} of ${emptyBlocks}`)
  }
  await writer.markBackfilled()
  await writer.close()
}
