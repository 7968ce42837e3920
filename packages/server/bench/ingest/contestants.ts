import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Child, startChild } from '../http/startChild.ts'
import type { Contestant, Outcome } from './compareRates.ts'
import type { RunStore } from './createDatabases.ts'
import type { IngestFigures, ReadFigures, ReadOrder } from './ingestMessages.ts'
import { chainFigures, transactionsUpTo } from './planChain.ts'
import { type PonderOrder, runPonder } from './runPonder.ts'

/** Some 6 in 100 transactions of the chain fail. */
const mostFailed = 0.1

/** The node that all read from, and how far. */
export interface Node {
  readonly url: string
  readonly lastBlock: number
  /** Hash of `lastBlock`. */
  readonly lastHash: string
  /** Transfer events up to and with `lastBlock`. */
  readonly transfers: number
  /** Processor time that it has used itself; absent where it does not tell. */
  cpuMs?(): Promise<number>
}

/**
 * The ceiling: a process that reads and parses, in the way and with the concurrency that are fastest on this node.
 * @param trialBlocks - so many are read in each way to find that out, which warms it up too.
 */
export async function createCeiling(
  node: Node,
  trialBlocks: number,
  print: (line: string) => void
): Promise<{ readonly contestant: Contestant; readonly child: Child }> {
  const { url, lastBlock } = node
  const child = startChild('../ingest/readBlocks.ts', [])
  let best = { way: 'fetch' as ReadOrder['way'], concurrency: 1, rate: 0 }
  for (const way of ['fetch', 'node:http'] as const) {
    for (const concurrency of [2, 4, 8, 16, 32]) {
      const order: ReadOrder = { url, from: 1, to: trialBlocks, concurrency, way }
      const { ms, transactions } = await child.ask<ReadFigures>(order)
      const rate = transactions / ms
      if (rate > best.rate) best = { way, concurrency, rate }
    }
  }
  const { way, concurrency } = best
  print(`  the ceiling is read by ${way}, ${concurrency} blocks at a time`)
  return {
    child,
    contestant: {
      name: 'fetch and JSON.parse',
      async run() {
        const order: ReadOrder = { url, from: 1, to: lastBlock, concurrency, way }
        const nodeCpuBefore = await node.cpuMs?.()
        const { ms, transactions, bytes, cpuMs } = await child.ask<ReadFigures>(order)
        const nodeCpuAfter = await node.cpuMs?.()
        if (transactions !== transactionsUpTo(lastBlock)) {
          throw new Error(`${transactions} transactions were read; expected ${transactionsUpTo(lastBlock)}`)
        }
        const nodeCpuMicros = ((nodeCpuAfter ?? Number.NaN) - (nodeCpuBefore ?? Number.NaN)) * 1e3
        return {
          transactionsPerSecond: (transactions / ms) * 1000,
          details: {
            MBPerSecond: bytes / 1e3 / ms,
            cpuMicrosPerTransaction: (cpuMs * 1e3) / transactions,
            ...(node.cpuMs ? { nodeCpuMicrosPerTransaction: nodeCpuMicros / transactions } : {})
          }
        }
      }
    }
  }
}

/**
 * Our whole server with an empty index.
 * @param openStore - a new, empty store each time.
 * @param options.script - `ingestOnce.ts` of this checkout, or the URL of another one's.
 * @param options.chain - settings of the chain besides its id and its node.
 * @param options.server - further settings of the server.
 */
export function createOurs(
  name: string,
  { url, lastBlock, lastHash, transfers }: Node,
  openStore: () => Promise<RunStore>,
  {
    script = '../ingest/ingestOnce.ts',
    chain = {},
    server
  }: { readonly script?: string; readonly chain?: object; readonly server?: object } = {}
): Contestant {
  return {
    name,
    async run() {
      const store = await openStore()
      const child = startChild(script, [
        ...[url, String(chainFigures.chainId), store.url, JSON.stringify(chain)],
        ...(server === undefined ? [] : [JSON.stringify(server)])
      ])
      try {
        const figures = (await child.first) as IngestFigures
        const { number, hash } = figures.indexedTo
        if (hash !== lastHash) throw new Error(`${name} is at ${number} ${hash}; expected ${lastHash}`)
        const outcome = outcomeOf(figures, transactionsUpTo(lastBlock), transfers)
        const bytesPerTransaction = (await store.bytes()) / transactionsUpTo(lastBlock)
        return { ...outcome, details: { ...outcome.details, bytesPerTransaction } }
      } finally {
        await child.stop()
        await store.drop()
      }
    }
  }
}

/** A new folder below `parent` for each run. */
export function openFolder(parent: string): () => Promise<RunStore> {
  return async () => {
    const folder = mkdtempSync(join(parent, 'store-'))
    return {
      url: `sqlite:${folder}`,
      bytes: () => readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0),
      drop: () => rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** Ponder from nothing, up to `order.lastBlock`, which has so many `transfers`. @param openDatabase - absent: PGlite. */
export function createPonder(
  name: string,
  order: Omit<PonderOrder, 'postgresUrl'> & { readonly transfers: number },
  openDatabase?: () => Promise<RunStore>
): Contestant {
  return {
    name,
    async run() {
      const database = await openDatabase?.()
      const where = database === undefined ? {} : { postgresUrl: database.url }
      const figures = await runPonder({ ...order, ...where }).finally(() => database?.drop())
      const { ms, wholeMs, events, cpuMs } = figures
      const details = {
        ...{ seconds: ms / 1000, wholeSeconds: wholeMs / 1000, events },
        cpuMicrosPerEvent: (cpuMs * 1e3) / events
      }
      if (order.subject === 'transfers') {
        // What its log counts; now and then it stays somewhat below what the chain has, most of all with PGlite.
        if (events > order.transfers || events < order.transfers * 0.95) {
          throw new Error(`${name}: ${events} transfers; expected ${order.transfers}`)
        }
        return { transfersPerSecond: (events / ms) * 1000, details }
      }
      // It reads failed ones too and then keeps them from its indexing function; they count as done.
      const transactions = transactionsUpTo(order.lastBlock) - transactionsUpTo(1)
      if (events > transactions || events < transactions * (1 - mostFailed)) {
        throw new Error(
          `${name}: ${events} of ${transactions} transactions; expected all but those that failed`
        )
      }
      return { transactionsPerSecond: (transactions / ms) * 1000, details }
    }
  }
}

function outcomeOf(figures: IngestFigures, transactions: number, transfers: number): Outcome {
  const { backfillMs, wholeMs, cpuMs, loopDelayMs, peakRssBytes, firstRssBytes } = figures
  const { threadCpuMs = {}, writerWithMergesMs } = figures
  const byThread = Object.entries(threadCpuMs).map(([name, ms]) => [
    `${name}MicrosPerTransaction`,
    (ms * 1e3) / transactions
  ])
  return {
    transactionsPerSecond: (transactions / backfillMs) * 1000,
    transfersPerSecond: (transfers / backfillMs) * 1000,
    details: {
      seconds: backfillMs / 1000,
      wholeSeconds: wholeMs / 1000,
      cpuMicrosPerTransaction: (cpuMs * 1e3) / transactions,
      ...Object.fromEntries(byThread),
      ...(writerWithMergesMs !== undefined && {
        writerWithMergesMicrosPerTransaction: (writerWithMergesMs * 1e3) / transactions
      }),
      loopDelayP99Ms: loopDelayMs.p99,
      loopDelayMostMs: loopDelayMs.most,
      peakRssMB: peakRssBytes / 1e6,
      rssGrowthMB: (peakRssBytes - firstRssBytes) / 1e6
    }
  }
}
