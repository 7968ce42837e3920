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

/** Returns the ranges that leave out a part of the series and keep at least two points. */
export function usefulRanges(series: BalanceSeries): readonly Range[] {
  return ranges.filter(range => {
    const { length } = withinRange(series, range).points
    return length > 1 && length < series.points.length
  })
}

/**
 * Returns the part of a series that is within a range of its newest point. It begins with the last balance from before, which
 * held until the range began; so its first change is older.
 */
export function withinRange(series: BalanceSeries, range: Range | undefined): BalanceSeries {
  const { points } = series
  const newest = points.at(-1)
  if (range === undefined || newest === undefined) return series
  const from = newest.timestampSeconds - range.seconds
  const first = points.findIndex(({ timestampSeconds }) => timestampSeconds >= from)
  return first <= 0 ? series : { ...series, points: points.slice(first - 1), isWhole: false }
}
