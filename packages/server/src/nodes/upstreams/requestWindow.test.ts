import { describe, expect, it } from 'vitest'
import { createRequestWindow, type RequestLimits } from './requestWindow.ts'

const never = new AbortController().signal
const settle = () => new Promise<void>(resolve => setImmediate(resolve))

/** A window over virtual time: waiting for the rate moves the clock. */
function setUp(limits?: RequestLimits) {
  let nowMs = 0
  const window = createRequestWindow({ now: () => nowMs }, limits, async ms => {
    nowMs += ms
  })
  const ends: (() => void)[] = []
  const started: number[] = []
  const enter = (name: number, signal = never) =>
    window.run(
      signal,
      1,
      () =>
        new Promise<void>(resolve => {
          started.push(name)
          ends.push(resolve)
        })
    )
  const pass = (ms: number) => {
    nowMs += ms
  }
  /** Answers `rounds` full windows, each after `latencyMs`. @returns the size after each. */
  async function answer(rounds: number, latencyMs: (round: number) => number): Promise<number[]> {
    const sizes: number[] = []
    for (let round = 0; round < rounds; round++) {
      const size = window.size()
      for (let i = ends.length; i < size; i++) void enter(i)
      await settle()
      pass(latencyMs(round))
      for (const end of ends.splice(0, size)) end()
      await settle()
      sizes.push(window.size())
    }
    return sizes
  }
  return { window, ends, started, enter, pass, answer, now: () => nowMs }
}

describe('the window of an upstream', () => {
  it('lets in so many, and the next in the order of asking', async () => {
    const test = setUp()
    for (let i = 0; i < 20; i++) void test.enter(i)
    await settle()
    expect(test.started).toHaveLength(16)
    expect(test.window.load()).toBe(20 / 16)
    test.ends[0]?.()
    test.ends[5]?.()
    await settle()
    expect(test.started.slice(16)).toEqual([16, 17])
  })

  it('frees the position of one that is aborted, and rejects with its reason', async () => {
    const test = setUp()
    for (let i = 0; i < 16; i++) void test.enter(i)
    const abort = new AbortController()
    const left = test.enter(100, abort.signal)
    void test.enter(101)
    const reason = new Error('no longer wanted')
    abort.abort(reason)
    await expect(left).rejects.toBe(reason)
    test.ends[0]?.()
    await settle()
    expect(test.started).not.toContain(100)
    expect(test.started).toContain(101)
  })

  it('doubles with each full round of answers, up to 256, and not while there is room', async () => {
    expect(await setUp().answer(6, () => 150)).toEqual([32, 64, 128, 256, 256, 256])
    const idle = setUp()
    for (let i = 0; i < 100; i++) await idle.window.run(never, 1, async () => undefined)
    expect(idle.window.size()).toBe(16)
  })

  it('stays as it is once answers take more than twice as long, and grows again when they do not', async () => {
    const test = setUp()
    expect(await test.answer(5, round => (round < 2 ? 100 : 250))).toEqual([32, 64, 64, 64, 64])
    expect(await test.answer(1, () => 120)).toEqual([128])
    // Answers that stay slow are what it can do.
    expect((await test.answer(40, () => 250)).at(-1)).toBe(256)
  })

  it('is halved by an overload, once for all requests of that time, never below 1, and then grows by one a round', async () => {
    const test = setUp()
    test.pass(1_000)
    test.window.overloaded(900)
    test.window.overloaded(950)
    expect(test.window.size()).toBe(8)
    expect(await test.answer(3, () => 100)).toEqual([9, 10, 11])
    for (let i = 0; i < 10; i++) {
      test.pass(10)
      test.window.overloaded(test.now())
    }
    expect(test.window.size()).toBe(1)
  })

  it('gives the permit back when the work fails', async () => {
    const { window } = setUp()
    const failing = () => window.run(never, 1, () => Promise.reject(new Error('no')))
    for (let i = 0; i < 30; i++) await expect(failing()).rejects.toThrow('no')
    expect(await window.run(never, 1, async () => 'in')).toBe('in')
  })

  it('is never larger than the operator allows', async () => {
    expect(await setUp({ maxConcurrency: 5 }).answer(2, () => 10)).toEqual([5, 5])
    expect(await setUp({ maxRequestsPerSecond: 3 }).answer(2, () => 10)).toEqual([3, 3])
  })

  it('spaces requests by the calls in them, so that no second has more than the rate', async () => {
    const { window, now } = setUp({ maxRequestsPerSecond: 10 })
    const startedMs: number[] = []
    for (const calls of [1, 2, 5, 1]) {
      await window.run(never, calls, async () => {
        startedMs.push(now())
      })
    }
    expect(startedMs).toEqual([0, 100, 300, 800])
  })
})
