import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createUpstreamHealth, type UpstreamHealth } from './health.ts'

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(1)
})
afterEach(() => {
  vi.restoreAllMocks()
})

function setUp() {
  let nowMs = 1_000_000
  const create = () => createUpstreamHealth({ now: () => nowMs })
  /** Moves the clock to where an open breaker is half-open. */
  const openMs = (health: UpstreamHealth) => {
    const startMs = nowMs
    while (health.breaker() === 'open') nowMs += 500
    return nowMs - startMs
  }
  return { create, openMs, now: () => nowMs, pass: (ms: number) => (nowMs += ms) }
}

describe('the health of an upstream', () => {
  it('scores a sound one above a failing, a slow and a lagging one', () => {
    const { create } = setUp()
    const [sound, failing, slow, lagging] = [create(), create(), create(), create()] as const
    for (const health of [sound, failing, slow, lagging]) {
      for (let i = 0; i < 5; i++) {
        health.succeeded()
        health.checked(50)
      }
      health.sawHead(100, 100)
    }
    failing.failed('unsound')
    for (let i = 0; i < 5; i++) slow.checked(2_000)
    lagging.sawHead(90, 100)
    for (const worse of [failing, slow, lagging]) expect(worse.score()).toBeLessThan(sound.score() / 1.5)
    expect(lagging.lagBlocks).toBe(10)
  })

  it('does not mind one block of lag, which is normal in a network', () => {
    const health = setUp().create()
    const before = health.score()
    health.sawHead(99, 100)
    expect(health.score()).toBe(before)
  })

  it('scores one that only lags behind a lie above the liar, once that has been found out', () => {
    const { create } = setUp()
    const [liar, honest] = [create(), create()] as const
    liar.sawHead(1_000_000, 1_000_000)
    honest.sawHead(100, 1_000_000)
    expect(liar.score()).toBeGreaterThan(honest.score())
    for (let i = 0; i < 6; i++) liar.failed('unsound')
    expect(honest.score()).toBeGreaterThan(liar.score() * 1.5)
  })

  it('forgets failures in time', () => {
    const { create, pass } = setUp()
    const health = create()
    const best = health.score()
    const rate = () => 1 - Math.sqrt(health.score() / best)
    health.failed('unreachable')
    const before = rate()
    pass(30_000)
    expect(rate()).toBeCloseTo(before / 2)
    pass(600_000)
    expect(rate()).toBeCloseTo(0, 5)
  })

  it('keeps the breaker closed after three failures, and opens it for a doubling time from the fourth in a row on', () => {
    const { create, openMs } = setUp()
    const health = create()
    for (let i = 0; i < 3; i++) health.failed('unreachable')
    expect(health.breaker()).toBe('closed')
    const pauses: number[] = []
    for (let i = 0; i < 9; i++) {
      health.failed('timedOut')
      expect(health.breaker()).toBe('open')
      pauses.push(openMs(health))
      expect(health.breaker()).toBe('halfOpen')
    }
    expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000])
    health.succeeded()
    expect(health.breaker()).toBe('closed')
  })

  it('allows a probe within a second while there is no other upstream', () => {
    const { create, now } = setUp()
    const health = create()
    for (let i = 0; i < 12; i++) health.failed('unreachable')
    expect(health.probeAtMs - now()).toBe(1_000)
  })

  it('backs off as long as the node asked for, and for a growing time when it did not say', () => {
    const { create, now, pass } = setUp()
    const health = create()
    health.failed('throttled', { retryAfterMs: 7_000 })
    expect(health.backOffUntilMs - now()).toBe(7_000)
    // A later answer that names no time does not shorten it.
    health.failed('throttled')
    expect(health.backOffUntilMs - now()).toBe(7_000)
    pass(60_000)
    const unnamed = create()
    unnamed.failed('throttled')
    expect(unnamed.backOffUntilMs - now()).toBe(50)
    unnamed.failed('throttled')
    expect(unnamed.backOffUntilMs - now()).toBe(100)
    unnamed.failed('exhausted')
    expect(unnamed.backOffUntilMs - now()).toBe(60_000)
  })

  it('takes the refusals of requests that were under way together for one', () => {
    const { create, now } = setUp()
    const health = create()
    for (let i = 0; i < 20; i++) health.failed('throttled', { startedMs: now() - 10 })
    expect(health.backOffUntilMs - now()).toBe(50)
  })

  it('stays out of service for ten seconds after a block that others do not have, and longer each time', () => {
    const { create, now, pass } = setUp()
    const health = create()
    health.putAside()
    expect(health.backOffUntilMs - now()).toBe(10_000)
    pass(10_000)
    health.succeeded()
    health.putAside()
    expect(health.backOffUntilMs - now()).toBe(20_000)
  })

  it('backs off for a minute at most, whatever a node asks for', () => {
    const { create, now } = setUp()
    const health = create()
    health.failed('throttled', { retryAfterMs: 86_400_000 })
    expect(health.backOffUntilMs - now()).toBe(60_000)
  })

  it('lowers the score for an unsound answer, and leaves the breaker closed', () => {
    const health = setUp().create()
    const before = health.score()
    for (let i = 0; i < 5; i++) health.failed('unsound')
    expect(health.breaker()).toBe('closed')
    // A failure rate above 0.7.
    expect(health.score()).toBeLessThan(before * 0.09)
  })
})
