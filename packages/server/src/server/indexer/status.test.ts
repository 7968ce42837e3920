import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { SyncStatus } from '../../model/sync.ts'
import { throttleStatus } from './status.ts'

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
