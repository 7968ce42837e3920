import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createIdleWork } from './idleWork.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** Work of so many pieces, of which one may fail. */
function pieces(count: number, failing?: number) {
  const errors: unknown[] = []
  let done = 0
  const step = () => {
    if (done === failing) {
      failing = undefined
      throw new Error('the disk is full')
    }
    if (done === count) return false
    done++
    return true
  }
  return { step, errors, done: () => done, onError: (error: unknown) => void errors.push(error) }
}

test('begins after a pause, which other work makes begin anew, and goes on until nothing is left', () => {
  const { step, done, onError } = pieces(3)
  const idle = createIdleWork(step, 100, onError)
  vi.advanceTimersByTime(1_000)
  expect(done()).toBe(0)
  idle.postpone()
  vi.advanceTimersByTime(99)
  idle.postpone()
  vi.advanceTimersByTime(99)
  expect(done()).toBe(0)
  vi.advanceTimersByTime(1_000)
  expect(done()).toBe(3)
  expect(vi.getTimerCount()).toBe(0)
})

test('leaves most of the time to others while it works', () => {
  const idle = createIdleWork(
    () => {
      const endMs = performance.now() + 10
      while (performance.now() < endMs) vi.advanceTimersByTime(1)
      return true
    },
    100,
    () => {}
  )
  idle.postpone()
  const startedMs = performance.now()
  vi.advanceTimersToNextTimer()
  const workedMs = performance.now() - startedMs - 100
  vi.advanceTimersToNextTimer()
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(100 + workedMs * 5)
  idle.stop()
  expect(vi.getTimerCount()).toBe(0)
})

test('a failure is told once and ends it until other work has come', () => {
  const { step, errors, done, onError } = pieces(3, 1)
  const idle = createIdleWork(step, 100, onError)
  idle.postpone()
  vi.advanceTimersByTime(1_000)
  expect([done(), errors.length]).toEqual([1, 1])
  idle.postpone()
  vi.advanceTimersByTime(1_000)
  expect([done(), errors.length]).toEqual([3, 1])
})

test('is never done without a pause to wait for, nor after it was stopped', () => {
  const { step, done, onError } = pieces(3)
  createIdleWork(step, null, onError).postpone()
  const stopped = createIdleWork(step, 100, onError)
  stopped.postpone()
  stopped.stop()
  stopped.postpone()
  vi.advanceTimersByTime(1_000)
  expect(done()).toBe(0)
})
