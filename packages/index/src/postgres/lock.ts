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
  onFenced?(fenced: FencedWriter): void
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
  const { rows } = await client.query(`SELECT pg_try_advisory_lock(${key}) AS "isMine"`)
  if (rows[0]?.isMine === true) return
  const endIfSilent = createSilenceCheck(client, key, silentMs)
  for (;;) {
    const left = Math.floor(deadline - performance.now())
    if (left <= 0) {
      throw new StoreInUseError(
        'another process or thread is writing this chain; expected to be the only one. Stop it, or use another database'
      )
    }
    const backendPid = await endIfSilent()
    if (backendPid !== undefined) onFenced?.({ chainId, backendPid, silentMs })
    if (await isLockedWithin(client, key, Math.max(1, Math.min(left, Math.ceil(silentMs / 4))))) return
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
 * Begins a new term: from then on every transaction of an earlier writer is refused, even if that writer has not noticed yet
 * that it lost its connection. A transaction that is under way ends first.
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

/** State of the connection that holds the lock. */
interface Holder {
  readonly pid: number
  /** The connection waits for its client, not for work of the server. */
  readonly isWaiting: boolean
  /** Changes whenever anything was done over the connection. */
  readonly trace: string
}

/**
 * Creates the check of the writer that holds a lock, for another writer that waits for it. A process that was stopped, or a
 * machine that is cut off, keeps its connection open for a long time: only its silence shows.
 *
 * A living writer sends something every second, or keeps the server busy. A writer that did neither for the whole time is
 * taken to be gone. If it is not, it loses its connection and nothing else.
 * @param key - the lock, as an SQL expression.
 * @returns the check, to be called repeatedly. It returns the process id of the connection that it ended; absent when it ended
 *   none, also where the database's user may not see or end it.
 */
function createSilenceCheck(
  client: Client,
  key: string,
  silentMs: number
): () => Promise<number | undefined> {
  const holderQuery = selectHolder(key)
  let trace: string | undefined
  let sinceMs = 0
  return async () => {
    const { rows } = await client.query<Holder>(holderQuery)
    const seen = rows[0]?.isWaiting === true ? rows[0].trace : undefined
    if (seen === undefined || seen !== trace) {
      trace = seen
      sinceMs = performance.now()
      return undefined
    }
    if (performance.now() - sinceMs < silentMs) return undefined
    trace = undefined
    return (await endIfUnchanged(client, holderQuery, seen)) ? rows[0]?.pid : undefined
  }
}

/** Ends the holder's connection, unless the same statement finds that its trace has changed. */
async function endIfUnchanged(client: Client, holderQuery: string, trace: string): Promise<boolean> {
  try {
    const { rows } = await client.query<{ ended: boolean }>(
      `SELECT pg_terminate_backend(pid) AS ended FROM (${holderQuery}) holder WHERE trace = $1`,
      [trace]
    )
    return rows[0]?.ended === true
  } catch (error) {
    // Another user's connection: waiting goes on.
    if (sqlStateOf(error) === insufficientPrivilege) return false
    throw error
  }
}

/** Condition on rows of `pg_locks`: the advisory lock is held in this database. */
export function isHeld(key: string): string {
  return `locktype = 'advisory' AND granted AND objsubid = 1
    AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (classid::bigint << 32 | objid::bigint) = ${key}`
}

function selectHolder(key: string): string {
  return `SELECT pid, coalesce(wait_event_type = 'Client', false) AS "isWaiting",
      concat_ws(' ', pid, backend_start, query_start, state_change, copy.bytes_processed) AS trace
    FROM pg_locks JOIN pg_stat_activity USING (pid)
      LEFT JOIN pg_stat_progress_copy copy USING (pid)
    WHERE ${isHeld(key)}`
}
