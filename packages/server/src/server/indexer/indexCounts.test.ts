import { expect, it } from 'vitest'
import { type LogFields, type Logger, silentLogger } from '../../platform/logger.ts'
import { createIndexCounts, createProgressLog } from './indexCounts.ts'

it('knows how many blocks are asked for, and how large the pool was', async () => {
  const counts = createIndexCounts(1)
  for (const outcome of [Promise.resolve(), Promise.reject(new Error('refused'))]) {
    const asked = counts.fetching(outcome)
    expect(counts.read().blocksUnderWay).toBe(1)
    await asked.catch(() => undefined)
    expect(counts.read().blocksUnderWay).toBe(0)
  }
  expect(counts.read()).not.toHaveProperty('poolTransactions')
  counts.polledPool(0)
  expect(counts.read().poolTransactions).toBe(0)
})

function watchProgress() {
  const lines: (LogFields | undefined)[] = []
  const clock = { ms: 0 }
  const counts = createIndexCounts(1)
  const logger: Logger = { ...silentLogger, info: (_, fields) => void lines.push(fields) }
  const log = createProgressLog({ counts, logger, now: () => clock.ms, intervalMs: 3_000 })
  const record = (blocks: number, transactions: number, indexedTo: number, head: number) => {
    counts.committed({ blocks, transactions, startedMs: 0 })
    return log(head - indexedTo, { indexedTo, head })
  }
  return { lines, clock, record }
}

it('logs rates and the time left, at most once per interval', () => {
  const { lines, clock, record } = watchProgress()
  clock.ms = 2_000
  record(40, 400, 39, 1_000)
  expect(lines).toEqual([])
  clock.ms = 4_000
  expect(record(60, 600, 99, 1_000)).toBe(37)
  expect(lines).toEqual([
    { indexedTo: 99, head: 1_000, blocksPerSecond: 25, transactionsPerSecond: 250, etaSeconds: 37 }
  ])
  clock.ms = 5_000
  record(1, 1, 100, 1_000)
  expect(lines).toHaveLength(1)
})

it('logs nothing while the index keeps up', () => {
  const { lines, clock, record } = watchProgress()
  clock.ms = 60_000
  record(1, 10, 0, 0)
  expect(lines).toEqual([])
})
