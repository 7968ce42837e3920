import { StoreUnavailableError } from '@chain-data/index'
import { describe, expect, it } from 'vitest'
import { NodeContradictionError, NodeUnavailableError } from '../../platform/errors.ts'
import { createRetryPauses } from './retryPauses.ts'

const times = (count: number, run: () => number) => Array.from({ length: count }, run)

describe('retry pauses', () => {
  it.each([
    ['a node', new NodeUnavailableError('away')],
    ['a store', new StoreUnavailableError('away')]
  ])('grow for %s that is away, up to a few seconds', (_, away) => {
    const pauses = createRetryPauses()
    const waits = times(50, () => pauses.next(away))
    expect(waits[0]).toBeLessThanOrEqual(200)
    expect(Math.max(...waits)).toBeLessThanOrEqual(5_000)
    expect(Math.min(...waits.slice(10))).toBeGreaterThanOrEqual(2_500)
  })

  it('become rare for a block that nobody can verify, and short again after a success', () => {
    const pauses = createRetryPauses()
    const waits = times(12, () => pauses.next(new NodeContradictionError('poison')))
    expect(Math.max(...waits.slice(0, 9))).toBeLessThanOrEqual(3_000)
    expect(waits.slice(9)).toEqual([30_000, 30_000, 30_000])
    expect(pauses.failures()).toBe(12)
    pauses.reset()
    expect(pauses.next(new NodeContradictionError('another'))).toBeLessThanOrEqual(200)
  })

  it('become rare after ten tries at one block, however many of them a failure stands for and whatever it is', () => {
    for (const error of [new NodeContradictionError('poison'), new NodeUnavailableError('too large')]) {
      const pauses = createRetryPauses()
      const waits = [5, 1, 1, 1, 1, 1, 1].map(tries => pauses.next(error, tries))
      expect(Math.max(...waits.slice(0, 5))).toBeLessThanOrEqual(3_000)
      expect(waits.slice(5)).toEqual([30_000, 30_000])
    }
  })

  it('mark fewer and fewer failures as worth a line in the log', () => {
    const pauses = createRetryPauses()
    const marked = times(20, () => {
      pauses.next(new NodeUnavailableError('away'))
      return pauses.isMilestone() ? pauses.failures() : 0
    })
    expect(marked.filter(Boolean)).toEqual([1, 2, 4, 8, 16])
  })
})
