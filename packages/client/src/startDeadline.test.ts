import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startDeadline } from './startDeadline.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const never = () => new Promise<never>(() => {})

/** Counts the listeners that are on the signal. */
function countingSignal() {
  const controller = new AbortController()
  const listeners = new Set<() => void>()
  const signal = {
    get aborted() {
      return controller.signal.aborted
    },
    addEventListener(_type: 'abort', listener: () => void) {
      listeners.add(listener)
    },
    removeEventListener(_type: 'abort', listener: () => void) {
      listeners.delete(listener)
    }
  }
  const abort = () => {
    controller.abort()
    for (const listener of listeners) listener()
  }
  return { signal, abort, listeners }
}

test('gives what ran, and leaves no timer and no listener', async () => {
  const { signal, listeners } = countingSignal()
  const { race, release } = startDeadline(1000, signal)
  await expect(race(Promise.resolve('done'))).resolves.toBe('done')
  expect([listeners.size, vi.getTimerCount()]).toEqual([1, 1])
  release()
  expect([listeners.size, vi.getTimerCount()]).toEqual([0, 0])
})

test('passes on a failure', async () => {
  const { race } = startDeadline(1000, undefined)
  await expect(race(Promise.reject(new Error('mine')))).rejects.toThrow('mine')
})

test('ends at the deadline although what runs ignores its signal', async () => {
  const { race, signal } = startDeadline(1000, undefined)
  const outcome = race(never())
  vi.advanceTimersByTime(999)
  expect(signal.aborted).toBe(false)
  vi.advanceTimersByTime(1)
  expect(signal.aborted).toBe(true)
  await expect(outcome).rejects.toBe('TIMEOUT')
})

test('ends when the caller aborts, with the abort and not with what it causes', async () => {
  const { signal, abort } = countingSignal()
  const deadline = startDeadline(1000, signal)
  const consequence = new Promise((_, reject) =>
    deadline.signal.addEventListener('abort', () => reject(new Error('consequence')))
  )
  const outcome = deadline.race(consequence)
  abort()
  await expect(outcome).rejects.toBe('ABORTED')
})

test('has ended where the signal fired before', async () => {
  const { signal, race, release } = startDeadline(1000, AbortSignal.abort())
  expect(signal.aborted).toBe(true)
  await expect(race(never())).rejects.toBe('ABORTED')
  release()
  expect(vi.getTimerCount()).toBe(0)
})

test('sets no timer for an infinite deadline', () => {
  startDeadline(Number.POSITIVE_INFINITY, undefined)
  expect(vi.getTimerCount()).toBe(0)
})
