import { isDegraded, type SyncStatus } from '../../../model/sync.ts'
import { present } from '../../../platform/present.ts'

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

/** @param nowMs - `Date.now()`, which the age of the pool is counted to. */
export function toChainHealth(status: SyncStatus, nowMs: number): EvmChainHealth {
  const { chainId, phase, backfilled, poolCovered, head, finalized, indexedFrom, indexedTo, poolSeenAtMs } =
    status
  const { rollingBackTo, waiting, indexing, problem } = status
  const isIndexed = indexedTo !== undefined
  return {
    ...{ chainId, phase, ready: backfilled },
    ...present({
      head,
      finalized,
      indexedFrom: isIndexed ? indexedFrom : undefined,
      indexedTo: indexedTo?.number,
      lagBlocks: isIndexed && head !== undefined ? Math.max(0, head - indexedTo.number) : undefined
    }),
    ...{ degraded: isDegraded(status), poolCovered },
    ...present({
      poolAgeSeconds:
        poolSeenAtMs === undefined ? undefined : Math.max(0, Math.round((nowMs - poolSeenAtMs) / 1_000)),
      ...{ rollingBackTo, waiting, indexing, problem }
    })
  }
}
