import type { CacheDatabase, Statement, Steps } from '../caches/cacheDatabase.ts'
import type { Migration } from '../shared/checkMigrations.ts'
import {
  type ClientBase,
  connect,
  connectionConfig,
  drop,
  Pool,
  type Purpose,
  toStoreError
} from './driver.ts'
import { migrate } from './migrate.ts'

export interface CacheSchema {
  /** Never logged: it may hold a password. */
  readonly url: string
  readonly schema: string
  readonly migrations: readonly Migration[]
  readonly purpose: Purpose
  readonly connections: number
  readonly timeouts: { readonly connectionTimeoutMillis: number; readonly query_timeout?: number }
}

/** Opens the schema of a cache, at once: the database is asked at the first use, and the schema is made then when missing. */
export function openCacheDatabase(cache: CacheSchema): CacheDatabase {
  const { url, schema, migrations, purpose, connections: max, timeouts } = cache
  const idle = { idleTimeoutMillis: 30_000, allowExitOnIdle: true }
  const pool = new Pool({ ...connectionConfig(url, purpose), max, ...timeouts, ...idle })
  // Of idle connections; those in use fail with their query.
  pool.on('error', () => {})
  let ready: Promise<void> | undefined
  let closing: Promise<void> | undefined

  async function prepared<T>(work: () => Promise<T>): Promise<T> {
    try {
      ready ??= makeSchema()
      await ready.catch(error => {
        ready = undefined
        throw error
      })
      return await work()
    } catch (error) {
      throw toStoreError(error)
    }
  }

  async function makeSchema(): Promise<void> {
    const client = await connect(url, purpose)
    try {
      await migrate(client, schema, migrations)
    } finally {
      drop(client)
    }
  }

  async function inTransaction<T>(lock: string, steps: Steps<T>): Promise<T> {
    const client = await pool.connect()
    let failure: Error | undefined
    try {
      await client.query(`BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('${schema} ${lock}', 0))`)
      const result = await execAll(client, steps)
      await client.query('COMMIT')
      return result
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error))
      throw error
    } finally {
      // With an error the connection is ended, and the server forgets what was begun on it.
      client.release(failure)
    }
  }

  return {
    prefix: `${schema}.`,
    maxRows: 256,
    skipLocked: 'FOR UPDATE SKIP LOCKED',
    run: steps => prepared(() => execAll(pool, steps)),
    transaction: (lock, steps) => prepared(() => inTransaction(lock, steps)),
    close() {
      closing ??= pool.end()
      return closing
    }
  }
}

async function execAll<T>(client: Pool | ClientBase, steps: Steps<T>): Promise<T> {
  let next = steps.next([])
  while (next.done !== true) {
    const { text, values }: Statement = next.value
    const { rows } = await client.query(text, values.map(toParameter))
    next = steps.next(rows)
  }
  return next.value
}

/** The driver sends a Buffer as bytes, and any other array of bytes too, but slowly. */
function toParameter(value: Statement['values'][number]): unknown {
  if (!(value instanceof Uint8Array)) return value
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
}
