import type { SyncStatus } from '../model/sync.ts'

/** State of one chain as `/health/ready` shows it. */
interface ChainHealth {
  readonly chainId: number
  readonly phase: SyncStatus['phase']
  readonly ready: boolean
  readonly head?: number
  readonly indexedTo?: number
  readonly degraded: boolean
  readonly problem?: string
}

/** What `/health/ready` answers: ready once every indexed chain has finished its first backfill. */
export function readiness(
  statuses: readonly SyncStatus[],
  isClosing: boolean
): { readonly status: 200 | 503; readonly body: string } {
  const chains = statuses.map(toChainHealth)
  const ready = !isClosing && chains.every(chain => chain.ready)
  return {
    status: ready ? 200 : 503,
    body: JSON.stringify({ ready, ...(isClosing ? { closing: true } : {}), chains })
  }
}

function toChainHealth(status: SyncStatus): ChainHealth {
  const { chainId, phase, head, indexedTo, backfilled, degraded, problem } = status
  return {
    chainId,
    phase,
    ready: backfilled,
    ...(head === undefined ? {} : { head }),
    ...(indexedTo === undefined ? {} : { indexedTo: indexedTo.number }),
    degraded,
    ...(problem === undefined ? {} : { problem })
  }
}
