import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { SolanaStatus, SyncStatus } from '../../../model/sync.ts'
import type { NodeFigures } from '../../../platform/figures.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import { createCallWindow } from './createCallWindow.ts'
import { type ChainRecorder, createChainRecorder } from './createChainRecorder.ts'
import { createRing } from './createRing.ts'
import type { ChartPoint, StatusReport } from './StatusReport.ts'

/** What the status page is made from; read at every sample or report. */
export interface StatusSources {
  readonly version: string
  readonly syncStatuses: () => readonly SyncStatus[]
  /** Asked for reports only: asking may make a call to the cluster's node. */
  readonly solanaStatuses: () => readonly SolanaStatus[]
  /** In the order of `syncStatuses`. */
  readonly nodeFigures?: (() => readonly NodeFigures[]) | undefined
  readonly inFlight: () => number
  readonly isClosing: () => boolean
  /** The clock, in Unix milliseconds; it may be set. Absent: the machine's. */
  readonly now?: () => number
  /** Milliseconds that only ever grow. Absent: the machine's. */
  readonly steadyNow?: () => number
}

/** Remembers the last half hour, in memory that does not grow. Nothing is kept per caller. */
export interface StatusRecorder extends Pick<Metrics, 'countCall' | 'countRefusal'> {
  /** Takes one sample; `start` does so at regular times. */
  sample(): void
  report(): StatusReport
  start(): void
  stop(): void
}

const chartMinutes = 30
const callMinutes = 5
const rateWindowMs = 60_000
/** What a clock that is kept right by small corrections never goes back. */
const leastSetBackMs = 1_000

/** @param everyMs - between two samples; the charts hold half an hour of them. */
export function createStatusRecorder(sources: StatusSources, everyMs = 10_000): StatusRecorder {
  const { version, syncStatuses, solanaStatuses, nodeFigures, inFlight, isClosing } = sources
  const now = sources.now ?? Date.now
  const steadyNow = sources.steadyNow ?? (() => performance.now())
  const points = Math.ceil((chartMinutes * 60_000) / everyMs)
  const startedMs = steadyNow()
  let latestMs = now()
  const window = createCallWindow(Math.ceil((callMinutes * 60_000) / everyMs))
  const totals = createRing<{ readonly atMs: number; readonly total: number }>(points)
  const callRates = createRing<ChartPoint>(points)
  const p95s = createRing<ChartPoint>(points)
  const chains = new Map<number, ChainRecorder>()
  const refusals = new Map<string, number>()
  const delay = monitorEventLoopDelay({ resolution: 20 })
  let eventLoopDelay: StatusReport['server']['eventLoopDelay']
  let timer: NodeJS.Timeout | undefined
  totals.push({ atMs: latestMs, total: 0 })

  const recorderOf = (chainId: number) => {
    const known = chains.get(chainId)
    if (known !== undefined) return known
    const recorder = createChainRecorder(points)
    chains.set(chainId, recorder)
    return recorder
  }
  const callRate = (since: { atMs: number; total: number } | undefined, atMs: number) =>
    since === undefined || atMs - since.atMs < 1_000
      ? undefined
      : round(((window.total() - since.total) * 1_000) / (atMs - since.atMs))

  /** What was recorded at a time that is yet to come would hide everything newer until then. */
  function lookAtClock(): number {
    const atMs = now()
    const setBackMs = latestMs - atMs
    latestMs = atMs
    if (setBackMs < leastSetBackMs) return atMs
    totals.change(taken => ({ ...taken, atMs: taken.atMs - setBackMs }))
    const seconds = Math.round(setBackMs / 1_000)
    for (const points of [callRates, p95s]) points.change(([at, value]) => [at - seconds, value])
    for (const chain of chains.values()) chain.moveBy(-setBackMs)
    return atMs
  }

  function sample(): void {
    const atMs = lookAtClock()
    const atSeconds = Math.round(atMs / 1_000)
    const figures = nodeFigures?.() ?? []
    for (const [place, status] of syncStatuses().entries()) {
      recorderOf(status.chainId).sample(status, figures[place], atMs)
    }
    const rate = callRate(totals.values().at(-1), atMs)
    if (rate !== undefined) callRates.push([atSeconds, rate])
    totals.push({ atMs, total: window.total() })
    const p95 = window.endInterval()
    if (p95 !== undefined) p95s.push([atSeconds, p95])
    if (timer !== undefined) {
      eventLoopDelay = { p99Ms: toMs(delay.percentile(99)), maxMs: toMs(delay.max) }
      delay.reset()
    }
  }

  return {
    countCall: window.count,
    countRefusal(reason) {
      refusals.set(reason, (refusals.get(reason) ?? 0) + 1)
    },
    sample,
    report() {
      const atMs = lookAtClock()
      const statuses = syncStatuses()
      const figures = nodeFigures?.() ?? []
      const memory = process.memoryUsage()
      const perSecond = callRate(
        totals.values().find(taken => taken.atMs >= atMs - rateWindowMs),
        atMs
      )
      const isReady = !isClosing() && statuses.every(({ backfilled }) => backfilled)
      return {
        formatVersion: 1,
        server: {
          version,
          nowSeconds: Math.round(atMs / 1_000),
          uptimeSeconds: Math.floor((steadyNow() - startedMs) / 1_000),
          ready: isReady,
          ...(isClosing() ? { closing: true as const } : {}),
          inFlight: inFlight(),
          ...(perSecond === undefined ? {} : { callsPerSecond: perSecond }),
          calls: window.calls(),
          refusals: Object.fromEntries(refusals),
          memory: { rssBytes: memory.rss, heapUsedBytes: memory.heapUsed },
          ...(eventLoopDelay === undefined ? {} : { eventLoopDelay })
        },
        evm: statuses.map((status, place) => recorderOf(status.chainId).report(status, figures[place], atMs)),
        solana: solanaStatuses(),
        charts: {
          everySeconds: everyMs / 1_000,
          callsPerSecond: callRates.values(),
          p95Ms: p95s.values(),
          evm: statuses.map(({ chainId }) => {
            const chain = recorderOf(chainId)
            return {
              chainId,
              lagBlocks: chain.lagBlocks(),
              blocksPerSecond: chain.blocksPerSecond()
            }
          })
        }
      }
    },
    start() {
      if (timer !== undefined) return
      // So that rates are known soon after the start.
      sample()
      delay.enable()
      timer = setInterval(sample, everyMs)
      timer.unref()
    },
    stop() {
      clearInterval(timer)
      delay.disable()
    }
  }
}

function toMs(nanoseconds: number): number {
  return Math.round(nanoseconds / 1e6)
}

function round(value: number): number {
  return value >= 10 ? Math.round(value) : Number(value.toPrecision(2))
}
