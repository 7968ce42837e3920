import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildChain, commitChain, hashOf, openSqliteWriter } from '@chain-data/index/test'
import { accountAt, chainId, datasetFigures, prepareDataset } from '../http/dataset.ts'
import type { Listening, LoadFigures, LoadOrder, Usage } from '../http/messages.ts'
import { formatSpread, spread } from '../http/spread.ts'
import { type Child, startChild } from '../http/startChild.ts'
import type { StreamCounts, StreamOrder } from './holdStreams.ts'

/** Of the data set of `../http`, a smaller one. */
const dataset = { ...datasetFigures, ofWhale: 2_000, ofAccounts: 60_000, accounts: 10_000 }
const streams = 1_000
const addressesEach = 10
const rounds = 3
const [warmUpMs, measureMs] = [1_000, 5_000]
const blockEveryMs = 1_000
/** Of each block, each between two watched accounts. */
const transactionsEach = 100
const MiB = 2 ** 20

/** Memory of 10,000 addresses over 1,000 streams, and pages beside them, in turns with pages alone; README.md beside this file says how. */
export async function benchStreams(print: (line: string) => void): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), 'chain-data-bench-streams-'))
  cpSync(await prepareDataset(print, dataset), folder, { recursive: true })
  const writer = await openSqliteWriter(folder, { chainId, genesisHash: hashOf('genesis') })
  await writer.markSettled()
  const server = startChild('serveHistory.ts', [folder], 0)
  const generator = startChild('generateLoad.ts', [], 1)
  let commits: Commits | undefined
  try {
    const { url } = (await server.first) as Listening
    const callers = startChild('../streams/holdStreams.ts', [url], 1)
    await callers.first
    commits = beginCommits(writer)
    // Until compiled code is as it stays.
    await askPages(generator, url)
    const results = []
    for (let round = 0; round < rounds; round++) {
      const alone = await askPages(generator, url)
      const idle = await restingMiB(server)
      await callers.ask<StreamCounts>({ bodies: orderBodies() } satisfies StreamOrder)
      await sleep(3_000)
      const grownMiB = (await restingMiB(server)) - idle
      const before = await callers.ask<StreamCounts>('counts')
      const expected = commits.events()
      const beside = await askPages(generator, url)
      await sleep(500)
      const { events, open } = await callers.ask<StreamCounts>('counts')
      const told = (events - before.events) / Math.max(1, commits.events() - expected)
      await callers.ask('release')
      await sleep(2_000)
      results.push({ alone, beside, grownMiB, ratio: beside / alone, open, told })
      print(
        `  ${open} streams of ${addressesEach} addresses: memory grew by ${grownMiB.toFixed(0)} MiB, pages ${Math.round(alone)}/s alone and ${Math.round(beside)}/s beside them, ${told.toFixed(2)} of the events came`
      )
    }
    print(
      `  memory above idle ${formatSpread(spread(results.map(({ grownMiB }) => grownMiB)))} MiB (goal: at most 100), pages beside them ${formatSpread(spread(results.map(({ ratio }) => ratio)), 2)} of their rate alone (goal: at least 0.9)`
    )
    await callers.stop()
    return { streams, addressesEach, blockEveryMs, transactionsEach, rounds: results }
  } finally {
    await commits?.stop()
    await Promise.all([server.stop(), generator.stop()])
    await writer.close()
    rmSync(folder, { recursive: true })
  }
}

function orderBodies(): readonly string[] {
  return Array.from({ length: streams }, (_, stream) => {
    const addresses = Array.from({ length: addressesEach }, (_each, at) =>
      accountAt(stream * addressesEach + at)
    )
    return JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'svc_watchAddresses',
      chainId,
      params: [addresses]
    })
  })
}

interface Commits {
  /** Events that were committed so far: one for each stream that watches a party. */
  events(): number
  stop(): Promise<void>
}

/** Commits a block each second, pages and streams or not, as a chain does. */
function beginCommits(writer: Awaited<ReturnType<typeof openSqliteWriter>>): Commits {
  let [isOver, count, events] = [false, 0, 0]
  const run = async () => {
    while (!isOver) {
      const { head } = await writer.state()
      const plan = Array.from({ length: transactionsEach }, () => {
        const number = count++
        const of = (offset: number) => accountAt((number * 37 + offset) % (streams * addressesEach))
        // Two streams: the accounts of one are next to each other.
        return { name: `live ${number}`, parties: [of(0), of(5_000)] }
      })
      await commitChain(writer, buildChain([plan], head === undefined ? {} : { parent: head }))
      events += 2 * transactionsEach
      await sleep(blockEveryMs)
    }
  }
  const running = run()
  return {
    events: () => events,
    async stop() {
      isOver = true
      await running
    }
  }
}

async function askPages(generator: Child, url: string): Promise<number> {
  const bodies = Array.from({ length: 500 }, (_, index) =>
    JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'svc_getTransactionsByAddress', chainId },
      params: [accountAt(index * 20), { limit: 100 }]
    })
  )
  const order: LoadOrder = { url, bodies, arrivals: { kind: 'closed' }, connections: 16, warmUpMs, measureMs }
  return (await generator.ask<LoadFigures>(order)).perSecond
}

/** The least of some looks, so that garbage that is to be collected counts for little. */
async function restingMiB(server: Child): Promise<number> {
  const looks: number[] = []
  for (let look = 0; look < 10; look++) {
    looks.push((await server.ask<Usage>('usage')).rssBytes / MiB)
    await sleep(200)
  }
  return Math.min(...looks)
}
