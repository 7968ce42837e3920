import { StoreError } from '../platform/errors.ts'
import { type FencedWriter, StoreInUseError } from '../port/writer.ts'
import {
  type Client,
  drop,
  insufficientPrivilege,
  lockNotAvailable,
  sqlStateOf,
  toStoreError
} from './driver.ts'

export interface LeadershipOptions {
  readonly lockWaitMs: number
  /** A writer whose connection was silent for so long is fenced. */
  readonly silentMs: number
  readonly signal?: AbortSignal | undefined
  readonly onFenced?: ((fenced: FencedWriter) => void) | undefined
}

/** Returns the key of the lock that the writer of a chain holds as long as its connection lives, as an SQL expression. */
export function leaderLockKey(chainId: number): string {
  return `hashtextextended('chain_data_${chainId} leader', 0)`
}

/**
 * Makes this connection the only writer of one chain, until it ends. It waits inside the server, so that it is woken the moment
 * the other writer is gone; every few seconds it checks whether that one has gone silent.
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
  /** State of the holder's connection, and since when it is the same. */
  let trace: string | undefined
  let sinceMs = 0
  for (;;) {
    const leftMs = Math.floor(deadline - performance.now())
    if (await isLockedWithin(client, key, Math.max(1, Math.min(leftMs, Math.ceil(silentMs / 4))))) return
    if (leftMs <= 0) {
      throw new StoreInUseError(
        'another process or thread is writing this chain; expected to be the only one. Stop it, or use another database'
      )
    }
    const { rows } = await client.query<{ trace: string }>(selectTrace(key))
    if (rows[0]?.trace !== trace) {
      trace = rows[0]?.trace
      sinceMs = performance.now()
    } else if (trace !== undefined && performance.now() - sinceMs >= silentMs) {
      const backendPid = await endSilent(client, key, trace)
      if (backendPid !== undefined) onFenced?.({ chainId, backendPid, silentMs })
      trace = undefined
    }
  }
}

async function isLockedWithin(client: Client, key: string, waitMs: number): Promise<boolean> {
  try {
    // One text, one round trip: only the answer to the lock is waited for.
    await client.query(`SET lock_timeout = ${waitMs}; SELECT pg_advisory_lock(${key}); SET lock_timeout = 0`)
    return true
  } catch (error) {
    if (sqlStateOf(error) !== lockNotAvailable) throw error
    return false
  }
}

/**
 * Selects the trace of the connection that holds a lock, which changes whenever anything was done over it; no row while the server
 * works for it. A process that was stopped, or a machine that is cut off, keeps its connection open for a long time: only its silence
 * shows. A living writer sends something several times within `silentMs`, or keeps the server busy. If it is not gone, it loses its
 * connection and nothing else.
 */
function selectTrace(key: string): string {
  return `SELECT pid, concat_ws(' ', pid, backend_start, query_start, state_change, copy.bytes_processed) AS trace
    FROM pg_locks JOIN pg_stat_activity USING (pid) LEFT JOIN pg_stat_progress_copy copy USING (pid)
    WHERE wait_event_type = 'Client' AND ${isHeld(key)}`
}

/**
 * Ends the connection that holds a lock, unless its trace has changed.
 * @returns the process id of the connection; absent where it was not ended, also because the database's user may not.
 */
async function endSilent(client: Client, key: string, trace: string): Promise<number | undefined> {
  try {
    const { rows } = await client.query<{ pid: number; ended: boolean }>(
      `SELECT pid, pg_terminate_backend(pid) AS ended FROM (${selectTrace(key)}) silent WHERE trace = $1`,
      [trace]
    )
    return rows[0]?.ended === true ? rows[0].pid : undefined
  } catch (error) {
    // Another user's connection: waiting goes on.
    if (sqlStateOf(error) === insufficientPrivilege) return undefined
    throw error
  }
}

/** Condition on rows of `pg_locks`: the advisory lock is held in this database. */
export function isHeld(key: string): string {
  return `locktype = 'advisory' AND granted AND objsubid = 1
    AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (classid::bigint << 32 | objid::bigint) = ${key}`
}

/**
 * Begins a new term: from then on every transaction of an earlier writer is refused, even if that writer has not noticed yet
 * that it lost its connection. A transaction that is under way ends first.
 * @returns the term.
 */
export async function beginTerm(client: Client): Promise<number> {
  const { rows } = await client.query('UPDATE leader SET term = term + 1 WHERE id = 1 RETURNING term')
  const term: unknown = rows[0]?.term
  if (typeof term !== 'number') throw new StoreError('the store does not say whose term it is')
  return term
}
