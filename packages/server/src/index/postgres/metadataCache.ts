import type { MetadataCache } from '../../model/metadata.ts'
import { createMetadataCache, type MetadataCacheOptions } from '../caches/createMetadataCache.ts'
import type { Migration } from '../shared/checkMigrations.ts'
import { openCacheDatabase } from './cacheDatabase.ts'

/** One for reads, one for what is stored behind them. */
const connections = 2
/** Answers wait for a connection and for a read; much longer, and they would be better off without. */
const timeoutMs = 2_000

/**
 * Opens the metadata cache in the schema `chain_data_metadata` of a database, which is made when it is missing. Any number of
 * servers may share it.
 *
 * @param url - never logged: it may hold a password.
 * @returns at once: the database is asked at the first use. While it is away, what is saved waits in memory, bounded; where
 *   it refuses (a user without rights, a newer schema), the cache gives up. Both are logged once, and never thrown.
 */
export function openPostgresMetadataCache(url: string, options: MetadataCacheOptions): MetadataCache {
  const database = openCacheDatabase({
    ...{ url, schema: metadataSchema, migrations, purpose: 'metadata', connections },
    timeouts: { connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs }
  })
  return createMetadataCache(database, options)
}

/** Schema of the metadata of all chains; nothing else is in it. */
export const metadataSchema = 'chain_data_metadata'

/** Steps from an empty schema to today's, by the rules of the index's own. */
const migrations: readonly Migration[] = [
  {
    version: 1,
    name: 'metadata cache',
    sql: `
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
]
