import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Address, StoreLocation, StoreReader } from '@chain-data/index'
import type { IngestMessage, IngestTask } from './ingestThread.ts'
import { accountAddress, createNumbers, skewedBelow, strangerAddress, whale } from './syntheticChain.ts'

/** One store of the benchmark, in a place of its own. */
export interface MeasuredStore {
  readonly location: StoreLocation
  openReader(): Promise<StoreReader>
  /** All that it takes on disk. */
  bytes(): Promise<number>
  remove(): Promise<void>
}

/** Milliseconds. */
interface Latency {
  readonly p50: number
  readonly p99: number
  readonly count: number
}

/** One stretch of the chain. */
export interface Point {
  /** Stored at its end. */
  readonly transactions: number
  /** Of the store alone: transactions divided by the time that commits took. */
  readonly transactionsPerSecond: number
  readonly bytes: number
  /** Newest 100 of accounts as they appear in transactions. */
  readonly page: Latency
  /** Newest 100 of accounts picked evenly, most of which have few transactions, long ago. */
  readonly coldPage: Latency
  /** An account that is in no block. */
  readonly unknown: Latency
}

export interface StoreFigures {
  readonly points: readonly Point[]
  /** Reading the whole history of the account that receives every tenth transaction. */
  readonly wholeHistory: {
    readonly rows: number
    readonly rowsPerSecond: readonly number[]
    readonly grownMiB: number
  }
  readonly reorgBlocks: number
  readonly reorgMs: readonly number[]
}

export interface MeasureOptions extends Omit<IngestTask, 'location'> {
  readonly historyRounds: number
  onPoint(point: Point): void
}

/** Between two queries: a page is asked for some hundred times a second. */
const betweenQueriesMs = 4
const pageSize = 100

/** Fills the store with the synthetic chain and asks it for pages all the while; then reads and removes. */
export async function measureStore(store: MeasuredStore, options: MeasureOptions): Promise<StoreFigures> {
  const { onPoint, historyRounds, ...task } = options
  const workerData: IngestTask = { ...task, location: store.location }
  const ingest = new Worker(new URL('./ingestThread.ts', import.meta.url), { workerData })
  const points: Point[] = []
  let reorgMs: readonly number[] = []
  let accounts = 1
  let measured = createQueries()
  let telling = Promise.resolve()
  ingest.on('message', (message: IngestMessage) => {
    if (message.kind === 'done') {
      reorgMs = message.reorgMs
      return
    }
    const { transactions, busyMs } = message
    accounts = message.accounts
    const { page, coldPage, unknown } = measured.read()
    measured = createQueries()
    const transactionsPerSecond = ((transactions - (points.at(-1)?.transactions ?? 0)) / busyMs) * 1_000
    telling = telling.then(async () => {
      const point = {
        transactions,
        transactionsPerSecond,
        bytes: await store.bytes(),
        page,
        coldPage,
        unknown
      }
      points.push(point)
      onPoint(point)
    })
  })
  const exit = once(ingest, 'exit')
  let ended = false
  exit.then(
    () => {
      ended = true
    },
    () => {
      ended = true
    }
  )
  const reader = await store.openReader()
  try {
    const next = createNumbers(1)
    while (!ended) {
      const active = accountAddress(skewedBelow(next, accounts))
      const cold = accountAddress(Math.floor(next() * accounts))
      for (const [kind, address] of [
        ['page', active],
        ['coldPage', cold],
        ['unknown', strangerAddress(Math.floor(next() * 2 ** 30))]
      ] as const) {
        measured.note(kind, await timePage(reader, address))
        await sleep(betweenQueriesMs)
      }
    }
    await exit
    await telling
    return {
      points,
      reorgMs,
      reorgBlocks: task.reorgBlocks,
      wholeHistory: await readWhale(reader, historyRounds)
    }
  } finally {
    await ingest.terminate()
    await reader.close()
  }
}

type Kind = 'page' | 'coldPage' | 'unknown'

function createQueries() {
  const times: Record<Kind, number[]> = { page: [], coldPage: [], unknown: [] }
  const latency = (values: number[]): Latency => {
    const sorted = values.sort((a, b) => a - b)
    const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
    return { p50: at(0.5), p99: at(0.99), count: sorted.length }
  }
  return {
    note: (kind: Kind, ms: number) => void times[kind].push(ms),
    read: () => ({
      page: latency(times.page),
      coldPage: latency(times.coldPage),
      unknown: latency(times.unknown)
    })
  }
}

/** Milliseconds that the newest 100 of an account take, from the opening of the snapshot on. */
export async function timePage(reader: StoreReader, address: Address): Promise<number> {
  const startedMs = performance.now()
  const snapshot = await reader.openSnapshot()
  try {
    for await (const _ of snapshot.records(address, { limit: pageSize }));
    return performance.now() - startedMs
  } finally {
    await snapshot.close()
  }
}

async function readWhale(reader: StoreReader, rounds: number): Promise<StoreFigures['wholeHistory']> {
  const rates: number[] = []
  const before = process.memoryUsage().rss
  let most = before
  let rows = 0
  for (let round = 0; round < rounds; round++) {
    const snapshot = await reader.openSnapshot()
    const startedMs = performance.now()
    rows = 0
    let chunks = 0
    for await (const { ids } of snapshot.records(whale)) {
      rows += ids.length
      if (chunks++ % 64 === 0) most = Math.max(most, process.memoryUsage().rss)
    }
    rates.push((rows / (performance.now() - startedMs)) * 1_000)
    await snapshot.close()
  }
  return { rows, rowsPerSecond: rates, grownMiB: (most - before) / 2 ** 20 }
}
