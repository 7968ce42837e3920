import { setTimeout as sleep } from 'node:timers/promises'
import type { SyncStatus } from '../model/sync.ts'
import type { Clock } from '../platform/clock.ts'
import { Refusal } from '../platform/refusal.ts'
import type { Snapshot } from '../store/store.ts'

/** The pool is looked at every second or so, every ten at most; when the last look is older, nobody knows what is pending. */
const poolFreshMs = 15_000
/** A server that has just been started again hears its node within a moment: a call waits so long for it. */
const startWaitMs = 5_000
const pollMs = 25

/**
 * The chain's status, once its indexer has said how it stands. Ask before opening a snapshot, which then holds what the
 * status tells of.
 *
 * @remarks Waits while the index is being brought up to date after a start, some seconds at most.
 */
export async function settledStatus(
  readStatus: () => SyncStatus,
  clock: Clock,
  signal: AbortSignal
): Promise<SyncStatus> {
  const lastMoment = clock.now() + startWaitMs
  while (isCatchingUp(readStatus()) && clock.now() < lastMoment) await sleep(pollMs, undefined, { signal })
  return readStatus()
}

/**
 * Lets an answer that shows the newest state pass only while the index follows its node: what is unknown must not look
 * like nothing.
 *
 * @throws {Refusal} UPSTREAM_UNAVAILABLE.
 */
export function requireFollowing(status: SyncStatus): void {
  if (status.phase !== 'following') throw notHeard(status)
}

/**
 * Lets an answer that shows pending transactions pass only if the pool was seen recently.
 *
 * @throws {Refusal} UPSTREAM_UNAVAILABLE.
 */
export function requireFreshPool(status: SyncStatus, nowMs: number): void {
  const { poolCovered, poolSeenAtMs } = status
  // Once a pool was seen, not seeing it any more is a failure; a chain that never showed one covers none.
  const hasPool = poolCovered || poolSeenAtMs !== undefined
  const isFresh = poolSeenAtMs !== undefined && nowMs - poolSeenAtMs <= poolFreshMs
  if (hasPool && !isFresh) throw notHeard(status)
}

/** During the first backfill there is nothing to wait for: that may take days. */
function isCatchingUp({ phase, backfilled }: SyncStatus): boolean {
  return phase === 'starting' || (phase === 'backfilling' && backfilled)
}

function notHeard({ chainId }: SyncStatus): Refusal {
  return new Refusal(
    'UPSTREAM_UNAVAILABLE',
    `The node of chain ${chainId} has not been heard recently enough.`,
    {}
  )
}

/**
 * What a chain says whose first backfill is not complete: NOT_SYNCED with how far it is, so that "none" always means
 * none; UPSTREAM_UNAVAILABLE while its node has never answered.
 */
export async function notBackfilled(snapshot: Snapshot, { chainId, head }: SyncStatus): Promise<Refusal> {
  if (head === undefined) {
    return new Refusal('UPSTREAM_UNAVAILABLE', `The node of chain ${chainId} has not answered yet.`, {})
  }
  const indexedTo = (await snapshot.indexedRange())?.to.number
  const reached = indexedTo === undefined ? 'not indexed yet' : `indexed up to block ${indexedTo} of ${head}`
  return new Refusal('NOT_SYNCED', `Chain ${chainId} is ${reached}.`, {
    head,
    ...(indexedTo === undefined ? {} : { indexedTo })
  })
}
