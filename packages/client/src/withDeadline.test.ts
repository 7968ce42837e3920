import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { withDeadline } from './withDeadline.ts'

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
  await expect(withDeadline({ timeoutMs: 1000, signal }, async () => 'done')).resolves.toBe('done')
  expect(listeners.size).toBe(0)
  expect(vi.getTimerCount()).toBe(0)
})

test('passes on a failure, and leaves no timer and no listener', async () => {
  const { signal, listeners } = countingSignal()
  const run = () => Promise.reject(new Error('mine'))
  await expect(withDeadline({ timeoutMs: 1000, signal }, run)).rejects.toThrow('mine')
  expect(listeners.size).toBe(0)
  expect(vi.getTimerCount()).toBe(0)
})

test('ends at the deadline although what runs ignores its signal', async () => {
  let inner: AbortSignal | undefined
  const outcome = withDeadline({ timeoutMs: 1000, signal: undefined }, signal => {
    inner = signal
    return never()
  })
  const expectation = expect(outcome).rejects.toMatchObject({ code: 'TIMEOUT', retryable: true })
  vi.advanceTimersByTime(999)
  expect(inner?.aborted).toBe(false)
  vi.advanceTimersByTime(1)
  expect(inner?.aborted).toBe(true)
  await expectation
})

test('ends when the caller aborts, with the abort and not with what it causes', async () => {
  const { signal, abort, listeners } = countingSignal()
  const outcome = withDeadline(
    { timeoutMs: 1000, signal },
    inner =>
      new Promise((_, reject) => inner.addEventListener('abort', () => reject(new Error('consequence'))))
  )
  abort()
  await expect(outcome).rejects.toMatchObject({ code: 'ABORTED', retryable: false })
  expect(listeners.size).toBe(0)
  expect(vi.getTimerCount()).toBe(0)
})

test('does not start when the signal fired before', async () => {
  const run = vi.fn(never)
  await expect(withDeadline({ timeoutMs: 1000, signal: AbortSignal.abort() }, run)).rejects.toMatchObject({
    code: 'ABORTED'
  })
  expect(run).not.toHaveBeenCalled()
  expect(vi.getTimerCount()).toBe(0)
})

test('sets no timer for an infinite deadline', async () => {
  const outcome = withDeadline({ timeoutMs: Number.POSITIVE_INFINITY, signal: undefined }, async () => {
    expect(vi.getTimerCount()).toBe(0)
    return 1
  })
  await expect(outcome).resolves.toBe(1)
})
