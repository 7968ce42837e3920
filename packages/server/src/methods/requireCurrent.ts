import type { SyncStatus } from '../model/sync.ts'
import { Refusal } from '../platform/refusal.ts'
import type { Snapshot } from '../store/store.ts'

/** The pool is looked at every second or so; when the last look is older than this, nobody knows what is pending. */
const poolFreshMs = 15_000

/**
 * Lets an answer that shows the newest state pass only if the node was heard recently: what is unknown must not look
 * like nothing.
 *
 * @throws {Refusal} UPSTREAM_UNAVAILABLE.
 */
export function requireFreshNode(status: SyncStatus, nowMs: number): void {
  const { chainId, phase, head, poolCovered, poolSeenAtMs } = status
  // Once a pool was seen, not seeing it any more is a failure; a chain that never showed one covers none.
  const hasPool = poolCovered || poolSeenAtMs !== undefined
  const isPoolFresh = poolSeenAtMs !== undefined && nowMs - poolSeenAtMs <= poolFreshMs
  if (head !== undefined && phase !== 'stalled' && (isPoolFresh || !hasPool)) return
  throw new Refusal(
    'UPSTREAM_UNAVAILABLE',
    `The node of chain ${chainId} has not been heard recently enough.`,
    {}
  )
}

/**
 * Lets an answer pass only if the first backfill is complete, so that "none" means none.
 *
 * @throws {Refusal} NOT_SYNCED with how far it is; UPSTREAM_UNAVAILABLE while the node has never answered.
 */
export async function requireBackfilled(snapshot: Snapshot, { chainId, head }: SyncStatus): Promise<void> {
  if (await snapshot.backfilled()) return
  if (head === undefined) {
    throw new Refusal('UPSTREAM_UNAVAILABLE', `The node of chain ${chainId} has not answered yet.`, {})
  }
  const indexedTo = (await snapshot.indexedRange())?.to.number
  const reached = indexedTo === undefined ? 'not indexed yet' : `indexed up to block ${indexedTo} of ${head}`
  throw new Refusal('NOT_SYNCED', `Chain ${chainId} is ${reached}.`, {
    head,
    ...(indexedTo === undefined ? {} : { indexedTo })
  })
}
