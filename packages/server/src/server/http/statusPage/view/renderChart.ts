import type { ChartPoint } from '../StatusReport.ts'
import type { Format } from './createFormat.ts'
import { type Html, html } from './html.ts'

/** A small line chart. Its title says what it shows, its axes begin at zero and carry their unit. */
export interface ChartOptions {
  readonly finding: string
  readonly points: readonly ChartPoint[]
  /** Unix seconds at both ends. */
  readonly from: number
  readonly to: number
  /** Between two points further apart than twice this nothing was known, and nothing is drawn. */
  readonly everySeconds: number
  /** Of the value, for the axis: `blocks`, `ms`. */
  readonly unit: string
  /** The axis goes up to this at least, so that trifles do not look like trouble. Default 0. */
  readonly leastTop?: number
}

/** Finer than the drawing on any screen, so that whole numbers do. */
const width = 720
const height = 160

/** The chart, its labels as text beside the drawing so that they are never stretched. */
export function renderChart(options: ChartOptions, format: Format): Html {
  const { finding, points, from, to, everySeconds, unit, leastTop = 0 } = options
  const top = Math.max(leastTop, niceTop(Math.max(0, ...points.map(([, value]) => value))))
  const x = (seconds: number) => Math.round(((seconds - from) * width) / (to - from))
  const y = (value: number) => Math.round(height - 2 - (value * (height - 4)) / top)
  const runs = splitAtGaps(
    points.filter(([at]) => at >= from && at <= to),
    everySeconds * 2.5
  )
  const lines = runs.map(run => path(run.map(([at, value]) => `${x(at)} ${y(value)}`)))
  const areas = runs.map((run, place) => `${lines[place]}V${height}H${x(run[0]?.[0] ?? from)}Z`)
  const label = points.length === 0 ? finding : `${finding}. Scale from 0 to ${format.short(top)} ${unit}.`
  return html`<figure class="chart"><figcaption>${finding}</figcaption><div class="plot"><div class="y" aria-hidden="true"><span>${format.compact(top)} ${unit}</span><span>0</span></div><svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${label}"><path class="area" d="${areas.join('')}"/><path class="line" d="${lines.join('')}"/></svg><div class="x" aria-hidden="true"><span>${format.clock(from)}</span><span>${format.clock(to)}</span></div></div></figure>`
}

/** The first of 1, 2, 5, 10, 20, 50 … that is not below. */
function niceTop(largest: number): number {
  if (largest <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(largest))
  return [1, 2, 5, 10].map(step => step * power).find(step => step >= largest) ?? largest
}

function splitAtGaps(points: readonly ChartPoint[], gapSeconds: number): readonly (readonly ChartPoint[])[] {
  const runs: ChartPoint[][] = []
  for (const point of points) {
    const run = runs.at(-1)
    const last = run?.at(-1)
    if (run !== undefined && last !== undefined && point[0] - last[0] <= gapSeconds) run.push(point)
    else runs.push([point])
  }
  return runs
}

/** A line through these; through a single one a dot, which round line ends make of no length at all. */
function path(places: readonly string[]): string {
  return `M${places.join('L')}${places.length === 1 ? 'h0' : ''}`
}
