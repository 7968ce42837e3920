import { type ChainState, type Integrity, type SolanaState, showIntegrity } from '../../../model/sync.ts'
import { present } from '../../../platform/present.ts'

/**
 * The answer of `GET /status.json`: the state of the server, for the status page and other dashboards. What is
 * not known is absent. Holds no URL, key, project or address of a caller.
 */
export interface StatusReport {
  /** Version of this shape: it grows when a reader of the older shape would be misled. */
  readonly formatVersion: 1
  /** The process and its callers. */
  readonly server: ServerStatus
  /** In the order of the configuration. */
  readonly evm: readonly EvmChainStatus[]
  /** In the order of the configuration. */
  readonly solana: readonly SolanaState[]
  /** Measurements of the last half hour, for drawing. */
  readonly charts: StatusCharts
}

/** The process and its callers. Times are Unix seconds. */
export interface ServerStatus {
  readonly version: string
  readonly nowSeconds: number
  readonly uptimeSeconds: number
  /** As `/health/ready` has it: the server should be sent calls. */
  readonly ready: boolean
  readonly closing?: true
  /** RPC requests whose answer is not complete. */
  readonly inFlight: number
  /** JSON-RPC calls, each entry of a batch by itself, over the last minute; absent in the first second. */
  readonly callsPerSecond?: number
  /** Over about the last five minutes, by name in the document; methods without calls are left out. */
  readonly calls: readonly MethodCalls[]
  /** Requests refused before they became a call, since the start, by reason. */
  readonly refusals: Readonly<Record<string, number>>
  readonly memory: { readonly rssBytes: number; readonly heapUsedBytes: number }
  /** Delay of timers since the last sample, milliseconds; absent before the first. */
  readonly eventLoopDelay?: { readonly p99Ms: number; readonly maxMs: number }
}

/** Calls of one method. Durations run until the answer, or until its stream begins; upper bounds, to two digits. */
export interface MethodCalls {
  /** `unknown`: calls of methods that are not served. */
  readonly method: string
  readonly count: number
  /** Calls that were answered with an error. */
  readonly failed: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
}

/** The health of an EVM chain, and how it moves. */
export interface EvmChainStatus extends EvmChainHealth {
  /** Name and id: `Polygon (137)`, or `Chain 31337` where only the id is known. */
  readonly label: string
  /** Since about when the node has been ahead of the index, in seconds; absent when that was never seen otherwise. */
  readonly lagSeconds?: number
  /** Unix second since which the chain has been stalled, further attempts included, as far as this process saw it. */
  readonly stalledSinceSeconds?: number
  /** Part of the range that is indexed, 0 to 100 with one decimal, rounded down. */
  readonly percent?: number
  /** Over the last minute; absent until it was watched for a second, and where blocks were removed meanwhile. */
  readonly blocksPerSecond?: number
  /** Of the blocks stored in the last minute; absent like the one above. */
  readonly transactionsPerSecond?: number
  /** Until the index reaches the head at this speed; absent when it does not come nearer. */
  readonly etaSeconds?: number
  /** The last time blocks were seen removed, to some seconds, and how many; absent when none were since the start. */
  readonly lastReorg?: { readonly atSeconds: number; readonly blocks: number }
  /** Transactions in the pool at the last poll. */
  readonly poolTransactions?: number
  /** Size of the index on the disk. */
  readonly storeBytes?: number
  /** Free space on that disk. */
  readonly freeBytes?: number
  readonly nodes?: { readonly total: number; readonly inService: number }
  readonly webSockets?: { readonly total: number; readonly connected: number }
}

/** One measurement: Unix second, value. A moment at which the value was not known has no entry. */
export type ChartPoint = readonly [atSeconds: number, value: number]

/** The last half hour, a point every `everySeconds` at most, oldest first. */
export interface StatusCharts {
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

/** Members of the state of a chain that are shown as they are. */
const shown = [
  ...(['chainId', 'phase', 'ready', 'backfilled', 'head', 'headAgeSeconds', 'finalized'] as const),
  ...(['backfill', 'lagBlocks', 'headBelowIndexBlocks', 'degraded', 'stalledSeconds'] as const),
  ...(['poolCovered', 'rollingBackTo', 'waiting', 'indexing', 'problem'] as const)
] satisfies (keyof ChainState)[]

type ShownState = Pick<ChainState, (typeof shown)[number]>

/** State of one EVM chain as `/health/ready` shows it. What is not known is absent. */
export interface EvmChainHealth extends ShownState {
  /** Absent, like `indexedTo`, while nothing is indexed. */
  readonly indexedFrom?: number
  readonly indexedTo?: number
  /** Seconds since the last poll of the pool. */
  readonly poolAgeSeconds?: number
  /** Result of checking the index against its checksums; absent where another server indexes the chain. */
  readonly integrity?: Integrity
}

/** @param nowMs - `Date.now()`, which the age of the pool is counted to. */
export function toChainHealth(state: ChainState, nowMs: number): EvmChainHealth {
  const { indexedFrom, indexedTo, poolSeenAtMs, integrity } = state
  return {
    ...(present(Object.fromEntries(shown.map(name => [name, state[name]]))) as ShownState),
    ...(indexedTo === undefined ? {} : { indexedFrom, indexedTo: indexedTo.number }),
    ...present({
      poolAgeSeconds:
        poolSeenAtMs === undefined ? undefined : Math.max(0, Math.round((nowMs - poolSeenAtMs) / 1_000)),
      integrity: integrity && showIntegrity(integrity)
    })
  }
}
