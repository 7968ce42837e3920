import { describe, expect, it } from 'vitest'
import type { BalanceSeries } from './balanceSeries.ts'
import { ranges, usefulRanges, withinRange } from './ranges.ts'

const now = 1_800_000_000
const day = 86_400

/** A point for each age in days, oldest first, with its place as the balance. */
function seriesOf(...agesInDays: number[]): BalanceSeries {
  const points = agesInDays.map((age, place) => ({
    ...{ blockNumber: place, timestampSeconds: now - age * day, balanceWei: BigInt(place), changeWei: 1n }
  }))
  return { points, openingWei: 0n, isWhole: true, trust: 'proven' }
}

describe('ranges of the chart', () => {
  it('begin with the balance from before', () => {
    const part = withinRange(seriesOf(400, 20, 3, 0.5, 0), ranges[1])
    expect(part.points.map(({ balanceWei }) => balanceWei)).toEqual([2n, 3n, 4n])
    expect(part).toMatchObject({ openingWei: 1n, isWhole: true })
  })

  it('leave a series as it is that is not longer, or without a range', () => {
    const series = seriesOf(0.5, 0)
    expect(withinRange(series, ranges[0])).toBe(series)
    expect(withinRange(series, undefined)).toBe(series)
  })

  it('are offered only where they show another part, of two points at least', () => {
    const labels = (series: BalanceSeries) => usefulRanges(series).map(({ label }) => label)
    expect(labels(seriesOf(400, 20, 3, 0.5, 0))).toEqual(['1D', '1W', '1M'])
    expect(labels(seriesOf(500, 100, 0.5, 0))).toEqual(['1D', '1Y'])
    expect(labels(seriesOf(400, 0))).toEqual([])
    expect(labels(seriesOf(0.5, 0))).toEqual([])
    expect(labels(seriesOf(0))).toEqual([])
  })
})
