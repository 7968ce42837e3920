import { StoreError } from '../../platform/errors.ts'
import { Client, type ClientConfig } from './driver.ts'
import { toStoreError } from './error.ts'
import { valueTypes } from './valueTypes.ts'

/** What a connection is for; operators see it as `application_name` in `pg_stat_activity`. */
export type Purpose = 'writer' | 'queries' | 'check' | 'metadata' | 'deep'

/** How long to wait for a server that does not answer until the connection is ready. */
const connectionTimeoutMs = 5_000
/** Silence after which either side's system asks whether the other is still there. */
const keepAliveAfterMs = 5_000
const oldestVersion = 150_000

/** How every connection of this program to PostgreSQL is made: for a `Client` and for a `Pool` alike. */
export function connectionConfig(url: string, purpose: Purpose): ClientConfig {
  return {
    connectionString: url,
    application_name: `chain-data ${purpose}`,
    connectionTimeoutMillis: connectionTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveAfterMs,
    types: valueTypes
  }
}

/**
 * Settings that every connection begins with, as one text for one round trip. As statements and not as start-up
 * parameters: poolers refuse those that they do not know. The server notices within seconds that its client is gone or
 * cut off, also while it works or waits for a lock, so that what was locked is free again. Limits that the
 * database or the user was given for others are lifted: a long rollback would be ended, and begun again, for ever.
 */
export const sessionSettings = `
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
 * One connection, ready to use. It belongs to the caller.
 * @param url - never logged and in no message: it may hold a password.
 * @param timeoutMs - for all of it: what stands between may let the login in and keep the rest waiting.
 * @throws {StoreUnavailableError} the server does not answer, or not in time.
 * @throws {StoreError} the URL cannot be used, the server refuses the login, or is older than version 15.
 */
export async function connect(
  url: string,
  purpose: Purpose,
  timeoutMs = connectionTimeoutMs
): Promise<Client> {
  const client = createClient(url, purpose)
  // Whoever uses it learns of its end by the call that fails; without a listener it would end the process.
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
