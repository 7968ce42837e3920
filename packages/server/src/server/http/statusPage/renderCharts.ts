import { clock, count, type Html, type HtmlPart, html, short } from './html.ts'
import { usualLagBlocks } from './judgeChains.ts'
import type { ChartPoint, StatusReport } from './StatusReport.ts'

/** Draws the charts of an EVM chain that was behind: in sync, its lag and rate tell nothing of the index. */
export function renderChainCharts(report: StatusReport, chainId: number): HtmlPart {
  const { lagBlocks, blocksPerSecond } = report.charts.evm.find(chain => chain.chainId === chainId) ?? {}
  if (!lagBlocks || !blocksPerSecond || largest(lagBlocks) <= usualLagBlocks) return undefined
  const last = lastOf(lagBlocks, report)
  const most = count(largest(lagBlocks), 'block')
  const behind = last === 0 ? 'Caught up' : html`${count(last ?? 0, 'block')} behind`
  const lag = last === undefined ? 'Lag: not known now' : html`${behind}, ${most} at most`
  return html`<div class="charts">${[chart(report, lagBlocks, 'blocks', lag), rateChart(report, blocksPerSecond, 'block')]}</div>`
}

/** Draws the charts of the callers, where there were calls. */
export function renderCallCharts(report: StatusReport): HtmlPart {
  const { callsPerSecond, p95Ms } = report.charts
  const last = lastOf(p95Ms, report)
  const times =
    last === undefined ? 'Answer times: no calls lately' : html`95 % of calls within ${short(last)} ms`
  const calls = largest(callsPerSecond) > 0 && rateChart(report, callsPerSecond, 'call')
  const answers = p95Ms.length > 1 && chart(report, p95Ms, 'ms', times)
  return (calls || answers) && html`<div class="charts">${[calls, answers]}</div>`
}

function rateChart(report: StatusReport, points: readonly ChartPoint[], noun: string): Html {
  const last = points.at(-1)?.[1]
  const rate = html`${short(last ?? 0)} ${noun}s a second, ${short(largest(points))} at most`
  return chart(report, points, `${noun}s/s`, last === undefined ? 'Rate: not measured yet' : rate)
}

/** A value from before a gap says nothing of the present. */
function lastOf(points: readonly ChartPoint[], { server, charts }: StatusReport): number | undefined {
  const [at = 0, value] = points.at(-1) ?? []
  return server.nowSeconds - at <= charts.everySeconds * 2.5 ? value : undefined
}

function largest(points: readonly ChartPoint[]): number {
  return Math.max(0, ...points.map(([, value]) => value))
}

/** Draws a line chart whose title states the finding. Its axes begin at zero; labels are text, so that they are never stretched. */
function chart(report: StatusReport, points: readonly ChartPoint[], unit: string, finding: HtmlPart): Html {
  const { nowSeconds: to, uptimeSeconds } = report.server
  const from = to - Math.min(1_800, Math.max(300, uptimeSeconds))
  const max = largest(points) || 1
  const power = 10 ** Math.floor(Math.log10(max))
  const top = [1, 2, 5, 10].map(step => step * power).find(step => step >= max) ?? max
  // Finer than the drawing on any screen, so that whole numbers do.
  const x = (seconds: number) => Math.round(((seconds - from) * 720) / (to - from))
  const y = (value: number) => Math.round(158 - (value * 156) / top)
  const runs: ChartPoint[][] = []
  for (const point of points.filter(([at]) => at >= from && at <= to)) {
    // Between two points further apart nothing was known, and nothing is drawn.
    const isNear = point[0] - (runs.at(-1)?.at(-1)?.[0] ?? 0) <= report.charts.everySeconds * 2.5
    if (isNear) runs.at(-1)?.push(point)
    else runs.push([point])
  }
  const lines = runs.map(run => {
    // A single point is a dot, which round line ends make of no length at all.
    return `M${run.map(([at, value]) => `${x(at)} ${y(value)}`).join('L')}${run.length === 1 ? 'h0' : ''}`
  })
  const areas = runs.map((run, index) => `${lines[index]}V160H${x(run[0]?.[0] ?? from)}Z`)
  const label = `${top.toLocaleString('en', { notation: 'compact' })} ${unit}`
  return html`<figure><figcaption>${finding}</figcaption><div class="plot" aria-hidden="true"><div class="y"><span>${label}</span><span>0</span></div><svg viewBox="0 0 720 160" preserveAspectRatio="none" aria-hidden="true"><path class="area" d="${areas.join('')}"/><path class="line" d="${lines.join('')}"/></svg><div class="x"><span>${clock(from)}</span><span>${clock(to)}</span></div></div></figure>`
}
