import type { DeepHistoryCache } from '../../model/deepHistory.ts'
import { createDeepHistoryCache } from '../caches/createDeepHistoryCache.ts'
import type { Migration } from '../shared/checkMigrations.ts'
import { openCacheDatabase } from './cacheDatabase.ts'

export interface PostgresDeepHistoryCachesOptions {
  /** Approximate maximum of bytes of each chain; one account may have more. */
  readonly bound: number
  /** `Date.now`, replaced in tests. */
  readonly now?: () => number
}

/** The caches of all chains of one database. */
export interface PostgresDeepHistoryCaches {
  /** The cache of one chain; it ends with `close` of all. */
  ofChain(chainId: number): DeepHistoryCache
  close(): Promise<void>
}

const connections = 4
const connectionTimeoutMs = 5_000

/**
 * Opens deep history caches in the schema `chain_data_deep` of a database, which is made when it is missing. Any number of
 * servers may share it.
 *
 * @param url - never logged: it may hold a password.
 * @returns at once: the database is asked at the first use, and every call throws while it is away.
 */
export function openPostgresDeepHistoryCaches(
  url: string,
  { bound, now = Date.now }: PostgresDeepHistoryCachesOptions
): PostgresDeepHistoryCaches {
  const database = openCacheDatabase({
    ...{ url, schema, migrations, purpose: 'deep', connections },
    timeouts: { connectionTimeoutMillis: connectionTimeoutMs }
  })
  const shared = { ...database, close: async () => {} }
  return {
    ofChain: chainId => createDeepHistoryCache(shared, { bound, now, chainId }),
    close: () => database.close()
  }
}

/** Schema of the caches of all chains; nothing else is in it. */
const schema = 'chain_data_deep'

/** Steps from an empty schema to today's, by the rules of the index's own. */
const migrations: readonly Migration[] = [
  {
    version: 1,
    name: 'deep history cache',
    sql: `
      -- Everything from records_from and candidates_from up to the anchor, the first block of the index, is known.
      -- Ids are never used again, so that a reader notices when its account has left and come back.
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
        UNIQUE (chain, address)
      );
      CREATE INDEX account_used ON account (chain, used_at, id);
      CREATE TABLE record (
        account bigint NOT NULL, tx bigint NOT NULL, hash bytea NOT NULL, rec bytea NOT NULL,
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
]
