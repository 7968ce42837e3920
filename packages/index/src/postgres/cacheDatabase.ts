import type { CacheDatabase, Statement, Steps } from '../caches/cacheDatabase.ts'
import { cacheStore } from '../store/format.ts'
import {
  type ClientBase,
  connect,
  connectionConfig,
  drop,
  Pool,
  type Purpose,
  toStoreError
} from './driver.ts'
import { makeTables } from './makeTables.ts'

/** Schema of a cache of all chains; nothing else is in it. */
export interface CacheSchema {
  readonly schema: string
  readonly purpose: Purpose
  readonly connections: number
  readonly timeouts: { readonly connectionTimeoutMillis: number; readonly query_timeout?: number }
}

/**
 * Opens the schema of a cache, at once: the database is asked at the first use, and the schema is made then when missing. Any
 * number of servers may share it.
 * @param url - never logged: it may hold a password.
 */
export function openCacheDatabase(url: string, cache: CacheSchema): CacheDatabase {
  const { schema, purpose, connections: max, timeouts } = cache
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
      await makeTables(client, schema, tables, cacheStore(schema))
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

  async function execAll<T>(client: Pool | ClientBase, steps: Steps<T>): Promise<T> {
    let next = steps.next([])
    while (next.done !== true) {
      const { text, values }: Statement = next.value
      const { rows } = await client.query(text.replaceAll('cache.', `${schema}.`), values.map(toParameter))
      next = steps.next(rows)
    }
    return next.value
  }

  return {
    maxRows: 256,
    run: work => prepared(() => execAll(pool, work())),
    transaction: (lock, work) => prepared(() => inTransaction(lock, work())),
    close() {
      closing ??= pool.end()
      return closing
    }
  }
}

/** The driver sends a Buffer as bytes, and any other array of bytes too, but slowly. */
function toParameter(value: Statement['values'][number]): unknown {
  if (!(value instanceof Uint8Array)) return value
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
}

/** Metadata: one connection reads, one stores. Answers wait no longer than the timeouts; later, metadata is no use to them. */
export const metadataSchema: CacheSchema = {
  ...{ schema: 'chain_data_metadata', purpose: 'metadata', connections: 2 },
  timeouts: { connectionTimeoutMillis: 2_000, query_timeout: 2_000 }
}

/** History older than the indexes of a database. */
export const deepHistorySchema: CacheSchema = {
  ...{ schema: 'chain_data_deep', purpose: 'deep', connections: 4 },
  timeouts: { connectionTimeoutMillis: 5_000 }
}

/** Tables of every cache; those of SQLite are the same, and say what they hold. */
const tables = `
  CREATE TABLE entry (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    space bigint NOT NULL,
    key bytea NOT NULL,
    used_at bigint NOT NULL,
    weight bigint NOT NULL,
    sum integer NOT NULL,
    body bytea NOT NULL,
    UNIQUE (key, space)
  );
  CREATE INDEX entry_used ON entry (space, used_at, id);
  CREATE TABLE part (
    account bigint NOT NULL,
    list smallint NOT NULL,
    low bigint NOT NULL,
    above bigint NOT NULL,
    sum integer NOT NULL,
    marks bytea NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (account, list, low)
  );
  -- Kept by the trigger. Whoever writes holds a lock of the whole cache, or of the chain's.
  CREATE TABLE usage (space bigint PRIMARY KEY, weight bigint NOT NULL) WITH (fillfactor = 50);
  CREATE FUNCTION weigh() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
  BEGIN
    INSERT INTO usage AS kept VALUES (
      coalesce(NEW.space, OLD.space),
      coalesce(NEW.weight, 0) - coalesce(OLD.weight, 0)
    ) ON CONFLICT (space) DO UPDATE SET weight = kept.weight + excluded.weight;
    DELETE FROM part WHERE TG_OP = 'DELETE' AND account = OLD.id;
    RETURN NULL;
  END
  $$;
  CREATE TRIGGER entry_weighed AFTER INSERT OR DELETE OR UPDATE OF weight ON entry FOR EACH ROW EXECUTE FUNCTION weigh();
`
