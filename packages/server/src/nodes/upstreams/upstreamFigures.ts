import type { IndexFigures } from '../../platform/indexFigures.ts'

/** Upper bounds, in seconds, of the durations that {@link UpstreamFigures} counts; beyond the last there is one more. */
export const durationBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25] as const

/**
 * How one upstream of a chain fares: plain data, so that it can come out of a worker thread. Counts run from the start of
 * the thread or process.
 */
export interface UpstreamFigures {
  readonly chainId: number
  /** Who asks: the indexer, or the methods that read state. */
  readonly role: 'indexer' | 'query'
  /** Counted from 1: the place in `rpcUrls`. */
  readonly position: number
  /** Pieces of work by outcome: `ok`, `error` (the node's own), `absent`, `unsound`, `wrongChain`, or an upstream fault. */
  readonly calls: Readonly<Record<string, number>>
  /** Work by duration: one count per bound of {@link durationBounds}, not summed up, then those beyond. */
  readonly durations: readonly number[]
  readonly durationSeconds: number
  /** Asked after an attempt of the same call had failed. */
  readonly retries: number
  /** Asked beside a slow one, and how often that answer was the first sound one. */
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

/** A WebSocket that tells of new blocks. */
export interface WebSocketFigures {
  readonly chainId: number
  /** Counted from 1: the place in `wsUrls`. */
  readonly position: number
  readonly connected: boolean
}

/** How all nodes of a chain fare, and its indexer. */
export interface NodeFigures {
  readonly upstreams: readonly UpstreamFigures[]
  readonly webSockets: readonly WebSocketFigures[]
  /** Absent until the indexer's thread has told. */
  readonly index?: IndexFigures
}
