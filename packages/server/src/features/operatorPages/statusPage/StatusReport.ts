import type { SolanaState } from '../../../model/sync.ts'
import type { EvmChainHealth } from '../../../server/http/health.ts'

/** State of the server, as `GET /status.json` answers it. What is not known is absent. Times are Unix seconds. */
export interface StatusReport {
  /** Version of this shape: it grows when a reader of the older shape would be misled. */
  readonly formatVersion: 1
  /** The process and its callers. */
  readonly server: {
    readonly version: string
    readonly nowSeconds: number
    readonly uptimeSeconds: number
    /** As in `/health/ready`: the server should be sent calls. */
    readonly ready: boolean
    readonly closing?: true
    readonly inFlight: number
    /** JSON-RPC calls over the last minute, each entry of a batch by itself; absent in the first second. */
    readonly callsPerSecond?: number
    /** Over about the last five minutes; durations run until the answer, or until its stream begins. */
    readonly calls: readonly {
      /** In the document; `unknown`: calls of methods that are not served. */
      readonly method: string
      readonly count: number
      readonly failed: number
      /** Upper bounds, to two digits. */
      readonly p50Ms: number
      readonly p95Ms: number
      readonly p99Ms: number
    }[]
    /** Requests refused before they became a call, since the start, by reason. */
    readonly refusals: Readonly<Record<string, number>>
    readonly memory: { readonly rssBytes: number; readonly heapUsedBytes: number }
    /** Delay of timers since the last sample; absent before the first. */
    readonly eventLoopDelay?: { readonly p99Ms: number; readonly maxMs: number }
  }
  /** Every EVM chain, in the order of the configuration. */
  readonly evm: readonly EvmChainStatus[]
  /** Every Solana cluster, likewise. */
  readonly solana: readonly SolanaState[]
  /** The last half hour, a point every `everySeconds` at most, oldest first. */
  readonly charts: {
    readonly everySeconds: number
    readonly callsPerSecond: readonly ChartPoint[]
    /** Milliseconds within which 95 of 100 calls of the interval were answered. */
    readonly p95Ms: readonly ChartPoint[]
    readonly evm: readonly {
      readonly chainId: number
      readonly lagBlocks: readonly ChartPoint[]
      readonly blocksPerSecond: readonly ChartPoint[]
    }[]
  }
}

/** The health of an EVM chain, and how it moves. */
export interface EvmChainStatus extends EvmChainHealth {
  /** Name and id: `Polygon (137)`, or `Chain 31337` where only the id is known. */
  readonly label: string
  /** Time for which the node has been ahead of the index; absent where it has never been level. */
  readonly lagSeconds?: number
  /** Start of the stall, further attempts included, as far as this process saw it. */
  readonly stalledSinceSeconds?: number
  /** Part of the range that is indexed, 0 to 100 with one decimal, rounded down. */
  readonly percent?: number
  /** Over the last minute, like the next; absent in the first second, and where blocks were removed meanwhile. */
  readonly blocksPerSecond?: number
  readonly transactionsPerSecond?: number
  /** Until the index reaches the head at this speed; absent when it does not come nearer. */
  readonly etaSeconds?: number
  /** The last time blocks were seen removed, to some seconds, and how many; absent when none were since the start. */
  readonly lastReorg?: { readonly atSeconds: number; readonly blocks: number }
  readonly poolTransactions?: number
  readonly storeBytes?: number
  readonly freeBytes?: number
  readonly nodes?: { readonly total: number; readonly inService: number }
  readonly webSockets?: { readonly total: number; readonly connected: number }
}

/** One measurement. A moment at which the value was not known has no entry. */
export type ChartPoint = readonly [atSeconds: number, value: number]
