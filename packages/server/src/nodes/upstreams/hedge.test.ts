import { describe, expect, it } from 'vitest'
import { createHedgeBudget, createUsualTimes } from './hedge.ts'

describe('the hedge budget', () => {
  it('is a tenth of the calls, from the first one on', () => {
    const hedge = createHedgeBudget()
    let taken = 0
    for (let calls = 1; calls <= 1_000; calls++) {
      hedge.counted()
      if (hedge.take()) taken++
      expect(taken).toBeLessThanOrEqual(calls / 10)
    }
    expect(taken).toBe(100)
  })

  it('saves up no more than ten', () => {
    const hedge = createHedgeBudget()
    for (let calls = 0; calls < 10_000; calls++) hedge.counted()
    let taken = 0
    while (hedge.take()) taken++
    expect(taken).toBe(10)
  })
})

describe('usual times', () => {
  it('know nothing before some calls of the kind were seen', () => {
    const times = createUsualTimes()
    for (let i = 0; i < 7; i++) times.add('eth_call', 100)
    expect(times.unusualAfterMs('eth_call')).toBeUndefined()
    times.add('eth_call', 100)
    expect(times.unusualAfterMs('eth_call')).toBeGreaterThanOrEqual(100)
    expect(times.unusualAfterMs('eth_getBalance')).toBeUndefined()
  })

  it('call unusual what lies far beyond the mean, nearer for a steady node than for a shaky one', () => {
    const steady = createUsualTimes()
    const shaky = createUsualTimes()
    for (let i = 0; i < 100; i++) {
      steady.add('x', 100)
      shaky.add('x', i % 2 === 0 ? 20 : 180)
    }
    expect(steady.unusualAfterMs('x')).toBeLessThan(120)
    expect(shaky.unusualAfterMs('x')).toBeGreaterThan(300)
  })

  it('never call some milliseconds unusual', () => {
    const times = createUsualTimes()
    for (let i = 0; i < 100; i++) times.add('x', 1)
    expect(times.unusualAfterMs('x')).toBe(20)
  })
})
