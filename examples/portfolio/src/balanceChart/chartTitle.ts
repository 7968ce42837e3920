import { shownAmount } from '../shared/formatAmount.ts'
import type { BalanceSeries } from './balanceSeries.ts'

const days = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'long' })
const daysOfYears = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'long', year: 'numeric' })
const times = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hour12: false })

/** What a course of balances shows: how much more or less it is than where it began. */
export function chartTitle(
  { points, openingWei, isWhole }: Pick<BalanceSeries, 'points' | 'openingWei' | 'isWhole'>,
  { symbol, decimals }: { symbol: string; decimals: number },
  nowSeconds = Date.now() / 1000
): string {
  const first = points[0]
  const last = points.at(-1)
  if (first === undefined || last === undefined) return 'Balance over time'
  const difference = last.balanceWei - (isWhole ? openingWei : first.balanceWei)
  const since = momentWords(first.timestampSeconds, nowSeconds, isWhole)
  if (difference === 0n) return `As much as ${since}`
  const size = difference < 0n ? -difference : difference
  // Of very little, every digit counts.
  const digits = size * 10_000n < 10n ** BigInt(decimals) ? decimals : 4
  const amount = `${shownAmount(size, decimals, digits)} ${symbol}`
  return `${amount} ${difference > 0n ? 'more' : 'less'} than ${since}`
}

/** A moment as precise as it has to be: of today its time, of this year its day, or with the year. */
function momentWords(seconds: number, nowSeconds: number, isBefore: boolean): string {
  const moment = new Date(seconds * 1000)
  const now = new Date(nowSeconds * 1000)
  const on = isBefore ? 'before' : 'on'
  if (moment.toDateString() === now.toDateString())
    return `${isBefore ? 'before' : 'at'} ${times.format(moment)}`
  if (moment.getFullYear() === now.getFullYear()) return `${on} ${days.format(moment)}`
  return `${on} ${daysOfYears.format(moment)}`
}
