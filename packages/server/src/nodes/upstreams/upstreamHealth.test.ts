import { describe, expect, it } from 'vitest'
import { createUpstreamHealth, type UpstreamHealth } from './upstreamHealth.ts'

function setUp() {
  let nowMs = 1_000_000
  const create = () => createUpstreamHealth({ now: () => nowMs }, () => 1)
  const outMs = (health: UpstreamHealth) => Math.max(0, health.outUntilMs - nowMs)
  return { create, outMs, now: () => nowMs, pass: (ms: number) => (nowMs += ms) }
}

describe('the health of an upstream', () => {
  it('scores a sound one above a failing, a slow and a lagging one', () => {
    const { create } = setUp()
    const [sound, failing, slow, lagging] = [create(), create(), create(), create()] as const
    for (const health of [sound, failing, slow, lagging]) {
      for (let i = 0; i < 5; i++) {
        health.succeeded()
        health.looked(50)
      }
      health.sawHead(100, 100)
    }
    failing.failed('unsound')
    for (let i = 0; i < 5; i++) slow.looked(2_000)
    lagging.sawHead(90, 100)
    for (const worse of [failing, slow, lagging]) expect(worse.score()).toBeLessThan(sound.score() / 1.5)
    expect(lagging.lagBlocks).toBe(10)
  })

  it('does not mind one block of lag, the ordinary way of a network', () => {
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
    health.failed('unreachable')
    const rate = health.failureRate()
    pass(30_000)
    expect(health.failureRate()).toBeCloseTo(rate / 2)
    pass(600_000)
    expect(health.failureRate()).toBeCloseTo(0, 5)
  })

  it('stays in service after three failures, and is out for a doubling time from the fourth in a row on', () => {
    const { create, outMs } = setUp()
    const health = create()
    for (let i = 0; i < 3; i++) health.failed('unreachable')
    expect(outMs(health)).toBe(0)
    const pauses: number[] = []
    for (let i = 0; i < 9; i++) {
      health.failed('timedOut')
      pauses.push(outMs(health))
    }
    expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000])
    health.succeeded()
    expect(outMs(health)).toBe(0)
  })

  it('may be visited within a second while there is no other', () => {
    const { create, now } = setUp()
    const health = create()
    for (let i = 0; i < 12; i++) health.failed('unreachable')
    expect(health.visitAtMs - now()).toBe(1_000)
  })

  it('rests as long as it asked for, and for a growing time when it did not say', () => {
    const { create, now, pass } = setUp()
    const health = create()
    health.failed('throttled', 7_000)
    expect(health.restUntilMs - now()).toBe(7_000)
    // A later answer that names no time does not shorten it.
    health.failed('throttled')
    expect(health.restUntilMs - now()).toBe(7_000)
    pass(60_000)
    const unnamed = create()
    unnamed.failed('throttled')
    expect(unnamed.restUntilMs - now()).toBe(50)
    unnamed.failed('throttled')
    expect(unnamed.restUntilMs - now()).toBe(100)
    unnamed.failed('exhausted')
    expect(unnamed.restUntilMs - now()).toBe(60_000)
  })

  it('pays for an unsound answer with its score, not with its service', () => {
    const { create, outMs } = setUp()
    const health = create()
    for (let i = 0; i < 5; i++) health.failed('unsound')
    expect(outMs(health)).toBe(0)
    expect(health.failureRate()).toBeGreaterThan(0.7)
  })
})
