import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { ChainState } from '../../../model/sync.ts'
import type { IndexFigures, NodeFigures, ServerFigures } from '../../../platform/figures.ts'
import { present } from '../../../platform/present.ts'
import { findNotReady, type ReadyRule, toChainHealth } from '../../../server/http/health.ts'
import { type Counts, percentile } from '../../../server/metrics/counts.ts'
import type { ChartPoint, StatusReport } from './StatusReport.ts'

/** Sources of the status page, read at every sample or report. */
export interface StatusSources
  extends Pick<ServerFigures, 'chainStates' | 'solanaStates' | 'nodeFigures' | 'chainLabel'>,
    ReadyRule {
  readonly version: string
  readonly counts: Pick<Counts, 'calls' | 'refusals'>
  readonly inFlight: () => number
  readonly isClosing: () => boolean
  /** The clock, in Unix milliseconds; it may be set. */
  readonly now?: () => number
  /** Milliseconds that only ever grow, which samples are dated by. */
  readonly steadyNow?: () => number
}

/** Values at one time; a value is absent where it was not known. */
interface Values {
  readonly atMs: number
  readonly [name: string]: number | undefined
}

type Series = readonly Values[]
interface Sample {
  /** By chain id, and those of the callers. */
  readonly values: ReadonlyMap<number | 'callers', Values>
  /** Of each method since the start: the answered calls, then all calls by duration, in the steps of `callBounds`. */
  readonly calls: ReadonlyMap<string, readonly number[]>
}

/** Remembers the last half hour, a sample every `everyMs`, in memory that does not grow. Nothing is kept per caller. */
export function createStatusRecorder(sources: StatusSources, everyMs = 10_000) {
  const { counts, chainStates, solanaStates, nodeFigures, isClosing, now = Date.now } = sources
  const { steadyNow = () => performance.now() } = sources
  const startedMs = steadyNow()
  const samples: Sample[] = [
    { values: new Map([['callers', { atMs: startedMs, total: 0 }]]), calls: new Map() }
  ]
  let timer: NodeJS.Timeout | undefined
  const delay = monitorEventLoopDelay({ resolution: 20 })
  let eventLoopDelay: StatusReport['server']['eventLoopDelay']
  const seriesOf = (key: number | 'callers') => samples.flatMap(({ values }) => values.get(key) ?? [])

  function measure(): Sample {
    const atMs = steadyNow()
    const calls = new Map<string, readonly number[]>()
    for (const [method, { outcomes, durations }] of counts.calls) {
      calls.set(method, [outcomes.get('ok') ?? 0, ...durations.read().counts])
    }
    const total = sum(durationsOf(calls))
    const callsPerSecond = rateOf(seriesOf('callers'), { atMs, total }, 'total')
    const p95Ms = percentile(minus(durationsOf(calls), durationsOf(samples.at(-1)?.calls)), 0.95)
    const values = new Map<number | 'callers', Values>([['callers', { atMs, total, callsPerSecond, p95Ms }]])
    const figures = nodeFigures()
    for (const [index, state] of chainStates().entries()) {
      values.set(state.chainId, measureChain(seriesOf(state.chainId), atMs, state, figures[index]?.index))
    }
    return { values, calls }
  }

  function sample(): void {
    samples.push(measure())
    if (samples.length > Math.ceil(1_800_000 / everyMs)) samples.shift()
    if (timer) eventLoopDelay = { p99Ms: toMs(delay.percentile(99)), maxMs: toMs(delay.max) }
    delay.reset()
  }

  function report(): StatusReport {
    const { values, calls } = measure()
    const [steadyMs, unixMs] = [steadyNow(), now()]
    const toUnix = (ms: number) => Math.round((unixMs - steadyMs + ms) / 1_000)
    const chart = (key: number | 'callers', name: string): readonly ChartPoint[] =>
      seriesOf(key).flatMap(({ atMs, [name]: value }) => (value === undefined ? [] : [[toUnix(atMs), value]]))
    const [states, solana, figures] = [chainStates(), solanaStates(), nodeFigures()]
    const { rss: rssBytes, heapUsed: heapUsedBytes } = process.memoryUsage()
    return {
      formatVersion: 1,
      server: {
        version: sources.version,
        nowSeconds: Math.round(unixMs / 1_000),
        uptimeSeconds: Math.floor((steadyMs - startedMs) / 1_000),
        ready: !isClosing() && findNotReady(states, solana, sources).length === 0,
        ...(isClosing() && { closing: true as const }),
        inFlight: sources.inFlight(),
        calls: reportCalls(calls, samples.slice(-1 - Math.ceil(300_000 / everyMs))[0]?.calls),
        refusals: Object.fromEntries(counts.refusals),
        memory: { rssBytes, heapUsedBytes },
        ...present({ callsPerSecond: values.get('callers')?.callsPerSecond, eventLoopDelay })
      },
      evm: states.map((state, index) => {
        const { chainId, stalledSinceMs } = state
        const { reorgAtMs, reorgBlocks: blocks, ...chain }: Partial<Values> = values.get(chainId) ?? {}
        const { blocksPerSecond, transactionsPerSecond, lagSeconds } = chain
        const { poolTransactions, storeBytes, freeBytes } = figures[index]?.index ?? {}
        const left = state.phase === 'backfilling' && state.lagBlocks
        return {
          ...toChainHealth(state, unixMs),
          label: sources.chainLabel(chainId),
          ...present({
            ...{ blocksPerSecond, transactionsPerSecond, lagSeconds, percent: percentOf(state) },
            ...{ poolTransactions, storeBytes, freeBytes, ...countNodes(figures[index]) },
            stalledSinceSeconds: stalledSinceMs && Math.round(stalledSinceMs / 1_000),
            etaSeconds: left && blocksPerSecond ? Math.ceil(left / blocksPerSecond) : undefined,
            lastReorg: reorgAtMs && blocks ? { atSeconds: toUnix(reorgAtMs), blocks } : undefined
          })
        }
      }),
      solana,
      charts: {
        everySeconds: everyMs / 1_000,
        callsPerSecond: chart('callers', 'callsPerSecond'),
        p95Ms: chart('callers', 'p95Ms'),
        evm: states.map(({ chainId }) => ({
          chainId,
          lagBlocks: chart(chainId, 'lagBlocks'),
          blocksPerSecond: chart(chainId, 'blocksPerSecond')
        }))
      }
    }
  }

  return {
    ...{ sample, report },
    start() {
      // So that rates are known soon after the start.
      sample()
      delay.enable()
      timer = setInterval(sample, everyMs).unref()
    },
    stop() {
      clearInterval(timer)
      delay.disable()
    }
  }
}

