import { shownAmount } from '../shared/formatAmount.ts'
import type { BalanceSeries } from './balanceSeries.ts'

const days = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'long' })
const daysOfYears = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'long', year: 'numeric' })
const times = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hour12: false })

/** What a course of balances shows: how much more or less it is than where it began. */
export function chartTitle(
  { points }: Pick<BalanceSeries, 'points'>,
  { symbol, decimals }: { symbol: string; decimals: number },
  nowSeconds = Date.now() / 1000
): string {
  const first = points[0]
  const last = points.at(-1)
  if (first === undefined || last === undefined) return 'Balance over time'
  const difference = last.balanceWei - first.balanceWei
  const since = momentWords(first.timestampSeconds, nowSeconds)
  if (difference === 0n) return `As much as ${since}`
  const amount = `${shownAmount(difference < 0n ? -difference : difference, decimals, 4)} ${symbol}`
  return `${amount} ${difference > 0n ? 'more' : 'less'} than ${since}`
}

/** A moment as precise as it has to be: of today its time, of this year its day, or with the year. */
function momentWords(seconds: number, nowSeconds: number): string {
  const moment = new Date(seconds * 1000)
  const now = new Date(nowSeconds * 1000)
  if (moment.toDateString() === now.toDateString()) return `at ${times.format(moment)}`
  if (moment.getFullYear() === now.getFullYear()) return `on ${days.format(moment)}`
  return `on ${daysOfYears.format(moment)}`
}
