import { createRing } from './createRing.ts'
import type { MethodCalls } from './StatusReport.ts'

/** Upper bounds in milliseconds: each a fifth above the one before, so that no percentile is off by more. */
const bounds = Array.from({ length: 78 }, (_, place) => 0.05 * 1.2 ** place)

/** Calls of one method in one interval. */
interface Tally {
  count: number
  failed: number
  /** By the first bound that is not below the duration; the last place holds everything longer. */
  readonly durations: Uint32Array
}

type Interval = ReadonlyMap<string, Tally>

/** Counts calls over the last intervals. Its memory is bounded by the number of methods, whatever is counted. */
export interface CallWindow {
  count(call: { readonly method: string; readonly outcome: string; readonly durationMs: number }): void
  /** Calls since the window was made. */
  total(): number
  /** Ends the interval and begins the next. @returns the p95 of all its calls; `undefined` when there were none. */
  endInterval(): number | undefined
  /** Of the intervals kept and the current one, by method name. */
  calls(): readonly MethodCalls[]
}

/** @param intervals - how many ended ones are kept. */
export function createCallWindow(intervals: number): CallWindow {
  const ended = createRing<Interval>(intervals)
  let current = new Map<string, Tally>()
  let total = 0
  return {
    count({ method, outcome, durationMs }) {
      const tally = tallyOf(current, method)
      tally.count++
      if (outcome !== 'ok') tally.failed++
      const place = bounds.findIndex(bound => durationMs <= bound)
      const index = place < 0 ? bounds.length - 1 : place
      tally.durations[index] = (tally.durations[index] ?? 0) + 1
      total++
    },
    total: () => total,
    endInterval() {
      const all = emptyTally()
      for (const tally of current.values()) add(all, tally)
      ended.push(current)
      current = new Map()
      return percentile(all, 0.95)
    },
    calls() {
      const sums = new Map<string, Tally>()
      for (const interval of [...ended.values(), current]) {
        for (const [method, tally] of interval) add(tallyOf(sums, method), tally)
      }
      return [...sums]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([method, tally]) => ({
          method,
          count: tally.count,
          failed: tally.failed,
          p50Ms: percentile(tally, 0.5) ?? 0,
          p95Ms: percentile(tally, 0.95) ?? 0,
          p99Ms: percentile(tally, 0.99) ?? 0
        }))
    }
  }
}

function emptyTally(): Tally {
  return { count: 0, failed: 0, durations: new Uint32Array(bounds.length) }
}

function tallyOf(tallies: Map<string, Tally>, method: string): Tally {
  const known = tallies.get(method)
  if (known !== undefined) return known
  const tally = emptyTally()
  tallies.set(method, tally)
  return tally
}

function add(sum: Tally, { count, failed, durations }: Tally): void {
  sum.count += count
  sum.failed += failed
  for (const [place, found] of durations.entries()) sum.durations[place] = (sum.durations[place] ?? 0) + found
}

function percentile({ count, durations }: Tally, part: number): number | undefined {
  if (count === 0) return undefined
  const wanted = Math.ceil(count * part)
  let seen = 0
  const place = durations.findIndex(found => {
    seen += found
    return seen >= wanted
  })
  return Number((bounds[place] ?? 0).toPrecision(2))
}
