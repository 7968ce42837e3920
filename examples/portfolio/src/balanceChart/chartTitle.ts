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
  const since = `since ${momentWords(first.timestampSeconds, nowSeconds)}`
  if (difference === 0n) return `Unchanged ${since}`
  const size = difference < 0n ? -difference : difference
  // Of very little, every digit counts.
  const digits = size * 10_000n < 10n ** BigInt(decimals) ? decimals : 4
  const amount = `${shownAmount(size, decimals, digits)} ${symbol}`
  return `${difference > 0n ? 'Up' : 'Down'} ${amount} ${since}`
}

/** A moment as precise as it has to be: of today its time, of this year its day, or with the year. */
function momentWords(seconds: number, nowSeconds: number): string {
  const moment = new Date(seconds * 1000)
  const now = new Date(nowSeconds * 1000)
  if (moment.toDateString() === now.toDateString()) return times.format(moment)
  return (moment.getFullYear() === now.getFullYear() ? days : daysOfYears).format(moment)
}
