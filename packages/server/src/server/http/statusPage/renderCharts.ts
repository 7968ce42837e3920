import { clock, compact, count, type Html, type HtmlPart, html, short } from './html.ts'
import type { ChartPoint, StatusReport } from './StatusReport.ts'

const maxSeconds = 1_800
const minSeconds = 300

/** The stretch of time that the charts of a report show, in Unix seconds. */
interface Axis {
  readonly from: number
  readonly to: number
  readonly everySeconds: number
}

/** Draws the charts of an EVM chain, of what has moved; none while it follows its node at the chain's own pace. */
export function renderChainCharts(
  report: StatusReport,
  series: StatusReport['charts']['evm'][number]
): HtmlPart {
  const axis = axisOf(report)
  const { lagBlocks, blocksPerSecond } = series
  const isBehind = largest(lagBlocks) > usualTop
  return wrap([
    isBehind && renderChart(axis, lagBlocks, 'blocks', lagFinding(lagBlocks, axis)),
    // The rate of a chain in sync is the chain's own.
    isBehind &&
      renderChart(axis, blocksPerSecond, 'blocks/s', rateFinding(blocksPerSecond, 'block', 'indexed'))
  ])
}

/** Draws the charts of the callers, of what has moved. */
export function renderCallCharts(report: StatusReport): HtmlPart {
  const axis = axisOf(report)
  const { callsPerSecond, p95Ms } = report.charts
  return wrap([
    largest(callsPerSecond) > 0 &&
      renderChart(axis, callsPerSecond, 'calls/s', rateFinding(callsPerSecond, 'call', 'answered')),
    p95Ms.length > 1 && renderChart(axis, p95Ms, 'ms', latencyFinding(p95Ms, axis))
  ])
}

function wrap(charts: readonly (Html | false)[]): HtmlPart {
  const drawn = charts.filter(chart => chart !== false)
  return drawn.length > 0 && html`<div class="charts">${drawn}</div>`
}

function axisOf({ server, charts }: StatusReport): Axis {
  const seconds = Math.min(maxSeconds, Math.max(minSeconds, server.uptimeSeconds))
  return { from: server.nowSeconds - seconds, to: server.nowSeconds, everySeconds: charts.everySeconds }
}

function lagFinding(points: readonly ChartPoint[], axis: Axis): HtmlPart {
  const [first, last] = [points[0]?.[1], points.at(-1)?.[1]]
  if (first === undefined || last === undefined) return 'Lag: not measured yet'
  if (!isCurrent(points, axis)) return 'Lag: not known now'
  if (last === 0) return html`Caught up, ${count(largest(points), 'block')} behind at most`
  return html`${count(last, 'block')} behind, ${last < first ? 'falling' : last > first ? 'rising' : 'steady'}`
}

function rateFinding(points: readonly ChartPoint[], noun: 'block' | 'call', verb: string): HtmlPart {
  const last = points.at(-1)?.[1]
  if (last === undefined) return `${noun === 'block' ? 'Blocks' : 'Calls'} a second: not measured yet`
  const max = largest(points)
  if (max === 0) return `No ${noun}s ${verb} lately`
  const [now, peak] = [short(last), short(max)]
  const atMost = now.markup !== peak.markup && html`, ${peak} at most`
  return html`${now} ${noun}${last === 1 ? '' : 's'} a second${atMost}`
}

function latencyFinding(points: readonly ChartPoint[], axis: Axis): HtmlPart {
  const last = points.at(-1)?.[1]
  if (last === undefined || !isCurrent(points, axis)) return 'Answer times: no calls lately'
  return html`95 % of calls within ${short(last)} ms`
}

/** Returns whether the last point is recent: a value from before a gap says nothing of the present. */
function isCurrent(points: readonly ChartPoint[], { to, everySeconds }: Axis): boolean {
  return to - (points.at(-1)?.[0] ?? 0) <= everySeconds * 2.5
}

function largest(points: readonly ChartPoint[]): number {
  return points.reduce((max, [, value]) => Math.max(max, value), 0)
}

/** Finer than the drawing on any screen, so that whole numbers do. */
const width = 720
const height = 160
/** A chain was never further behind in half an hour: its charts are not drawn. */
const usualTop = 5

/**
 * Draws a line chart whose title states the finding. Its axes begin at zero and carry their unit; labels are text beside
 * the drawing, so that they are never stretched.
 */
function renderChart(axis: Axis, points: readonly ChartPoint[], unit: string, finding: HtmlPart): Html {
  const { from, to, everySeconds } = axis
  const top = niceTop(largest(points))
  const x = (seconds: number) => Math.round(((seconds - from) * width) / (to - from))
  const y = (value: number) => Math.round(height - 2 - (value * (height - 4)) / top)
  // Between two points further apart nothing was known, and nothing is drawn.
  const shown = points.filter(([at]) => at >= from && at <= to)
  const runs = splitAtGaps(shown, everySeconds * 2.5)
  const lines = runs.map(run => path(run.map(([at, value]) => `${x(at)} ${y(value)}`)))
  const areas = runs.map((run, index) => `${lines[index]}V${height}H${x(run[0]?.[0] ?? from)}Z`)
  const scale =
    points.length > 0 && html`<span class="unseen">. Scale from 0 to ${short(top)} ${unit}.</span>`
  return html`<figure class="chart"><figcaption>${finding}${scale}</figcaption><div class="plot" aria-hidden="true"><div class="y"><span>${compact(top)} ${unit}</span><span>0</span></div><svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" aria-hidden="true"><path class="area" d="${areas.join('')}"/><path class="line" d="${lines.join('')}"/></svg><div class="x"><span>${clock(from)}</span><span>${clock(to)}</span></div></div></figure>`
}

/** The first of 1, 2, 5, 10, 20, 50 … that is not below. */
function niceTop(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return [1, 2, 5, 10].map(step => step * power).find(step => step >= value) ?? value
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

/** A line through the points; through a single one a dot, which round line ends make of no length at all. */
function path(points: readonly string[]): string {
  return `M${points.join('L')}${points.length === 1 ? 'h0' : ''}`
}
