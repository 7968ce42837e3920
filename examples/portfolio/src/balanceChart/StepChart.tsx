import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from 'react'
import { Amount } from '../shared/Amount.tsx'
import { cutText } from '../shared/cutText.ts'
import { shownAmount, shownInteger } from '../shared/formatAmount.ts'
import { axisTicks } from './axisTicks.ts'
import type { BalancePoint, BalanceSeries } from './balanceSeries.ts'

const height = 200
const margin = { top: 24, right: 8, bottom: 24 }
/** Of a digit on the axis, at its size. */
const digitWidth = 7.2
const mostRows = 500
const oneDay = 86_400
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const times = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })
const moments = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** What a {@link StepChart} shows. */
interface StepChartProps {
  series: BalanceSeries
  currency: { readonly symbol: string; readonly decimals: number }
}

/**
 * Balances as steps over the height of blocks: between two points nothing has changed.
 *
 * Reading it: pointer, or the arrow keys; as a table for those who do not see it.
 */
export function StepChart({ series, currency }: StepChartProps) {
  const { points } = series
  const [box, width] = useWidth()
  const [chosen, setChosen] = useState<number>()
  const at = Math.min(chosen ?? points.length - 1, points.length - 1)
  const point = points[at]
  if (point === undefined) return null
  const scale = createScale(series, width, currency.decimals)

  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Record<string, number> = {
      ...{ ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1 },
      ...{ PageDown: at - 10, PageUp: at + 10, Home: 0, End: points.length - 1 }
    }
    const next = steps[event.key]
    if (next === undefined) return
    event.preventDefault()
    setChosen(Math.max(0, Math.min(points.length - 1, next)))
  }
  const onPointerMove = (event: PointerEvent<HTMLDivElement>) => {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left
    // What was true at that place: the last point left of it.
    const found = points.findLastIndex(({ blockNumber }) => scale.x(blockNumber) <= x)
    setChosen(Math.max(0, found))
  }
  return (
    <>
      <div
        ref={box}
        className="plot"
        role="slider"
        tabIndex={0}
        aria-label="Balance after each block"
        aria-valuemin={0}
        aria-valuemax={points.length - 1}
        aria-valuenow={at}
        aria-valuetext={`${shownAmount(point.balanceWei, currency.decimals)} ${currency.symbol} after block ${shownInteger(point.blockNumber)}, ${moments.format(point.timestampSeconds * 1000)}`}
        onKeyDown={onKeyDown}
        onPointerMove={onPointerMove}
        onPointerDown={onPointerMove}
        onPointerLeave={() => setChosen(undefined)}
      >
        {width > 0 && <Plot {...{ series, scale, width, at, currency }} />}
      </div>
      <p className="readout tiny">
        <Amount value={point.balanceWei} decimals={currency.decimals} unit={currency.symbol} />{' '}
        <span className="quiet">
          after block {shownInteger(point.blockNumber)}, {moments.format(point.timestampSeconds * 1000)}
        </span>
      </p>
      <PointTable {...{ series, currency }} />
    </>
  )
}

function Plot({
  series: { points, openingWei, isWhole },
  scale,
  width,
  at,
  currency
}: StepChartProps & { scale: Scale; width: number; at: number }) {
  const first = points[0]
  const last = points.at(-1)
  const point = points[at]
  if (first === undefined || last === undefined || point === undefined) return null
  const steps = points.slice(1).map(each => `H${scale.x(each.blockNumber)}V${scale.y(each.balanceWei)}`)
  const start = `M${scale.x(first.blockNumber)} ${scale.y(isWhole ? openingWei : first.balanceWei)}V${scale.y(first.balanceWei)}`
  const line = start + steps.join('')
  const floor = height - margin.bottom
  const edges = last.timestampSeconds - first.timestampSeconds < oneDay ? times : dates
  return (
    <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      {scale.ticks.values.map(value => (
        <g key={String(value)}>
          <line
            className="grid"
            x1={scale.left}
            x2={width - margin.right}
            y1={scale.y(value)}
            y2={scale.y(value)}
          />
          <text className="end" x={scale.left - 8} y={scale.y(value) + 4}>
            {shownAmount(value, currency.decimals, scale.ticks.fraction)}
          </text>
        </g>
      ))}
      <text x={0} y={12}>
        {cutText(currency.symbol, 8)}
      </text>
      <path className="area" d={`${line}V${floor}H${scale.x(first.blockNumber)}Z`} />
      <path className="curve" d={line} />
      <line className="base" x1={scale.left} x2={width - margin.right} y1={floor} y2={floor} />
      <text x={scale.left} y={height - 6}>
        {edges.format(first.timestampSeconds * 1000)}
      </text>
      <text className="end" x={width - margin.right} y={height - 6}>
        {edges.format(last.timestampSeconds * 1000)}
      </text>
      <line
        className="cursor"
        x1={scale.x(point.blockNumber)}
        x2={scale.x(point.blockNumber)}
        y1={margin.top}
        y2={floor}
      />
      <circle className="dot" cx={scale.x(point.blockNumber)} cy={scale.y(point.balanceWei)} r={4} />
    </svg>
  )
}

