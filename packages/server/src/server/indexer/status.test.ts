import type { SyncStatus } from '@chain-data/index'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createStatusBoard, throttleStatus } from './status.ts'

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

  it('passes on at once each new block of a chain that is followed', () => {
    const seen: (number | undefined)[] = []
    const { send } = throttleStatus(({ indexedTo }) => seen.push(indexedTo?.number))
    const at = (number: number) => ({ number, hash: `0x${number}` as const })
    for (const number of [1, 2, 3]) send(status({ indexedTo: at(number) }))
    for (const number of [3, 4, 5]) send(status({ phase: 'following', indexedTo: at(number) }))
    expect(seen).toEqual([1, 3, 4, 5])
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

describe('the board', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }))
  afterEach(() => void vi.useRealTimers())

  it('dates a stall from its first failure, whatever further attempts show, until a block is stored', () => {
    const board = createStatusBoard(status({}))
    const sinceMs = () => board.read().stalledSinceMs
    board.change({ phase: 'stalled', problem: 'x' })
    vi.advanceTimersByTime(5_000)
    board.change({ phase: 'backfilling', problem: undefined })
    board.change({ phase: 'stalled', problem: 'y' })
    expect(sinceMs()).toBe(1_000_000)
    board.change({ phase: 'backfilling', indexedTo: { number: 1, hash: '0x1' } })
    expect(sinceMs()).toBe(undefined)
    board.change({ phase: 'stalled' })
    expect(sinceMs()).toBe(1_005_000)
    board.change({ phase: 'following' })
    expect(sinceMs()).toBe(undefined)
  })
})
