import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { wait } from './wait.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

test('resolves after so many milliseconds and not before', async () => {
  const resolved = vi.fn()
  void wait(30).then(resolved)
  await vi.advanceTimersByTimeAsync(29)
  expect(resolved).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(resolved).toHaveBeenCalledOnce()
})

test('keeps no timer for a wait without end', () => {
  void wait(Number.POSITIVE_INFINITY)
  expect(vi.getTimerCount()).toBe(0)
})
