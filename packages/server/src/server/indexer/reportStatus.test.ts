import type { SyncStatus, WriterReport } from '@chain-data/index'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { silentLogger } from '../../platform/logger.ts'
import { createStatusBoard, reportStatus, type StatusBoard } from './status.ts'

const following: SyncStatus = {
  ...{ chainId: 1, phase: 'following', head: 9, indexedFrom: 0, backfilled: true, degraded: false },
  ...{ indexedTo: { number: 9, hash: `0x${'00'.repeat(32)}` }, poolCovered: true }
}

let written: Omit<WriterReport, 'beat'>[]
let warnings: string[]
let failure: Error | undefined
let board: StatusBoard
let stop: () => void
beforeEach(() => {
  vi.useFakeTimers()
  written = []
  warnings = []
  failure = undefined
  board = createStatusBoard(following)
  stop = reportStatus({
    board,
    store: {
      report: async report => {
        if (failure !== undefined) throw failure
        written.push(report)
      }
    },
    everyMs: 1_000,
    logger: { ...silentLogger, warn: message => warnings.push(message) }
  })
})
afterEach(() => {
  stop()
  vi.useRealTimers()
})

it('says at the beginning and with every beat how it stands, changed or not', () => {
  expect(written).toEqual([{ phase: 'following', head: 9, indexedTo: 9, poolCovered: true }])
  vi.advanceTimersByTime(2_000)
  expect(written).toHaveLength(3)
  expect(written[2]).toEqual(written[0])
})

it('says news at once, and the rest with the next beat', () => {
  board.change({ head: 10 })
  board.change({ head: 11 })
  expect(written).toHaveLength(1)
  board.change({ phase: 'stalled', problem: 'the node is silent' })
  expect(written[1]).toMatchObject({ head: 11, phase: 'stalled', problem: 'the node is silent' })
  board.change({ phase: 'following', problem: undefined, head: 12, rollingBackTo: 4 })
  expect(written[2]).toMatchObject({ head: 12, rollingBackTo: 4 })
  board.change({ head: 13 })
  vi.advanceTimersByTime(1_000)
  expect(written.map(({ head }) => head)).toEqual([9, 11, 12, 13])
})

it('says how old the last look at the pool is, not when it was', () => {
  board.change({ poolSeenAtMs: Date.now() })
  vi.advanceTimersByTime(1_000)
  expect(written.at(-1)?.poolAgeMs).toBe(1_000)
  vi.advanceTimersByTime(1_000)
  expect(written.at(-1)?.poolAgeMs).toBe(2_000)
})

it('goes on when the store refuses, and warns once for each time that it does', async () => {
  failure = new Error('the disk is full')
  await vi.advanceTimersByTimeAsync(3_000)
  expect(warnings).toHaveLength(1)
  failure = undefined
  await vi.advanceTimersByTimeAsync(1_000)
  expect(written).toHaveLength(2)
  failure = new Error('the disk is full')
  await vi.advanceTimersByTimeAsync(2_000)
  expect(warnings).toHaveLength(2)
})

it('says nothing any more once it was stopped', () => {
  stop()
  board.change({ phase: 'stalled' })
  vi.advanceTimersByTime(5_000)
  expect(written).toHaveLength(1)
})
