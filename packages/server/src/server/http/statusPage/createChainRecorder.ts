import type { SyncStatus } from '../../../model/sync.ts'
import type { NodeFigures } from '../../../platform/figures.ts'
import { toChainHealth } from '../healthAnswers.ts'
import { createRing } from './createRing.ts'
import type { ChartPoint, EvmChainStatus } from './StatusReport.ts'

/** How one EVM chain stood when it was looked at. */
interface Sample {
  readonly atMs: number
  readonly head: number | undefined
  readonly indexedTo: number | undefined
  /** Stored by the indexer since its start. */
  readonly transactions: number | undefined
  /** Removed by the indexer since its start. */
  readonly removedBlocks: number | undefined
}

/** Watches how one EVM chain moves. */
export interface ChainRecorder {
  /** To be called at regular times. */
  sample(status: SyncStatus, figures: NodeFigures | undefined, nowMs: number): void
  report(status: SyncStatus, figures: NodeFigures | undefined, nowMs: number): EvmChainStatus
  /** Moves what is remembered, where the clock was set back. @param ms - below 0. */
  moveBy(ms: number): void
  lagBlocks(): readonly ChartPoint[]
  blocksPerSecond(): readonly ChartPoint[]
}

const rateWindowMs = 60_000
const leastWindowMs = 1_000

/** @param points - how many samples are kept. */
export function createChainRecorder(points: number): ChainRecorder {
  const samples = createRing<Sample>(points)
  const lags = createRing<ChartPoint>(points)
  const rates = createRing<ChartPoint>(points)
  let stalledSinceMs: number | undefined
  let lastReorg: EvmChainStatus['lastReorg']

  const noteStall = ({ phase }: SyncStatus, nowMs: number) => {
    stalledSinceMs = phase === 'stalled' ? (stalledSinceMs ?? nowMs) : undefined
  }

  return {
    sample(status, figures, nowMs) {
      noteStall(status, nowMs)
      const now = toSample(status, figures, nowMs)
      const before = samples.values().findLast(known => known.removedBlocks !== undefined)?.removedBlocks ?? 0
      const removed = now.removedBlocks ?? before
      // A thread that was started again counts from nothing.
      const blocks = removed < before ? removed : removed - before
      if (blocks > 0) lastReorg = { atSeconds: Math.round(nowMs / 1_000), blocks }
      const rate = rateOf(samples.values(), now, ({ indexedTo }) => indexedTo)
      const atSeconds = Math.round(nowMs / 1_000)
      samples.push(now)
      // While the node is silent its old head says nothing of how far the index is behind.
      const hears = status.phase === 'following' || status.phase === 'backfilling'
      if (hears && now.head !== undefined && now.indexedTo !== undefined) {
        lags.push([atSeconds, Math.max(0, now.head - now.indexedTo)])
      }
      if (rate !== undefined) rates.push([atSeconds, round(rate)])
    },

    report(status, figures, nowMs) {
      noteStall(status, nowMs)
      const health = toChainHealth(status, nowMs)
      const now = toSample(status, figures, nowMs)
      const transactionRate = rateOf(samples.values(), now, ({ transactions }) => transactions)
      const { poolTransactions, storeBytes } = figures?.index ?? {}
      const rate = rateOf(samples.values(), now, ({ indexedTo }) => indexedTo)
      const lagSeconds = lagSecondsOf(samples.values(), now)
      const percent = percentOf(status)
      const left = health.lagBlocks
      return {
        ...health,
        ...(lagSeconds === undefined ? {} : { lagSeconds }),
        ...(stalledSinceMs === undefined ? {} : { stalledSinceSeconds: Math.round(stalledSinceMs / 1_000) }),
        ...(percent === undefined ? {} : { percent }),
        ...(rate === undefined ? {} : { blocksPerSecond: round(rate) }),
        ...(left && rate && status.phase === 'backfilling' ? { etaSeconds: Math.ceil(left / rate) } : {}),
        ...(transactionRate === undefined ? {} : { transactionsPerSecond: round(transactionRate) }),
        ...(lastReorg === undefined ? {} : { lastReorg }),
        ...(poolTransactions === undefined ? {} : { poolTransactions }),
        ...(storeBytes === undefined ? {} : { storeBytes }),
        ...countNodes(figures)
      }
    },
    moveBy(ms) {
      samples.change(sample => ({ ...sample, atMs: sample.atMs + ms }))
      const seconds = Math.round(ms / 1_000)
      for (const points of [lags, rates]) points.change(([at, value]) => [at + seconds, value])
      if (stalledSinceMs !== undefined) stalledSinceMs += ms
      if (lastReorg !== undefined) lastReorg = { ...lastReorg, atSeconds: lastReorg.atSeconds + seconds }
    },
    lagBlocks: lags.values,
    blocksPerSecond: rates.values
  }
}

function toSample({ head, indexedTo }: SyncStatus, figures: NodeFigures | undefined, atMs: number): Sample {
  const { transactions, reorgDepths } = figures?.index ?? {}
  return { atMs, head, indexedTo: indexedTo?.number, transactions, removedBlocks: reorgDepths?.sum }
}

/**
 * Growth per second over the last minute; unknown where the value fell, as it does when blocks are removed or the indexer
 * is started again, and where there is too little time between.
 */
function rateOf(
  samples: readonly Sample[],
  to: Sample,
  read: (sample: Sample) => number | undefined
): number | undefined {
  const from = samples.find(sample => sample.atMs >= to.atMs - rateWindowMs && read(sample) !== undefined)
  const [before, now] = [from && read(from), read(to)]
  if (from === undefined || before === undefined || now === undefined) return undefined
  if (now < before || to.atMs - from.atMs < leastWindowMs) return undefined
  return ((now - before) * 1_000) / (to.atMs - from.atMs)
}

/** Since the first sample in which the node was already beyond what is indexed now. */
function lagSecondsOf(samples: readonly Sample[], { atMs, head, indexedTo }: Sample): number | undefined {
  if (head === undefined || indexedTo === undefined) return undefined
  if (head <= indexedTo) return 0
  const ahead = samples.findIndex(sample => sample.head !== undefined && sample.head > indexedTo)
  // It was so from the beginning: nobody saw since when.
  if (ahead === 0) return undefined
  const sinceMs = samples[ahead]?.atMs ?? atMs
  return Math.max(0, Math.round((atMs - sinceMs) / 1_000))
}

function percentOf({ head, indexedFrom, indexedTo }: SyncStatus): number | undefined {
  if (head === undefined || head < indexedFrom) return undefined
  const done = (indexedTo?.number ?? indexedFrom - 1) - indexedFrom + 1
  return Math.min(100, Math.floor((done * 1_000) / (head - indexedFrom + 1)) / 10)
}

/** A node counts once, whoever asks it; it is in service when all that ask it still do. */
function countNodes(figures: NodeFigures | undefined): Pick<EvmChainStatus, 'nodes' | 'webSockets'> {
  if (figures === undefined) return {}
  const positions = new Set(figures.upstreams.map(({ position }) => position))
  const out = new Set(figures.upstreams.filter(node => node.outOfService).map(({ position }) => position))
  const sockets = figures.webSockets
  return {
    ...(positions.size === 0
      ? {}
      : { nodes: { total: positions.size, inService: positions.size - out.size } }),
    ...(sockets.length === 0
      ? {}
      : {
          webSockets: {
            total: sockets.length,
            connected: sockets.filter(({ connected }) => connected).length
          }
        })
  }
}

function round(value: number): number {
  return value >= 10 ? Math.round(value) : Number(value.toPrecision(2))
}
