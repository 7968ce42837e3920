import { expect, test } from 'vitest'
import { backOffMs, createYielder, jittered, pause } from './pause.ts'

test('a pause ends at its time or at an abort, and never rejects', async () => {
  await pause(1)
  const abort = new AbortController()
  const long = pause(60_000, abort.signal)
  abort.abort()
  await long
  await pause(60_000, abort.signal)
})

test('a back-off doubles up to its maximum', () => {
  const bounds = { firstMs: 500, maxMs: 3_000 }
  expect([1, 2, 3, 4, 5_000].map(failures => backOffMs(bounds, failures))).toEqual([
    500, 1_000, 2_000, 3_000, 3_000
  ])
})

test('jitter takes off no more than half', () => {
  for (let i = 0; i < 100; i++) {
    expect(jittered(100)).toBeGreaterThanOrEqual(50)
    expect(jittered(100)).toBeLessThanOrEqual(100)
  }
})

test('a long loop lets other work run in between, and a short one does not wait', async () => {
  const checkYield = createYielder()
  let others = 0
  setImmediate(() => others++)
  expect(checkYield()).toBeUndefined()
  const untilMs = performance.now() + 6
  while (performance.now() < untilMs) {}
  await checkYield()
  expect(others).toBe(1)
})

test('looks at the clock only at every so many steps', () => {
  const checkYield = createYielder(3)
  const untilMs = performance.now() + 6
  while (performance.now() < untilMs) {}
  const steps = [checkYield(), checkYield(), checkYield()]
  expect(steps.map(step => step instanceof Promise)).toEqual([false, false, true])
})
