import type { ChainState, SolanaState } from '../../../model/sync.ts'

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
