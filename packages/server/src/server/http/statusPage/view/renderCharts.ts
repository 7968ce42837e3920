import type { ChartPoint, StatusReport } from '../StatusReport.ts'
import type { Format } from './createFormat.ts'
import type { Html } from './html.ts'
import { renderChart } from './renderChart.ts'

const longestSeconds = 1_800
const shortestSeconds = 300

type EvmSeries = StatusReport['charts']['evm'][number]

/** The two charts of an EVM chain. */
export function renderChainCharts(report: StatusReport, series: EvmSeries, format: Format): readonly Html[] {
  const axis = axisOf(report)
  const { lagBlocks, blocksPerSecond } = series
  return [
    renderChart(
      {
        ...axis,
        points: lagBlocks,
        unit: 'blocks',
        leastTop: 5,
        finding: lagFinding(lagBlocks, axis, format)
      },
      format
    ),
    renderChart(
      {
        ...axis,
        points: blocksPerSecond,
        unit: 'blocks/s',
        finding: rateFinding(blocksPerSecond, 'block', 'indexed', format)
      },
      format
    )
  ]
}

/** The two charts of the callers. */
export function renderCallCharts(report: StatusReport, format: Format): readonly Html[] {
  const axis = axisOf(report)
  const { callsPerSecond, p95Ms } = report.charts
  return [
    renderChart(
      {
        ...axis,
        points: callsPerSecond,
        unit: 'calls/s',
        finding: rateFinding(callsPerSecond, 'call', 'answered', format)
      },
      format
    ),
    renderChart({ ...axis, points: p95Ms, unit: 'ms', finding: latencyFinding(p95Ms, axis, format) }, format)
  ]
}

/** The stretch of time that a chart shows. */
interface Axis {
  readonly from: number
  readonly to: number
  readonly everySeconds: number
}

function axisOf({ server, charts }: StatusReport): Axis {
  const known = Math.min(longestSeconds, Math.max(shortestSeconds, server.uptimeSeconds))
  return { from: server.nowSeconds - known, to: server.nowSeconds, everySeconds: charts.everySeconds }
}

function lagFinding(points: readonly ChartPoint[], axis: Axis, format: Format): string {
  const [first, last] = [points[0]?.[1], points.at(-1)?.[1]]
  if (first === undefined || last === undefined) return 'Lag: not measured yet'
  if (!isCurrent(points, axis)) return 'Lag: not known now'
  const most = largest(points)
  if (most === 0) return 'No lag'
  if (most <= 5) return `Never more than ${format.count(most, 'block')} behind`
  const change = last < first ? 'falling' : last > first ? 'rising' : 'steady'
  return `${format.count(last, 'block')} behind, ${change}`
}

function rateFinding(points: readonly ChartPoint[], noun: string, verb: string, format: Format): string {
  const last = points.at(-1)?.[1]
  if (last === undefined) return `${noun === 'block' ? 'Blocks' : 'Calls'} a second: not measured yet`
  const most = largest(points)
  if (most === 0) return `No ${noun}s ${verb} lately`
  const now = `${format.short(last)} ${noun}${last === 1 ? '' : 's'} a second`
  const peak = format.short(most)
  return peak === format.short(last) ? now : `${now}, ${peak} at most`
}

function latencyFinding(points: readonly ChartPoint[], axis: Axis, format: Format): string {
  const last = points.at(-1)?.[1]
  return last === undefined || !isCurrent(points, axis)
    ? 'Answer times: no calls lately'
    : `95 % of calls within ${format.short(last)} ms`
}

/** Whether the last point is of now: what was so before a gap may not be said of the present. */
function isCurrent(points: readonly ChartPoint[], { to, everySeconds }: Axis): boolean {
  return to - (points.at(-1)?.[0] ?? 0) <= everySeconds * 2.5
}

function largest(points: readonly ChartPoint[]): number {
  return points.reduce((most, [, value]) => Math.max(most, value), 0)
}
