import { describe, expect, it } from 'vitest'
import { type LogFields, type Logger, silentLogger } from '../../platform/logger.ts'
import { createProgress } from './progress.ts'

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
