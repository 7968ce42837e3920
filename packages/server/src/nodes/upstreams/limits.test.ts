import { describe, expect, it } from 'vitest'
import { createBatchSize, createConcurrencyLimit } from './limits.ts'

const never = new AbortController().signal

function setUp() {
  let nowMs = 0
  const limit = createConcurrencyLimit({ now: () => nowMs })
  const ends: (() => void)[] = []
  const started: number[] = []
  const enter = (name: number, signal = never) =>
    limit.run(
      signal,
      () =>
        new Promise<void>(resolve => {
          started.push(name)
          ends.push(resolve)
        })
    )
  const settle = () => new Promise<void>(resolve => setImmediate(resolve))
  return { limit, ends, started, enter, settle, pass: (ms: number) => (nowMs += ms) }
}

/** Keeps it full for so many successes. */
async function succeed({ enter, ends, settle }: ReturnType<typeof setUp>, times: number, atOnce: number) {
  for (let i = 0; i < atOnce + times; i++) void enter(i)
  for (let i = 0; i < times; i++) {
    await settle()
    ends.shift()?.()
  }
  await settle()
}

describe('a concurrency limit', () => {
  it('lets in so many, and the next in the order of asking', async () => {
    const test = setUp()
    for (let i = 0; i < 20; i++) void test.enter(i)
    await test.settle()
    expect(test.started).toHaveLength(16)
    test.ends[0]?.()
    test.ends[5]?.()
    await test.settle()
    expect(test.started.slice(16)).toEqual([16, 17])
  })

  it('frees the place in the queue of one that is aborted, and rejects with its reason', async () => {
    const test = setUp()
    for (let i = 0; i < 16; i++) void test.enter(i)
    const abort = new AbortController()
    const left = test.enter(100, abort.signal)
    void test.enter(101)
    const reason = new Error('no longer wanted')
    abort.abort(reason)
    await expect(left).rejects.toBe(reason)
    test.ends[0]?.()
    await test.settle()
    expect(test.started).not.toContain(100)
    expect(test.started).toContain(101)
  })

  it('grows by one after a full round of successes, and not while there is room', async () => {
    const busy = setUp()
    await succeed(busy, 40, 16)
    expect(busy.limit.current()).toBeGreaterThan(16)
    expect(busy.limit.current()).toBeLessThanOrEqual(18)
    const idle = setUp()
    for (let i = 0; i < 100; i++) await idle.limit.run(never, async () => undefined)
    expect(idle.limit.current()).toBe(16)
  })

  it('is never above 64', async () => {
    const test = setUp()
    await succeed(test, 4_000, 64)
    expect(test.limit.current()).toBe(64)
  })

  it('is halved by an overload, once for all requests of that time, and never below 1', () => {
    const { limit, pass } = setUp()
    pass(1_000)
    limit.overloaded(900)
    limit.overloaded(950)
    expect(limit.current()).toBe(8)
    for (let i = 0; i < 10; i++) {
      pass(10)
      limit.overloaded(1_000 + 10 * (i + 1))
    }
    expect(limit.current()).toBe(1)
  })

  it('gives the place back when the work fails', async () => {
    const { limit } = setUp()
    const failing = () => limit.run(never, () => Promise.reject(new Error('no')))
    for (let i = 0; i < 30; i++) await expect(failing()).rejects.toThrow('no')
    expect(await limit.run(never, async () => 'in')).toBe('in')
  })
})

describe('a batch size', () => {
  it('is halved by a refusal, down to single calls, and several refusals of one round count once', () => {
    const size = createBatchSize(100, { now: () => 0 })
    size.refused(100)
    size.refused(100)
    expect(size.current()).toBe(50)
    for (const refused of [50, 25, 12, 6, 3]) size.refused(refused)
    expect(size.current()).toBe(1)
    size.refused(1)
    expect(size.current()).toBe(1)
  })

  it('doubles again after a minute without a refusal, up to where it began', () => {
    let nowMs = 0
    const size = createBatchSize(100, { now: () => nowMs })
    size.refused(60)
    nowMs = 59_999
    expect(size.current()).toBe(30)
    nowMs = 60_000
    expect(size.current()).toBe(60)
    nowMs = 10_000_000
    expect(size.current()).toBe(100)
  })

  it('waits longer after each refusal', () => {
    let nowMs = 0
    const size = createBatchSize(100, { now: () => nowMs })
    size.refused(100)
    nowMs = 60_000
    expect(size.current()).toBe(100)
    size.refused(100)
    nowMs += 119_999
    expect(size.current()).toBe(50)
    nowMs += 1
    expect(size.current()).toBe(100)
  })
})
