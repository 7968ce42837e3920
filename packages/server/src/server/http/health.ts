import type { Integrity } from '@chain-data/index'
import { type ChainState, type SolanaState, showIntegrity } from '../../model/sync.ts'
import { present } from '../../platform/present.ts'

/** Members of the state of a chain that are shown as they are. */
const shown = [
  ...(['chainId', 'phase', 'ready', 'backfilled', 'head', 'headAgeSeconds', 'finalized'] as const),
  ...(['backfill', 'lagBlocks', 'headBelowIndexBlocks', 'degraded', 'stalledSeconds'] as const),
  ...(['poolCovered', 'rollingBackTo', 'waiting', 'indexing', 'problem'] as const)
] satisfies (keyof ChainState)[]

type ShownState = Pick<ChainState, (typeof shown)[number]>

/** State of one EVM chain as `/health/ready` shows it. */
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
  const poolAgeSeconds = poolSeenAtMs && Math.max(0, Math.round((nowMs - poolSeenAtMs) / 1_000))
  return {
    ...(present(Object.fromEntries(shown.map(name => [name, state[name]]))) as ShownState),
    ...(indexedTo && { indexedFrom, indexedTo: indexedTo.number }),
    ...present({ poolAgeSeconds, integrity: integrity && showIntegrity(integrity) })
  }
}

/** A chain because of which callers should be sent to another server. */
export interface NotReady {
  readonly chainId: number
  /** One sentence for the operator, without a full stop. */
  readonly reason: string
}

/** When a chain makes a server not ready. */
export interface ReadyRule {
  /** null: a stalled chain never does, since its node's outage hits all servers alike. */
  readonly notReadyAfterStalledSeconds: number | null
}

/**
 * Finds the chains because of which a server is not ready: an EVM chain in its first backfill, one whose index cannot be used,
 * and any chain that has been stalled for too long.
 */
export function findNotReady(
  chains: readonly ChainState[],
  clusters: readonly SolanaState[],
  { notReadyAfterStalledSeconds }: ReadyRule
): readonly NotReady[] {
  const stalls = ({ chainId, stalledSeconds = 0, problem }: ChainState | SolanaState) =>
    notReadyAfterStalledSeconds === null || stalledSeconds < notReadyAfterStalledSeconds
      ? []
      : [{ chainId, reason: `stalled for ${stalledSeconds} s${problem === undefined ? '' : `: ${problem}`}` }]
  return [
    ...chains.flatMap(chain => {
      const { chainId, backfilled, indexUnusable, problem } = chain
      if (indexUnusable) return [{ chainId, reason: problem ?? 'its index cannot be used' }]
      return backfilled ? stalls(chain) : [{ chainId, reason: 'its first backfill is not complete' }]
    }),
    ...clusters.flatMap(stalls)
  ]
}
