import { transport } from '@chain-data/protocol'
import { isDegraded, type SolanaStatus, type SyncStatus } from '../../model/sync.ts'

/** State of one EVM chain as `/health/ready` shows it. What is not known is absent. */
export interface EvmChainHealth {
  readonly chainId: number
  readonly phase: SyncStatus['phase']
  /** The first backfill is complete. */
  readonly ready: boolean
  readonly head?: number
  readonly finalized?: number
  /** Absent, like `indexedTo`, while nothing is indexed. */
  readonly indexedFrom?: number
  readonly indexedTo?: number
  readonly lagBlocks?: number
  readonly degraded: boolean
  /** The node shows its whole transaction pool. */
  readonly poolCovered: boolean
  /** Seconds since the last look at the pool. */
  readonly poolAgeSeconds?: number
  readonly rollingBackTo?: number
  /** Another server on the same store indexes the chain: all of this is what that one says. */
  readonly waiting?: true
  /** This server only answers: it never takes the place of the one that indexes. */
  readonly indexing?: false
  readonly problem?: string
}

/** What `/health/ready` answers, as JSON. */
export interface HealthReport {
  readonly ready: boolean
  readonly closing?: true
  readonly chains: readonly EvmChainHealth[]
  /** Whether their nodes answer; absent where no cluster is served. Plays no part in `ready`. */
  readonly solana?: readonly SolanaStatus[]
}

/** Builds the health pages by path: `/health/live`, and `/health/ready`, which is 503 until every first backfill is complete. */
export function healthPages(
  syncStatuses: () => readonly SyncStatus[],
  solanaStatuses: () => readonly SolanaStatus[],
  isClosing: () => boolean
) {
  const headers = { 'content-type': transport.responseContentType }
  return new Map([
    ['/health/live', async () => ({ status: 200, headers, body: '{"live":true}' })],
    [
      '/health/ready',
      async () => {
        const chains = syncStatuses().map(status => toChainHealth(status, Date.now()))
        const solana = solanaStatuses()
        const report: HealthReport = {
          ready: !isClosing() && chains.every(chain => chain.ready),
          ...(isClosing() ? { closing: true } : {}),
          chains,
          ...(solana.length === 0 ? {} : { solana })
        }
        return { status: report.ready ? 200 : 503, headers, body: JSON.stringify(report) }
      }
    ]
  ])
}

/** @param nowMs - `Date.now()`, which the age of the pool is counted to. */
export function toChainHealth(status: SyncStatus, nowMs: number): EvmChainHealth {
  const { chainId, phase, head, finalized, indexedFrom, indexedTo, poolSeenAtMs } = status
  const { rollingBackTo, waiting, indexing, problem } = status
  return {
    ...{ chainId, phase },
    ready: status.backfilled,
    ...(head === undefined ? {} : { head }),
    ...(finalized === undefined ? {} : { finalized }),
    ...(indexedTo === undefined ? {} : { indexedFrom, indexedTo: indexedTo.number }),
    ...(head === undefined || indexedTo === undefined
      ? {}
      : { lagBlocks: Math.max(0, head - indexedTo.number) }),
    degraded: isDegraded(status),
    poolCovered: status.poolCovered,
    ...(poolSeenAtMs === undefined
      ? {}
      : { poolAgeSeconds: Math.max(0, Math.round((nowMs - poolSeenAtMs) / 1_000)) }),
    ...(rollingBackTo === undefined ? {} : { rollingBackTo }),
    ...(waiting === undefined ? {} : { waiting }),
    ...(indexing === undefined ? {} : { indexing }),
    ...(problem === undefined ? {} : { problem })
  }
}
