import type { ChainState } from '../../../model/sync.ts'
import type { NodeFigures } from '../../../platform/figures.ts'
import { present } from '../../../platform/present.ts'
import { type ChartPoint, type EvmChainStatus, type StatusCharts, toChainHealth } from './StatusReport.ts'

/** A moment by both clocks. What is remembered is dated by the steady one, since the other may be set. */
export interface Moment {
  readonly steadyMs: number
  readonly unixMs: number
}

/** @returns the Unix second of an earlier `steadyMs`. */
function unixSeconds(steadyMs: number, now: Moment): number {
  return Math.round((now.unixMs - now.steadyMs + steadyMs) / 1_000)
}

/** Remembers how one EVM chain has moved over the last samples. */
export interface ChainHistory {
  /** Takes a sample; to be called at regular times. */
  sample(status: ChainState, figures: NodeFigures | undefined, steadyMs: number): void
  report(status: ChainState, figures: NodeFigures | undefined, now: Moment): Omit<EvmChainStatus, 'label'>
  charts(chainId: number, now: Moment): StatusCharts['evm'][number]
}

interface Sample {
  readonly atMs: number
  readonly head: number | undefined
  readonly indexedTo: number | undefined
  /** Stored by the indexer since its start. */
  readonly transactions: number | undefined
  readonly lagBlocks: number | undefined
  readonly blocksPerSecond: number | undefined
}

const rateWindowMs = 60_000
const minWindowMs = 1_000

/** @param maxSamples - older ones are dropped. */
export function createChainHistory(maxSamples: number): ChainHistory {
  const samples: Sample[] = []
  /** Blocks that the indexer had removed since its start. */
  let removedBlocks = 0
  let lastReorg: { readonly atMs: number; readonly blocks: number } | undefined

  const noteReorg = (figures: NodeFigures | undefined, atMs: number) => {
    const removed = figures?.index?.reorgDepths.sum ?? removedBlocks
    // A thread that was started again counts from nothing.
    const blocks = removed < removedBlocks ? removed : removed - removedBlocks
    if (blocks > 0) lastReorg = { atMs, blocks }
    removedBlocks = removed
  }
  const toSample = (status: ChainState, figures: NodeFigures | undefined, atMs: number): Sample => {
    const { phase, head, indexedTo } = status
    const now = { atMs, head, indexedTo: indexedTo?.number, transactions: figures?.index?.transactions }
    // While the node is silent its old head says nothing of how far the index is behind.
    const isHeard = phase === 'following' || phase === 'backfilling'
    const isKnown = isHeard && head !== undefined && indexedTo !== undefined
    return {
      ...now,
      lagBlocks: isKnown ? Math.max(0, head - indexedTo.number) : undefined,
      blocksPerSecond: rateOf(samples, now, 'indexedTo')
    }
  }
  return {
    sample(status, figures, steadyMs) {
      noteReorg(figures, steadyMs)
      keep(samples, toSample(status, figures, steadyMs), maxSamples)
    },
    report(status, figures, now) {
      const health = toChainHealth(status, now.unixMs)
      const sample = toSample(status, figures, now.steadyMs)
      const { blocksPerSecond } = sample
      const left = status.phase === 'backfilling' ? health.lagBlocks : undefined
      return {
        ...health,
        ...present({
          lagSeconds: lagSecondsOf(samples, sample),
          stalledSinceSeconds:
            status.stalledSinceMs === undefined ? undefined : Math.round(status.stalledSinceMs / 1_000),
          percent: percentOf(status),
          blocksPerSecond,
          etaSeconds: left && blocksPerSecond ? Math.ceil(left / blocksPerSecond) : undefined,
          transactionsPerSecond: rateOf(samples, sample, 'transactions'),
          lastReorg: lastReorg && {
            atSeconds: unixSeconds(lastReorg.atMs, now),
            blocks: lastReorg.blocks
          },
          poolTransactions: figures?.index?.poolTransactions,
          storeBytes: figures?.index?.storeBytes,
          freeBytes: figures?.index?.freeBytes,
          ...countNodes(figures)
        })
      }
    },
    charts: (chainId, now) => ({
      chainId,
      lagBlocks: toChart(samples, 'lagBlocks', now),
      blocksPerSecond: toChart(samples, 'blocksPerSecond', now)
    })
  }
}

/** A sample of what moves; a value is absent where it was not known. */
type Timed<Name extends string> = { readonly atMs: number } & {
  readonly [N in Name]?: number | undefined
}

/**
 * @returns the growth per second over the last minute; `undefined` where the value fell, as it does when blocks are
 *   removed or the indexer is started again, and where there is too little time between.
 */
export function rateOf<Name extends string>(
  samples: readonly Timed<Name>[],
  to: Timed<Name>,
  name: Name
): number | undefined {
  const from = samples.find(sample => sample.atMs >= to.atMs - rateWindowMs && sample[name] !== undefined)
  const [before, now] = [from?.[name], to[name]]
  if (from === undefined || before === undefined || now === undefined) return undefined
  if (now < before || to.atMs - from.atMs < minWindowMs) return undefined
  const rate = ((now - before) * 1_000) / (to.atMs - from.atMs)
  // Whole numbers from 10 on, two digits below.
  return rate >= 10 ? Math.round(rate) : Number(rate.toPrecision(2))
}

/** @returns the known values of the samples, for drawing. */
export function toChart<Name extends string>(
  samples: readonly Timed<Name>[],
  name: Name,
  now: Moment
): readonly ChartPoint[] {
  return samples.flatMap(sample => {
    const value = sample[name]
    return value === undefined ? [] : [[unixSeconds(sample.atMs, now), value] as const]
  })
}

/** Adds a value; the oldest beyond `max` is dropped. */
export function keep<T>(kept: T[], value: T, max: number): void {
  kept.push(value)
  if (kept.length > max) kept.shift()
}

/** @returns the time since the first sample in which the node was already beyond what is indexed now. */
function lagSecondsOf(samples: readonly Sample[], { atMs, head, indexedTo }: Sample): number | undefined {
  if (head === undefined || indexedTo === undefined) return undefined
  if (head <= indexedTo) return 0
  const first = samples.findIndex(sample => sample.head !== undefined && sample.head > indexedTo)
  // It was so from the beginning: since when is not known.
  if (first === 0) return undefined
  return Math.max(0, Math.round((atMs - (samples[first]?.atMs ?? atMs)) / 1_000))
}

function percentOf({ head, indexedFrom, indexedTo }: ChainState): number | undefined {
  if (head === undefined || head < indexedFrom) return undefined
  const done = (indexedTo?.number ?? indexedFrom - 1) - indexedFrom + 1
  return Math.min(100, Math.floor((done * 1_000) / (head - indexedFrom + 1)) / 10)
}

/** Counts the nodes in service: each once, and only if no upstream of it is out of service. */
function countNodes(figures: NodeFigures | undefined): Pick<EvmChainStatus, 'nodes' | 'webSockets'> {
  const { upstreams = [], webSockets = [] } = figures ?? {}
  const all = new Set(upstreams.map(({ position }) => position))
  const out = new Set(upstreams.flatMap(({ position, outOfService }) => (outOfService ? position : [])))
  const connected = webSockets.filter(socket => socket.connected).length
  return present({
    nodes: all.size === 0 ? undefined : { total: all.size, inService: all.size - out.size },
    webSockets: webSockets.length === 0 ? undefined : { total: webSockets.length, connected }
  })
}
