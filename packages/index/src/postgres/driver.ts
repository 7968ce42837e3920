import pg from 'pg'
import { StoreError, StoreUnavailableError, storeFaults } from '../platform/errors.ts'

/*
 * The client of PostgreSQL: the only file of the index that may import it.
 */
const { Client, DatabaseError, types } = pg
export const { Pool, Query, escapeLiteral } = pg
export type Client = pg.Client
export type ClientBase = pg.ClientBase
export type Pool = pg.Pool
/** The protocol of a connection, below its queries. */
export type Wire = pg.Connection

/** Task of a connection; operators see it as `application_name` in `pg_stat_activity`. */
export type Purpose = 'writer' | 'queries' | 'check' | 'metadata' | 'deep'

/** Time limit of a new connection, until it is ready. */
const connectionTimeoutMs = 5_000
/** Silence after which either side's system asks whether the other is still there. */
const keepAliveAfterMs = 5_000
const oldestVersion = 150_000

/** Returns the settings of every connection to PostgreSQL, for a `Client` and a `Pool` alike. */
export function connectionConfig(url: string, purpose: Purpose): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: `chain-data ${purpose}`,
    connectionTimeoutMillis: connectionTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveAfterMs,
    types: valueTypes,
    // A snapshot asks for rows before the answer that begins its view is there.
    pipeline: purpose === 'queries'
  }
}

/**
 * Settings that every connection begins with. As statements and not as start-up parameters: poolers refuse those that they do not
 * know. The server notices within seconds that its client is gone or cut off, also while it works or waits for a lock, so that what
 * was locked is free again. Limits that the database or the user was given for others are lifted: a long rollback would be ended,
 * and begun again, for ever.
 */
const sessionSettings = `
  SET standard_conforming_strings = on;
  SET client_connection_check_interval = '1s';
  SET tcp_keepalives_idle = ${keepAliveAfterMs / 1000};
  SET tcp_keepalives_interval = 2;
  SET tcp_keepalives_count = 3;
  SET tcp_user_timeout = '15s';
  SELECT set_config(name, '0', false) FROM pg_settings
    WHERE name IN ('statement_timeout', 'lock_timeout', 'idle_session_timeout', 'transaction_timeout');
`

/**
 * Opens a connection, which belongs to the caller.
 * @param url - never logged and in no message: it may hold a password.
 * @param timeoutMs - for all of it: a proxy may let the login in and keep the rest waiting.
 * @throws {StoreUnavailableError} the server does not answer, or not in time.
 * @throws {StoreError} the URL cannot be used, the server refuses the login, or is older than version 15.
 */
export async function connect(
  url: string,
  purpose: Purpose,
  timeoutMs = connectionTimeoutMs
): Promise<Client> {
  const client = createClient(url, purpose)
  // The call that fails reports the end; without a listener the error would end the process.
  client.on('error', () => {})
  const limit = setTimeout(() => drop(client), timeoutMs)
  try {
    await client.connect()
    await client.query(sessionSettings)
    await checkVersion(client)
    return client
  } catch (error) {
    drop(client)
    throw toStoreError(error)
  } finally {
    clearTimeout(limit)
  }
}

/** The driver reads the URL right away, and the files of certificates that it names. */
function createClient(url: string, purpose: Purpose): Client {
  try {
    return new Client(connectionConfig(url, purpose))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    throw new StoreError(
      `the URL of PostgreSQL cannot be used${code}; expected postgres://<user>@<host>/<database>, and files that can be read where it names certificates`
    )
  }
}

/** Ends a connection at once, whatever it is doing. Nothing is awaited: the server may be out of reach. */
export function drop(client: Client): void {
  client.end().catch(() => {})
  // The polite end waits for a statement that is under way.
  client.connection.stream.destroy()
}

async function checkVersion(client: Client): Promise<void> {
  const { rows } = await client.query("SELECT current_setting('server_version_num')::int AS version")
  const { version } = rows[0] as { readonly version: number }
  if (version >= oldestVersion) return
  const found = `${Math.floor(version / 10_000)}`
  throw new StoreError(`PostgreSQL ${found} is too old; expected version 15 or newer`, { version })
}

/** `bigint`, and `numeric`, the type of its sums. */
const integerOids = [20, 1700]

const valueTypes: pg.CustomTypesConfig = {
  getTypeParser: (oid: number) => (integerOids.includes(oid) ? toInteger : types.getTypeParser(oid))
}

/** @throws {StoreError} a stored number that would be rounded: nothing of ours is that large. */
function toInteger(text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value)) return value
  throw new StoreError(`the store holds the number ${text}, which is beyond 2^53`)
}

export const insufficientPrivilege = '42501'
/** The URL names no database of the server. */
export const noSuchDatabase = '3D000'
/** `max_connections`, or the limit of the user or the database, is reached. */
export const tooManyConnections = '53300'
/** `lock_timeout` has passed. */
export const lockNotAvailable = '55P03'

/**
 * SQLSTATEs of trouble of the server, not of the statement: classes 08 (connection), 53 (too many connections, out of memory or
 * disk), 57 (shutdown, restart, start-up, ended or cancelled by an operator), 25P03 (idle in a transaction), and 40 (a deadlock, a
 * conflict with recovery on a replica). 25006: a primary that has become a replica.
 */
const passing = /^(08...|53[1-4]00|57014|57P0.|25P03|40...|25006)$/

/** SQLSTATEs of a full disk, and of pages and indexes whose checksums or forms are wrong. */
const faults: ReadonlyMap<string, string> = new Map([
  ['53100', storeFaults.fullDisk],
  ['XX001', storeFaults.damagedPage],
  ['XX002', storeFaults.damagedPage]
])

/** Citus found its connection to a node lost in the middle of a transaction. It has no code of its own for that. */
const lostNode = /^failure on connection marked as essential/

/** Returns the SQLSTATE that PostgreSQL answered with; absent when it did not answer. */
export function sqlStateOf(error: unknown): string | undefined {
  if (error instanceof DatabaseError) return error.code
  if (error instanceof StoreError && typeof error.context.sqlState === 'string') return error.context.sqlState
  return undefined
}

/**
 * Makes the error of a failed PostgreSQL call. The message holds the server's, which names tables and limits, never the
 * statement; of a failure to reach the server it holds only the system's code, since the text names the host.
 * @returns {StoreUnavailableError} the server is away, or ended the call for reasons of its own: the same call may succeed
 *   later, on a new connection.
 */
export function toStoreError(cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause
  if (cause instanceof DatabaseError) {
    const { code = 'unknown', severity } = cause
    const isPassing = passing.test(code) || severity === 'FATAL' || lostNode.test(cause.message)
    // Wrong password, no such role, no such database: trying again changes nothing.
    const isRefusedLogin = code.startsWith('28') || code === noSuchDatabase
    const Kind = isPassing && !isRefusedLogin ? StoreUnavailableError : StoreError
    const context = { sqlState: code, fault: faults.get(code) }
    return new Kind(`PostgreSQL refused: ${cause.message} (${code})`, context, { cause })
  }
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined
  const reason = code === undefined ? '' : `: ${code}`
  return new StoreUnavailableError(`PostgreSQL cannot be reached${reason}`, { systemCode: code }, { cause })
}
