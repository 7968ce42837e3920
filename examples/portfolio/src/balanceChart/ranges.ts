import type { BalanceSeries } from './balanceSeries.ts'

const daySeconds = 86_400

/** Time before the newest point that the chart may be limited to. */
export const ranges = [
  { label: '1D', name: 'One day', seconds: daySeconds },
  { label: '1W', name: 'One week', seconds: 7 * daySeconds },
  { label: '1M', name: 'One month', seconds: 30 * daySeconds },
  { label: '1Y', name: 'One year', seconds: 365 * daySeconds }
] as const

/** One of {@link ranges}. */
export type Range = (typeof ranges)[number]

/** Returns the ranges of which each shows another part of the series, with at least two points. */
export function usefulRanges(series: BalanceSeries): readonly Range[] {
  let shorter = 1
  return ranges.filter(range => {
    const { length } = withinRange(series, range).points
    if (length <= shorter || length === series.points.length) return false
    shorter = length
    return true
  })
}

/** Returns the part of a series that is within a range of its newest point; the balance before that part is known. */
export function withinRange(series: BalanceSeries, range: Range | undefined): BalanceSeries {
  const { points } = series
  const newest = points.at(-1)
  if (range === undefined || newest === undefined) return series
  const from = newest.timestampSeconds - range.seconds
  const first = points.findIndex(({ timestampSeconds }) => timestampSeconds >= from)
  const before = points[first - 1]
  if (before === undefined) return series
  return { ...series, points: points.slice(first), openingWei: before.balanceWei, isWhole: true }
}
