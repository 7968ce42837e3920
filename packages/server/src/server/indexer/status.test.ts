import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { SyncStatus } from '../../model/sync.ts'
import { type LogFields, type Logger, silentLogger } from '../../platform/logger.ts'
import { createProgress, throttleStatus } from './status.ts'

const status = (change: Partial<SyncStatus>): SyncStatus => ({
  chainId: 1,
  phase: 'backfilling',
  indexedFrom: 0,
  backfilled: false,
  degraded: false,
  poolCovered: false,
  ...change
})

describe('throttleStatus', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('passes on the newest of many, once per interval', () => {
    const seen: (number | undefined)[] = []
    const { send } = throttleStatus(({ head }) => seen.push(head))
    for (let head = 0; head <= 50; head++) send(status({ head }))
    expect(seen).toEqual([0])
    vi.advanceTimersByTime(100)
    expect(seen).toEqual([0, 50])
    vi.advanceTimersByTime(1_000)
    expect(seen).toEqual([0, 50])
  })

  it('passes on at once what an operator waits for', () => {
    const seen: SyncStatus[] = []
    const { send } = throttleStatus(next => seen.push(next))
    send(status({}))
    send(status({ phase: 'stalled', problem: 'x' }))
    send(status({ phase: 'stalled', problem: 'y' }))
    send(status({ phase: 'following', backfilled: true }))
    send(status({ phase: 'following', backfilled: true, degraded: true }))
    expect(seen).toHaveLength(5)
  })

  it('holds nothing back at the end', () => {
    const seen: (number | undefined)[] = []
    const { send, flush } = throttleStatus(({ head }) => seen.push(head))
    send(status({ head: 1 }))
    send(status({ head: 2 }))
    flush()
    flush()
    expect(seen).toEqual([1, 2])
  })
})

const blocks = (from: number, count: number, transactionCount: number) =>
  Array.from({ length: count }, (_, i) => ({
    ref: { number: from + i, hash: '0x' as const },
    transactionCount
  }))

function watch() {
  const lines: (LogFields | undefined)[] = []
  const clock = { ms: 0 }
  const logger: Logger = { ...silentLogger, info: (_, fields) => void lines.push(fields) }
  return { lines, clock, progress: createProgress({ logger, now: () => clock.ms, intervalMs: 3_000 }) }
}

describe('progress', () => {
  it('tells rates and the time left, at most once per interval', () => {
    const { lines, clock, progress } = watch()
    clock.ms = 2_000
    progress.record(blocks(0, 40, 10), 1_000)
    expect(lines).toEqual([])
    clock.ms = 4_000
    progress.record(blocks(40, 60, 10), 1_000)
    expect(lines).toEqual([
      { indexedTo: 99, head: 1_000, blocksPerSecond: 25, transactionsPerSecond: 250, etaSeconds: 37 }
    ])
    clock.ms = 5_000
    progress.record(blocks(100, 1, 1), 1_000)
    expect(lines).toHaveLength(1)
  })

  it('keeps quiet while the index keeps up', () => {
    const { lines, clock, progress } = watch()
    clock.ms = 60_000
    progress.record(blocks(0, 1, 10), 0)
    expect(lines).toEqual([])
  })
})
