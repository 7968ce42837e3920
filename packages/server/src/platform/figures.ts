import type { ChainState, SolanaState } from '../model/sync.ts'

/** Measurements counted by size: plain data, so that it can leave a worker thread. */
export interface HistogramFigures {
  /** One count for each bound, of the values up to it and above the bound before; then one for those beyond the last. */
  readonly counts: readonly number[]
  readonly sum: number
}

/** Counts measurements by size. */
export interface Histogram {
  note(value: number): void
  /** The counts of this moment, as a copy. */
  read(): HistogramFigures
}

/** @param bounds - ascending. */
export function createHistogram(bounds: readonly number[]): Histogram {
  const counts = new Array<number>(bounds.length + 1).fill(0)
  let sum = 0
  return {
    note(value) {
      const index = bounds.findIndex(bound => value <= bound)
      const bucket = index < 0 ? bounds.length : index
      counts[bucket] = (counts[bucket] ?? 0) + 1
      sum += value
    },
    read: () => ({ counts: [...counts], sum })
  }
}

/** Upper bounds, in seconds, of the time that one transaction of the store takes. */
export const writeBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const
/** Upper bounds, in blocks, of the depth of a reorg. */
export const depthBounds = [1, 2, 3, 5, 8, 16, 32, 64, 128, 512] as const
/** Upper bounds, in seconds, of the time that an upstream takes for its work. */
export const upstreamBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25] as const

/** Less free space on the disk of an index is worth a warning: each transaction takes some 300 bytes. */
export const lowSpaceBytes = 5 * 1024 ** 3

/** What the indexer of one chain has done: plain data, out of its thread. Counts run from the start of the thread. */
export interface IndexFigures {
  readonly chainId: number
  /** Stored blocks. Those that a reorg removed later stay counted. */
  readonly blocks: number
  readonly transactions: number
  /** In seconds, by {@link writeBounds}. */
  readonly commits: HistogramFigures
  readonly rollbacks: HistogramFigures
  /** In blocks, by {@link depthBounds}. */
  readonly reorgDepths: HistogramFigures
  /** Blocks that the nodes are being asked for now. */
  readonly blocksUnderWay: number
  /** Pending transactions at the last poll of the pool; absent before the first, and where no node shows any. */
  readonly poolTransactions?: number
  /** Size of the index on the disk, its write-ahead log included; absent where it is not known. */
  readonly storeBytes?: number
  /** Free space on that disk; absent where it is not known. */
  readonly freeBytes?: number
}

/**
 * How one upstream of a chain fares: plain data, so that it can leave a worker thread. Counts run from the start of the
 * thread or process.
 */
export interface UpstreamFigures {
  readonly chainId: number
  /** Who asks: the indexer, or the methods that read state. */
  readonly role: 'indexer' | 'query'
  /** Index in `rpcUrls`, counted from 1. */
  readonly position: number
  /** Pieces of work by outcome: `ok`, `error` (the node's own), `absent`, `unsound`, `wrongChain`, or an upstream fault. */
  readonly calls: Readonly<Record<string, number>>
  /** Pieces of work by duration in seconds, by {@link upstreamBounds}. */
  readonly durations: HistogramFigures
  /** Calls given to it after an attempt of the same call had failed. */
  readonly retries: number
  /** Calls given to it beside a slow upstream, and how often its answer was the first sound one. */
  readonly hedgesSent: number
  readonly hedgesWon: number
  readonly concurrencyLimit: number
  readonly batchLimit: number
  /** Absent until it has named a block. */
  readonly head?: number
  readonly lagBlocks: number
  readonly score: number
  readonly outOfService: boolean
  readonly preferred: boolean
}

/** A WebSocket that announces new blocks. */
export interface WebSocketFigures {
  readonly chainId: number
  /** Index in `wsUrls`, counted from 1. */
  readonly position: number
  readonly connected: boolean
}

/** How all nodes of a chain fare, and its indexer. */
export interface NodeFigures {
  readonly upstreams: readonly UpstreamFigures[]
  readonly webSockets: readonly WebSocketFigures[]
  /** Absent until the indexer's thread has reported. */
  readonly index?: IndexFigures
}

/** What the limits of the HTTP layer did. */
export interface LimitFigures {
  /** Requests refused before they were read, by cause. */
  readonly shed: Readonly<Record<string, number>>
  /** Time that a request which came now would wait in the queue. */
  readonly queueMs: number
  /** Delay of the event loop before a request is read. */
  readonly loopDelayMs: number
  /** Requests whose credentials were not compared, because their address has to wait. */
  readonly throttledLogins: number
}

/** How a server fares, read whenever it is asked. */
export interface ServerFigures {
  /** One for each EVM chain, in the order of the configuration. */
  readonly chainStates: () => readonly ChainState[]
  /** One for each Solana cluster. */
  readonly solanaStates: () => readonly SolanaState[]
  /** The nodes and the indexer of each EVM chain, in the order of `chainStates`. */
  readonly nodeFigures: () => readonly NodeFigures[]
  /** Number of times that something stored in a cache differed from its checksum, by cache. */
  readonly cacheDamages: () => ReadonlyMap<string, number>
  /** Names an EVM chain for people: `Polygon (137)`, or `Chain 31337` where only the id is known. */
  readonly chainLabel: (chainId: number) => string
  /** Host and port of each node of a chain or cluster, in the order of `rpcUrls`: for operators, never for callers. */
  readonly nodeHosts: (chainId: number) => readonly string[]
}
