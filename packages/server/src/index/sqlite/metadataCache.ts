import { join } from 'node:path'
import { type MetadataCache, noMetadataCache } from '../../model/metadata.ts'
import { createMetadataCache, type MetadataCacheOptions } from '../caches/createMetadataCache.ts'
import type { Migration } from '../shared/checkMigrations.ts'
import { openCacheDatabase } from './cacheDatabase.ts'
import type { SqliteDriver } from './driver.ts'
import { loadSqliteDriver } from './loadDriver.ts'

/** Answers wait as long, so hardly at all. */
const busyMs = 20

/**
 * Opens the metadata cache in the file `metadata.sqlite` of `folder`, and makes it when missing.
 *
 * @returns a cache that remembers nothing where the file is damaged, locked, or made by a newer program: logged once.
 */
export function openSqliteMetadataCache(
  folder: string,
  options: MetadataCacheOptions & { readonly driver?: SqliteDriver }
): MetadataCache {
  const { driver = loadSqliteDriver(), logger } = options
  try {
    const database = openCacheDatabase({ driver, path: join(folder, 'metadata.sqlite'), migrations, busyMs })
    return createMetadataCache(database, options)
  } catch (error) {
    logger.warn('the metadata cache cannot be opened; metadata is kept in memory', { error })
    return noMetadataCache
  }
}

/** Steps from an empty file to today's schema, by the rules of the index's own. */
const migrations: readonly Migration[] = [
  {
    version: 1,
    name: 'metadata cache',
    sql: `
      -- key: SHA-256 of the address. kind: 1 content address, 2 URL. Times in milliseconds. The body is last, so that
      -- the rest can be read without it.
      CREATE TABLE document (
        id INTEGER PRIMARY KEY,
        key BLOB NOT NULL UNIQUE,
        kind INTEGER NOT NULL,
        used_at INTEGER NOT NULL,
        weight INTEGER NOT NULL,
        fetched_at INTEGER,
        is_proven INTEGER NOT NULL,
        failures INTEGER NOT NULL,
        failed_at INTEGER,
        body BLOB
      ) STRICT;
      CREATE INDEX document_used ON document (kind, used_at);

      -- Kept by the triggers, so that nobody has to add up a large table
      CREATE TABLE usage (kind INTEGER PRIMARY KEY, weight INTEGER NOT NULL) STRICT;
      INSERT INTO usage VALUES (1, 0), (2, 0);
      CREATE TRIGGER document_added AFTER INSERT ON document BEGIN
        UPDATE usage SET weight = weight + new.weight WHERE kind = new.kind;
      END;
      CREATE TRIGGER document_changed AFTER UPDATE OF weight ON document BEGIN
        UPDATE usage SET weight = weight + new.weight - old.weight WHERE kind = new.kind;
      END;
      CREATE TRIGGER document_removed AFTER DELETE ON document BEGIN
        UPDATE usage SET weight = weight - old.weight WHERE kind = old.kind;
      END;
    `
  }
]
