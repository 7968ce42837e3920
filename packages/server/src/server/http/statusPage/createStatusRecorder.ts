import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { ServerFigures } from '../../../platform/figures.ts'
import { present } from '../../../platform/present.ts'
import { type Counts, percentile } from '../../metrics/counts.ts'
import { type ChainHistory, createChainHistory, keep, rateOf, toChart } from './createChainHistory.ts'
import { findNotReady, type ReadyRule } from './findNotReady.ts'
import type { MethodCalls, StatusReport } from './StatusReport.ts'

/** Sources of the status page, read at every sample or report. */
export interface StatusSources
  extends Omit<ServerFigures, 'metadataFigures' | 'eventFigures' | 'cacheDamages' | 'solanaHistories'>,
    ReadyRule {
  readonly version: string
  readonly counts: Pick<Counts, 'calls' | 'refusals'>
  readonly inFlight: () => number
  readonly isClosing: () => boolean
  /** The clock, in Unix milliseconds; it may be set. Absent: the machine's. */
  readonly now?: () => number
  /** Milliseconds that only ever grow. Absent: the machine's. */
  readonly steadyNow?: () => number
}

/** Remembers the last half hour, in memory that does not grow. Nothing is kept per caller. */
export interface StatusRecorder {
  /** Takes one sample; `start` does so at regular times. */
  sample(): void
  report(): StatusReport
  start(): void
  stop(): void
}

/** The calls of one method, or of several. */
interface Calls {
  readonly count: number
  readonly failed: number
  /** By `callBounds`. */
  readonly durations: readonly number[]
}

interface Sample {
  readonly atMs: number
  /** Calls since the start. */
  readonly total: number
  readonly callsPerSecond?: number | undefined
  /** Of the calls since the sample before. */
  readonly p95Ms?: number | undefined
}

const chartMs = 30 * 60_000
const callsMs = 5 * 60_000
const noCalls: Calls = { count: 0, failed: 0, durations: [] }

/** @param everyMs - between two samples; the charts hold half an hour of them. */
export function createStatusRecorder(sources: StatusSources, everyMs = 10_000): StatusRecorder {
  const { version, counts, chainStates, solanaStates, nodeFigures, inFlight, isClosing, chainLabel } = sources
  const { now = Date.now, steadyNow = () => performance.now() } = sources
  const maxSamples = Math.ceil(chartMs / everyMs)
  const startedMs = steadyNow()
  const samples: Sample[] = [{ atMs: startedMs, total: 0 }]
  /** The counts at the last samples, as far back as calls are reported. */
  const earlier: ReadonlyMap<string, Calls>[] = [new Map()]
  const chains = new Map<number, ChainHistory>()
  const delay = monitorEventLoopDelay({ resolution: 20 })
  let eventLoopDelay: StatusReport['server']['eventLoopDelay']
  let timer: NodeJS.Timeout | undefined

  const historyOf = (chainId: number) => {
    const history = chains.get(chainId) ?? createChainHistory(maxSamples)
    chains.set(chainId, history)
    return history
  }

  function sample(): void {
    const atMs = steadyNow()
    const figures = nodeFigures()
    for (const [index, status] of chainStates().entries()) {
      historyOf(status.chainId).sample(status, figures[index], atMs)
    }
    const calls = readCalls(counts)
    const total = countAll(calls)
    const before = earlier.at(-1) ?? new Map()
    const made = [...calls].map(([method, to]) => since(before.get(method), to))
    const p95Ms = percentile(made.reduce((all, calls) => add(calls, all), noCalls).durations, 0.95)
    const callsPerSecond = rateOf(samples.slice(-1), { atMs, total }, 'total')
    keep(samples, { atMs, total, callsPerSecond, p95Ms }, maxSamples)
    keep(earlier, calls, Math.ceil(callsMs / everyMs) + 1)
    if (timer !== undefined) {
      eventLoopDelay = { p99Ms: toMs(delay.percentile(99)), maxMs: toMs(delay.max) }
      delay.reset()
    }
  }

  function reportCalls(calls: ReadonlyMap<string, Calls>): readonly MethodCalls[] {
    return [...calls]
      .map(([method, to]) => ({ method, ...since(earlier[0]?.get(method), to) }))
      .filter(({ count }) => count > 0)
      .sort((a, b) => (a.method < b.method ? -1 : 1))
      .map(({ method, ...made }) => ({
        method,
        count: made.count,
        failed: made.failed,
        p50Ms: percentile(made.durations, 0.5) ?? 0,
        p95Ms: percentile(made.durations, 0.95) ?? 0,
        p99Ms: percentile(made.durations, 0.99) ?? 0
      }))
  }

  return {
    sample,
    report() {
      const moment = { steadyMs: steadyNow(), unixMs: now() }
      const statuses = chainStates()
      const solana = solanaStates()
      const figures = nodeFigures()
      const calls = readCalls(counts)
      const memory = process.memoryUsage()
      return {
        formatVersion: 1,
        server: {
          version,
          nowSeconds: Math.round(moment.unixMs / 1_000),
          uptimeSeconds: Math.floor((moment.steadyMs - startedMs) / 1_000),
          ready: !isClosing() && findNotReady(statuses, solana, sources).length === 0,
          ...(isClosing() ? { closing: true as const } : {}),
          inFlight: inFlight(),
          calls: reportCalls(calls),
          refusals: Object.fromEntries(counts.refusals),
          memory: { rssBytes: memory.rss, heapUsedBytes: memory.heapUsed },
          ...present({
            callsPerSecond: rateOf(samples, { atMs: moment.steadyMs, total: countAll(calls) }, 'total'),
            eventLoopDelay
          })
        },
        evm: statuses.map((status, index) => ({
          ...historyOf(status.chainId).report(status, figures[index], moment),
          label: chainLabel(status.chainId)
        })),
        solana,
        charts: {
          everySeconds: everyMs / 1_000,
          callsPerSecond: toChart(samples, 'callsPerSecond', moment),
          p95Ms: toChart(samples, 'p95Ms', moment),
          evm: statuses.map(({ chainId }) => historyOf(chainId).charts(chainId, moment))
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

/** @returns the calls of each method since the start. */
function readCalls({ calls }: Pick<Counts, 'calls'>): ReadonlyMap<string, Calls> {
  return new Map(
    [...calls].map(([method, { outcomes, durations }]) => {
      const count = [...outcomes.values()].reduce((sum, n) => sum + n, 0)
      return [
        method,
        { count, failed: count - (outcomes.get('ok') ?? 0), durations: durations.read().counts }
      ]
    })
  )
}

function countAll(calls: ReadonlyMap<string, Calls>): number {
  return [...calls.values()].reduce((sum, { count }) => sum + count, 0)
}

function add(a: Calls, b: Calls, sign: 1 | -1 = 1): Calls {
  return {
    count: a.count + sign * b.count,
    failed: a.failed + sign * b.failed,
    durations: a.durations.map((count, index) => count + sign * (b.durations[index] ?? 0))
  }
}

function since(from: Calls = noCalls, to: Calls): Calls {
  return add(to, from, -1)
}

function toMs(nanoseconds: number): number {
  return Math.round(nanoseconds / 1e6)
}
