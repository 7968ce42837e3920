import { afterEach, expect, test, vi } from 'vitest'
import { readClock, watchClock } from './useNow.ts'

afterEach(() => void vi.useRealTimers())

test('the clock is right at once where nobody has watched it for long, and stands while nobody does', () => {
  vi.useFakeTimers({ now: 1_000 })
  watchClock(() => {})()
  vi.setSystemTime(3_600_000)
  const stop = watchClock(() => {})
  expect(readClock()).toBe(3_600_000)
  vi.advanceTimersByTime(5_000)
  expect(readClock()).toBe(3_605_000)
  stop()
  expect(vi.getTimerCount()).toBe(0)
})
