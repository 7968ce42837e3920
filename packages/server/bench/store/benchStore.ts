import { writeFileSync } from 'node:fs'
import { type Spread, spread } from '../http/spread.ts'
import { drawScaling } from './drawScaling.ts'
import { measureStore, type Point, type StoreFigures } from './measureStore.ts'
import { type Engine, engines, makeStore } from './stores.ts'
import { chainFigures } from './syntheticChain.ts'

/** Goals of this project, printed beside what was measured. */
const goals = {
  bytes: { sqlite: 300, postgres: 600 },
  pageP99Ms: { sqlite: 1.5, postgres: 5 },
  historyRowsPerSecond: 300_000,
  reorgMs: 250,
  flatness: 0.9
} as const

const ingest = { transactionsPerCommit: 4_000, reorgBlocks: 64, reorgRounds: 5, historyRounds: 5 }
const small = { transactions: 1_000_000, interval: 250_000, rounds: 3 }
const longestInterval = 500_000

interface EngineFigures {
  /** Of several runs of the small size. */
  readonly small: {
    readonly transactions: number
    readonly transactionsPerSecond: Spread
    readonly pageP50Ms: Spread
    readonly pageP99Ms: Spread
    readonly bytesPerTransaction: Spread
  }
  readonly large: StoreFigures
  /** Rate of the last fifth of the large run by that of its second fifth. */
  readonly flatness: number
}

export interface BenchStoreOptions {
  /** Size of the large run. */
  readonly transactions: number
  /** Name of the one engine to measure; absent: all. */
  readonly only: string | undefined
  /** Draws the plot anew. */
  readonly write: boolean
}

/** Both engines alone: rows in, pages and histories out, sizes. */
export async function benchStore(
  print: (line: string) => void,
  { transactions, only, write }: BenchStoreOptions
): Promise<object> {
  const results: Partial<Record<Engine, EngineFigures>> = {}
  for (const engine of engines) {
    if (only !== undefined && only !== engine) continue
    results[engine] = await benchEngine(engine, transactions, print)
  }
  const figures = { dataset: chainFigures, ingest, engines: results }
  if (write) {
    writeFileSync(
      new URL('../../../../docs/images/store-scaling.svg', import.meta.url),
      drawScaling(figures.engines)
    )
  }
  return figures
}

async function benchEngine(
  engine: Engine,
  transactions: number,
  print: (line: string) => void
): Promise<EngineFigures> {
  print(`  ${engine}: ${small.rounds} runs of ${small.transactions} transactions`)
  const runs: StoreFigures[] = []
  for (let round = 0; round < small.rounds; round++) runs.push(await run(engine, small, print))
  const lasts = runs.flatMap(({ points }) => points.at(-1) ?? [])
  const summary = {
    transactions: small.transactions,
    transactionsPerSecond: spread(runs.map(({ points }) => meanRate(points))),
    pageP50Ms: spread(lasts.map(({ page }) => page.p50)),
    pageP99Ms: spread(lasts.map(({ page }) => page.p99)),
    bytesPerTransaction: spread(lasts.map(point => point.bytes / point.transactions))
  }
  print(`  ${engine}: up to ${transactions} transactions`)
  const figures = await run(
    engine,
    { transactions, interval: Math.min(longestInterval, transactions / 10) },
    print
  )
  const { points, reorgMs, wholeHistory } = figures
  const fifth = (part: number) => {
    const slice = points.slice((points.length * (part - 1)) / 5, (points.length * part) / 5)
    return meanRate(slice, points[(points.length * (part - 1)) / 5 - 1]?.transactions)
  }
  const flatness = fifth(5) / fifth(2)
  const last = points.at(-1)
  const show = (what: string, value: string, goal: string) =>
    print(`    ${what.padEnd(44)} ${value.padStart(12)}   goal ${goal}`)
  show('last fifth by second fifth', flatness.toFixed(2), `>= ${goals.flatness}`)
  if (last !== undefined) {
    show('bytes per transaction', (last.bytes / last.transactions).toFixed(0), `<= ${goals.bytes[engine]}`)
  }
  const p99s = points.map(({ page }) => page.p99)
  show('newest 100 while written, p99, ms', spread(p99s).median.toFixed(2), `<= ${goals.pageP99Ms[engine]}`)
  show('... in the worst stretch', spread(p99s).most.toFixed(2), '')
  show(
    `history of ${wholeHistory.rows}, rows/s`,
    spread(wholeHistory.rowsPerSecond).median.toFixed(0),
    `>= ${goals.historyRowsPerSecond}`
  )
  show(`${figures.reorgBlocks} blocks removed, ms`, spread(reorgMs).median.toFixed(0), `<= ${goals.reorgMs}`)
  return { small: summary, large: figures, flatness }
}

async function run(
  engine: Engine,
  { transactions, interval }: { readonly transactions: number; readonly interval: number },
  print: (line: string) => void
): Promise<StoreFigures> {
  const store = await makeStore(engine)
  try {
    const onPoint = ({
      transactions: stored,
      transactionsPerSecond,
      bytes,
      page,
      coldPage,
      unknown
    }: Point) =>
      print(
        `    ${(stored / 1e6).toFixed(2).padStart(6)} M  ${transactionsPerSecond.toFixed(0).padStart(7)} tx/s  ${(bytes / stored).toFixed(0)} B/tx  ` +
          [page, coldPage, unknown].map(({ p50, p99 }) => `${p50.toFixed(2)}/${p99.toFixed(2)} ms`).join('  ')
      )
    return await measureStore(store, { ...ingest, transactions, interval, onPoint })
  } finally {
    await store.remove()
  }
}

function meanRate(points: readonly Point[], from = 0): number {
  let before = from
  let seconds = 0
  for (const { transactions, transactionsPerSecond } of points) {
    seconds += (transactions - before) / transactionsPerSecond
    before = transactions
  }
  return (before - from) / seconds
}
