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
  /** Makes its tables. */
  readonly tables: string
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
  const { schema, tables, purpose, connections: max, timeouts } = cache
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

/** Metadata: one connection reads, one stores. Answers wait no longer than the timeouts; later, metadata is no use to them. */
export const metadataSchema: CacheSchema = {
  ...{ schema: 'chain_data_metadata', purpose: 'metadata', connections: 2 },
  timeouts: { connectionTimeoutMillis: 2_000, query_timeout: 2_000 },
  tables: `
    -- key: SHA-256 of the address. kind: 1 content address, 2 URL. Times in milliseconds.
    CREATE TABLE document (
      id bigint GENERATED ALWAYS AS IDENTITY,
      key bytea PRIMARY KEY,
      kind smallint NOT NULL,
      used_at bigint NOT NULL,
      weight bigint NOT NULL,
      fetched_at bigint,
      is_proven boolean NOT NULL,
      failures integer NOT NULL,
      failed_at bigint,
      -- CRC-32 of the document and of its failures, each with the key
      document_sum integer,
      failure_sum integer,
      body bytea
    );
    CREATE INDEX document_used ON document (kind, used_at, id);

    -- Kept by the trigger, so that nobody has to add up a large table. Whoever writes holds a lock of the whole cache.
    CREATE TABLE usage (kind smallint PRIMARY KEY, weight bigint NOT NULL) WITH (fillfactor = 50);
    INSERT INTO usage VALUES (1, 0), (2, 0);
    CREATE FUNCTION weigh_document() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
    BEGIN
      IF TG_OP <> 'INSERT' THEN
        UPDATE usage SET weight = weight - OLD.weight WHERE kind = OLD.kind;
      END IF;
      IF TG_OP <> 'DELETE' THEN
        UPDATE usage SET weight = weight + NEW.weight WHERE kind = NEW.kind;
      END IF;
      RETURN NULL;
    END
    $$;
    CREATE TRIGGER document_weighed AFTER INSERT OR DELETE OR UPDATE OF weight, kind ON document
      FOR EACH ROW EXECUTE FUNCTION weigh_document();
  `
}

/** History older than the indexes of a database. */
export const deepHistorySchema: CacheSchema = {
  ...{ schema: 'chain_data_deep', purpose: 'deep', connections: 4 },
  timeouts: { connectionTimeoutMillis: 5_000 },
  tables: `
    -- Everything from records_from and candidates_from up to the anchor, the first block of the index, is known.
    -- Ids are never used again, so that a reader notices when its account has left and come back.
    -- from_state: the gaps of its records, as bits. oldest_tx: lowest transaction that is known, NULL: none. held_sum: CRC-32 of
    -- all candidates, added up. sum: CRC-32 of the row; that of a record also names the next newer one, so that a lost one shows.
    CREATE TABLE account (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      chain bigint NOT NULL,
      address bytea NOT NULL,
      anchor_number bigint NOT NULL,
      anchor_hash bytea NOT NULL,
      records_from bigint NOT NULL,
      candidates_from bigint NOT NULL,
      used_at bigint NOT NULL,
      weight bigint NOT NULL,
      from_state smallint NOT NULL DEFAULT 0,
      oldest_tx bigint,
      held_sum bigint NOT NULL DEFAULT 0,
      sum integer,
      UNIQUE (chain, address)
    );
    CREATE INDEX account_used ON account (chain, used_at, id);
    CREATE TABLE record (
      account bigint NOT NULL, tx bigint NOT NULL, hash bytea NOT NULL, rec bytea NOT NULL, sum integer,
      PRIMARY KEY (account, tx)
    );
    CREATE INDEX record_hash ON record USING hash (hash);
    CREATE TABLE candidate (account bigint NOT NULL, held bytea NOT NULL, PRIMARY KEY (account, held));

    -- Accounts that have left; their rows are removed some at a time.
    CREATE TABLE dropped (account bigint PRIMARY KEY);
    -- Kept by the trigger, so that nobody has to add up a large table. Whoever writes holds a lock of the chain's cache.
    CREATE TABLE usage (chain bigint PRIMARY KEY, weight bigint NOT NULL);
    CREATE FUNCTION weigh_account() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
    BEGIN
      IF TG_OP = 'DELETE' THEN
        INSERT INTO dropped VALUES (OLD.id);
        UPDATE usage SET weight = weight - OLD.weight WHERE chain = OLD.chain;
      ELSIF TG_OP = 'UPDATE' THEN
        UPDATE usage SET weight = weight + NEW.weight - OLD.weight WHERE chain = NEW.chain;
      ELSE
        INSERT INTO usage AS kept VALUES (NEW.chain, NEW.weight)
          ON CONFLICT (chain) DO UPDATE SET weight = kept.weight + NEW.weight;
      END IF;
      RETURN NULL;
    END
    $$;
    CREATE TRIGGER account_weighed AFTER INSERT OR DELETE OR UPDATE OF weight ON account
      FOR EACH ROW EXECUTE FUNCTION weigh_account();
  `
}
