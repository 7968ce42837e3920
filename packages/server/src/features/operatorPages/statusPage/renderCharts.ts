import { clock, count, type Html, type HtmlPart, html, known, short } from './html.ts'
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
  const within = known(lastOf(p95Ms, report), ms => html`95 % of calls within ${short(ms)} ms`)
  const calls = largest(callsPerSecond) > 0 && rateChart(report, callsPerSecond, 'call')
  const times = p95Ms.length > 1 && chart(report, p95Ms, 'ms', within ?? 'Answer times: no calls lately')
  return (calls || times) && html`<div class="charts">${[calls, times]}</div>`
}

function rateChart(report: StatusReport, points: readonly ChartPoint[], noun: string): Html {
  const last = points.at(-1)?.[1]
  const rate = known(last, now => html`${short(now)} ${noun}s a second, ${short(largest(points))} at most`)
  return chart(report, points, `${noun}s/s`, rate ?? 'Rate: not measured yet')
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
  const top = largest(points) || 1
  // Between two points further apart nothing was known, and nothing is drawn.
  const isGap = (before = 0, after = to * 2) => after - before > report.charts.everySeconds * 2.5
  const line = points.map(([at, value], index) => {
    const begins = isGap(points[index - 1]?.[0], at)
    const ends = isGap(at, points[index + 1]?.[0])
    // Finer than the drawing on any screen, so that whole numbers do.
    const [x, y] = [((at - from) * 720) / (to - from), 158 - (value * 156) / top].map(Math.round)
    // A single point is a dot, which round line ends make of no length at all.
    return `${begins ? 'M' : 'L'}${x} ${y}${begins && ends ? 'h0' : ''}`
  })
  const label = `${top.toLocaleString('en', { notation: 'compact' })} ${unit}`
  return html`<figure><figcaption>${finding}</figcaption><div class="plot" aria-hidden="true"><div class="y"><span>${label}</span><span>0</span></div><svg viewBox="0 0 720 160" preserveAspectRatio="none" aria-hidden="true"><path class="line" d="${line.join('')}"/></svg><div class="x"><span>${clock(from)}</span><span>${clock(to)}</span></div></div></figure>`
}
