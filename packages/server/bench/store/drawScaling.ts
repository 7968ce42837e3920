import type { Point, StoreFigures } from './measureStore.ts'
import { type Engine, engines } from './stores.ts'

/** What the plot shows of one engine. */
type Curves = Partial<Record<Engine, { readonly large: Pick<StoreFigures, 'points'> }>>

interface Panel {
  readonly title: string
  value(point: Point): number
}

const panels: readonly Panel[] = [
  { title: 'Stored, transactions a second', value: point => point.transactionsPerSecond },
  { title: 'Newest 100 while writing, p99, ms', value: point => point.page.p99 },
  { title: 'Size, GB', value: point => point.bytes / 1e9 }
]
const names: Readonly<Record<Engine, string>> = { sqlite: 'SQLite', postgres: 'PostgreSQL' }
const width = 320
const height = 200
const margin = { left: 56, top: 34, right: 16, bottom: 40 }

/** One SVG with a panel for each figure over the number of stored transactions; fits light and dark pages. */
export function drawScaling(curves: Curves): string {
  const shown = engines.filter(engine => curves[engine] !== undefined)
  const drawn = panels.map((panel, place) => drawPanel(panel, place, shown, curves))
  const legend = shown.map(
    (engine, place) =>
      `<g class="${engine}" transform="translate(${margin.left + place * 120} ${height + 22})"><line x2="24"/><text x="30" y="4">${names[engine]}</text></g>`
  )
  const total = { width: panels.length * width, height: height + 40 }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${total.width} ${total.height}" width="${total.width}" height="${total.height}" role="img">`,
    '<title>Rate, latency and size of both stores as the chain grows</title>',
    `<style>
text { font: 12px system-ui, sans-serif; fill: #333 }
.title { font-weight: 600 }
.axis { stroke: #999; stroke-width: 1 }
.grid { stroke: #ddd; stroke-width: 1 }
polyline, g line { fill: none; stroke-width: 2 }
.sqlite polyline, g.sqlite line { stroke: #0b6bcb }
.postgres polyline, g.postgres line { stroke: #c4570a; stroke-dasharray: 6 3 }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd } .axis { stroke: #888 } .grid { stroke: #444 }
  .sqlite polyline, g.sqlite line { stroke: #6cb2ff } .postgres polyline, g.postgres line { stroke: #ffa25c }
}
</style>`,
    ...drawn,
    ...legend,
    '</svg>',
    ''
  ].join('\n')
}

function drawPanel(panel: Panel, place: number, shown: readonly Engine[], curves: Curves): string {
  const pointsOf = (engine: Engine) => curves[engine]?.large.points ?? []
  const all = shown.flatMap(pointsOf)
  const most = niceAbove(Math.max(...all.map(panel.value)))
  const last = Math.max(...all.map(({ transactions }) => transactions))
  const inner = { width: width - margin.left - margin.right, height: height - margin.top - margin.bottom }
  const x = (transactions: number) => margin.left + (transactions / last) * inner.width
  const y = (value: number) => margin.top + inner.height - (value / most) * inner.height
  const bottom = margin.top + inner.height
  const ticks = [0.25, 0.5, 0.75, 1].map(part => {
    const at = y(most * part)
    return `<line class="grid" x1="${margin.left}" x2="${width - margin.right}" y1="${at}" y2="${at}"/><text x="${margin.left - 6}" y="${at + 4}" text-anchor="end">${shortNumber(most * part)}</text>`
  })
  const lines = shown.map(engine => {
    const places = pointsOf(engine).map(
      point => `${x(point.transactions).toFixed(1)},${y(panel.value(point)).toFixed(1)}`
    )
    return `<g class="${engine}"><polyline points="${places.join(' ')}"/></g>`
  })
  return [
    `<g transform="translate(${place * width} 0)">`,
    `<text class="title" x="${margin.left}" y="20">${panel.title}</text>`,
    ...ticks,
    `<line class="axis" x1="${margin.left}" x2="${width - margin.right}" y1="${bottom}" y2="${bottom}"/>`,
    `<text x="${margin.left}" y="${bottom + 18}">0</text>`,
    `<text x="${width - margin.right}" y="${bottom + 18}" text-anchor="end">${(last / 1e6).toFixed(last < 1e7 ? 1 : 0)} M transactions</text>`,
    ...lines,
    '</g>'
  ].join('\n')
}

/** The next of 1, 2, 4, 5, 8, 10 times a power of ten. */
function niceAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 4, 5, 8, 10].find(step => step * power >= value) ?? 10) * power
}

function shortNumber(value: number): string {
  if (value >= 1_000) return `${Number((value / 1_000).toPrecision(3))} k`
  return `${Number(value.toPrecision(3))}`
}