function PointTable({ series: { points, isWhole }, currency }: StepChartProps) {
  const [isOpen, setOpen] = useState(false)
  const shown = points.slice(-mostRows).reverse()
  return (
    <details className="pointTable" onToggle={event => setOpen(event.currentTarget.open)}>
      <summary className="quiet tiny">As a table</summary>
      {isOpen && (
        <div className="scroll" tabIndex={-1}>
          <table>
            <caption className="unseen">Balance after each block with a transaction, newest first</caption>
            <thead>
              <tr>
                <th scope="col">Block</th>
                <th scope="col">Time</th>
                <th scope="col">Change</th>
                <th scope="col">Balance</th>
              </tr>
            </thead>
            <tbody>
              {shown.map(point => (
                <tr key={point.blockNumber} data-block={point.blockNumber}>
                  <th scope="row">{shownInteger(point.blockNumber)}</th>
                  <td>{moments.format(point.timestampSeconds * 1000)}</td>
                  <td>
                    {isKnown(point, points, isWhole) && (
                      <Amount value={point.changeWei} {...unitOf(currency)} signed />
                    )}
                  </td>
                  <td>
                    <Amount value={point.balanceWei} {...unitOf(currency)} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          {points.length > mostRows && (
            <p className="quiet tiny">
              The newest {shownInteger(mostRows)} of {shownInteger(points.length)}.
            </p>
          )}
        </div>
      )}
    </details>
  )
}

/** Of the oldest block that is loaded, older transactions may be missing. */
function isKnown(point: BalancePoint, points: readonly BalancePoint[], isWhole: boolean): boolean {
  return isWhole || point !== points[0]
}

function unitOf({ symbol, decimals }: StepChartProps['currency']) {
  return { unit: symbol, decimals }
}

interface Scale {
  /** Where the plot begins, right of the labels. */
  readonly left: number
  readonly x: (blockNumber: number) => number
  readonly y: (balanceWei: bigint) => number
  readonly ticks: ReturnType<typeof axisTicks>
}

function createScale({ points, openingWei, isWhole }: BalanceSeries, width: number, decimals: number): Scale {
  const balances = [...points.map(({ balanceWei }) => balanceWei), ...(isWhole ? [openingWei] : [])]
  const high = balances.reduce((most, each) => (each > most ? each : most))
  // From zero, so that a small change looks small.
  const top = high + high / 8n + 1n
  const from = points[0]?.blockNumber ?? 0
  const span = Math.max(1, (points.at(-1)?.blockNumber ?? 0) - from)
  // Beside nothing there is nothing to compare with.
  const ticks = high === 0n ? axisTicks(0n, 0n, 1, decimals) : axisTicks(0n, top, 4, decimals)
  const labels = ticks.values.map(value => shownAmount(value, decimals, ticks.fraction).length)
  const left = Math.ceil(Math.max(...labels) * digitWidth) + 8
  const wide = width - left - margin.right
  const tall = height - margin.top - margin.bottom
  return {
    ...{ left, ticks },
    x: blockNumber => round(left + ((blockNumber - from) / span) * wide),
    // Pixels need no more than a double holds; the amounts themselves stay exact.
    y: balanceWei => round(height - margin.bottom - (Number(balanceWei) / Number(top)) * tall)
  }
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10
}

/** How wide an element is, in pixels; 0 before it is laid out. */
function useWidth() {
  const box = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    if (box.current === null) return
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)))
    observer.observe(box.current)
    return () => observer.disconnect()
  }, [])
  return [box, width] as const
}