function measureChain(series: Series, atMs: number, state: ChainState, index?: IndexFigures): Values {
  const { phase, head, indexedTo, lagBlocks } = state
  const before = series.at(-1)
  const removed = index?.reorgDepths.sum ?? before?.removed ?? 0
  const more = removed - (before?.removed ?? 0)
  const now = { atMs, head, indexedTo: indexedTo?.number, transactions: index?.transactions, removed }
  return {
    ...before,
    ...now,
    // A thread that was started again counts from nothing.
    ...(more !== 0 && removed > 0 && { reorgAtMs: atMs, reorgBlocks: more > 0 ? more : removed }),
    blocksPerSecond: rateOf(series, now, 'indexedTo'),
    transactionsPerSecond: rateOf(series, now, 'transactions'),
    lagSeconds: lagSecondsOf(series, now),
    // While the node is silent its old head says nothing of how far the index is behind.
    lagBlocks: phase === 'following' || phase === 'backfilling' ? lagBlocks : undefined
  }
}

/** Returns the growth per second over the last minute; `undefined` where the value fell, and in less than a second. */
function rateOf(series: Series, to: Values, name: string): number | undefined {
  const from = series.find(values => values.atMs >= to.atMs - 60_000 && values[name] !== undefined)
  const [before, now, ms] = [from?.[name], to[name], to.atMs - (from?.atMs ?? 0)]
  if (before === undefined || now === undefined || now < before || ms < 1_000) return undefined
  const rate = ((now - before) * 1_000) / ms
  // Whole numbers from 10 on, two digits below.
  return rate >= 10 ? Math.round(rate) : Number(rate.toPrecision(2))
}

/** Returns the time since the first sample in which the node was already beyond what is indexed now. */
function lagSecondsOf(series: Series, { atMs, head, indexedTo }: Values): number | undefined {
  if (head === undefined || indexedTo === undefined) return undefined
  if (head <= indexedTo) return 0
  const first = series.findIndex(values => (values.head ?? -1) > indexedTo)
  // It was so from the beginning: since when is not known.
  return first === 0 ? undefined : Math.round((atMs - (series[first]?.atMs ?? atMs)) / 1_000)
}

function percentOf({ head, indexedFrom, indexedTo }: ChainState): number | undefined {
  if (head === undefined || head < indexedFrom) return undefined
  const done = (indexedTo?.number ?? indexedFrom - 1) - indexedFrom + 1
  return Math.min(100, Math.floor((done * 1_000) / (head - indexedFrom + 1)) / 10)
}

/** Counts the nodes in service: each once, and only if no upstream of it is out of service. */
function countNodes({ upstreams = [], webSockets = [] }: Partial<NodeFigures> = {}) {
  const total = new Set(upstreams.map(({ position }) => position)).size
  const out = new Set(upstreams.flatMap(({ position, outOfService }) => (outOfService ? position : [])))
  const connected = webSockets.filter(socket => socket.connected).length
  return {
    nodes: total === 0 ? undefined : { total, inService: total - out.size },
    webSockets: webSockets.length === 0 ? undefined : { total: webSockets.length, connected }
  }
}

/** Lists the calls since `from` by method. */
function reportCalls(to: Sample['calls'], from?: Sample['calls']): StatusReport['server']['calls'] {
  const methods = [...to].map(([method, calls]) => {
    const [ok = 0, ...durations] = minus(calls, from?.get(method) ?? [])
    const [p50Ms = 0, p95Ms = 0, p99Ms = 0] = [0.5, 0.95, 0.99].map(part => percentile(durations, part))
    return { method, count: sum(durations), failed: sum(durations) - ok, p50Ms, p95Ms, p99Ms }
  })
  return methods.filter(({ count }) => count > 0).sort((a, b) => (a.method < b.method ? -1 : 1))
}

/** Adds up the durations of all methods. */
function durationsOf(calls: Sample['calls'] = new Map()): readonly number[] {
  const [first = [], ...others] = calls.values()
  return first.map((value, index) => value + sum(others.map(other => other[index] ?? 0))).slice(1)
}

const toMs = (nanoseconds: number) => Math.round(nanoseconds / 1e6)
const minus = (to: readonly number[], from: readonly number[]) => to.map((value, i) => value - (from[i] ?? 0))
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
