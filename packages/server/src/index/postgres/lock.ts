import { StoreError } from '../../platform/errors.ts'
import type { FencedWriter } from '../port/writer.ts'
import { StoreInUseError } from '../port/writer.ts'
import { drop } from './connect.ts'
import type { Client } from './driver.ts'
import { lockNotAvailable, sqlStateOf, toStoreError } from './error.ts'
import { SilentLeader } from './silentLeader.ts'

export interface LeadershipOptions {
  readonly lockWaitMs: number
  /** A writer whose connection has not moved for so long is put out. */
  readonly silentMs: number
  readonly signal?: AbortSignal | undefined
  onFenced?(fenced: FencedWriter): void
}

/** The key of the lock that the writer of a chain holds as long as its connection lives. */
export function leaderLockKey(chainId: number): string {
  return `hashtextextended('chain_data_${chainId} leader', 0)`
}

/**
 * Makes this connection the only writer of one chain, until it ends. It waits inside the server, so that it is woken the moment
 * the other one is gone; every few seconds it looks whether that one has gone silent.
 *
 * @throws {StoreInUseError} another writer is still there after `lockWaitMs`.
 * @throws the reason of `signal`; the connection is dropped then.
 */
export async function takeLeadership(
  client: Client,
  chainId: number,
  options: LeadershipOptions
): Promise<void> {
  const { signal } = options
  // A connection that waits answers to nothing else.
  const giveUp = () => drop(client)
  signal?.throwIfAborted()
  signal?.addEventListener('abort', giveUp, { once: true })
  try {
    await waitForLock(client, chainId, options)
  } catch (error) {
    signal?.throwIfAborted()
    throw toStoreError(error)
  } finally {
    signal?.removeEventListener('abort', giveUp)
  }
}

async function waitForLock(
  client: Client,
  chainId: number,
  { lockWaitMs, silentMs, onFenced }: LeadershipOptions
): Promise<void> {
  const key = leaderLockKey(chainId)
  const deadline = performance.now() + lockWaitMs
  const { rows } = await client.query(`SELECT pg_try_advisory_lock(${key}) AS "isMine"`)
  if (rows[0]?.isMine === true) return
  const leader = new SilentLeader(client, key, silentMs)
  for (;;) {
    const left = Math.floor(deadline - performance.now())
    if (left <= 0) {
      throw new StoreInUseError(
        'another process or thread is writing this chain; expected to be the only one. Stop it, or use another database'
      )
    }
    const backendPid = await leader.endIfSilent()
    if (backendPid !== undefined) onFenced?.({ chainId, backendPid, silentMs })
    if (await isLockedWithin(client, key, Math.max(1, Math.min(left, Math.ceil(silentMs / 4))))) return
  }
}

async function isLockedWithin(client: Client, key: string, waitMs: number): Promise<boolean> {
  try {
    // The answer to the lock, not the setting, is what is waited for: one text, one round trip.
    await client.query(`SET lock_timeout = ${waitMs}; SELECT pg_advisory_lock(${key}); SET lock_timeout = 0`)
    return true
  } catch (error) {
    if (sqlStateOf(error) !== lockNotAvailable) throw error
    return false
  }
}

/**
 * Begins a new term: from its end on every transaction of an earlier writer is refused, also of one that does not know yet
 * that it has lost its connection. One that is under way ends first.
 * @returns the term.
 */
export async function beginTerm(client: Client): Promise<number> {
  try {
    const { rows } = await client.query('UPDATE leader SET term = term + 1 WHERE id = 1 RETURNING term')
    const term: unknown = rows[0]?.term
    if (typeof term !== 'number') throw new StoreError('the store does not say whose term it is')
    return term
  } catch (error) {
    throw toStoreError(error)
  }
}
