import { describe, expect, it } from 'vitest'
import { createBatchSize } from './limits.ts'

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
