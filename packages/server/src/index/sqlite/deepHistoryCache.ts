import { join } from 'node:path'
import type { DeepHistoryCache } from '../../model/deepHistory.ts'
import type { Logger } from '../../platform/logger.ts'
import { createDeepHistoryCache } from '../caches/createDeepHistoryCache.ts'
import type { Migration } from '../shared/checkMigrations.ts'
import { openCacheDatabase } from './cacheDatabase.ts'
import type { SqliteDriver } from './driver.ts'
import { loadSqliteDriver } from './loadDriver.ts'

export interface SqliteDeepHistoryCacheOptions {
  /** Approximate maximum of bytes; one account may have more. */
  readonly bound: number
  readonly logger: Logger
  readonly driver?: SqliteDriver
  /** `Date.now`, replaced in tests. */
  readonly now?: () => number
}

/** Another server may be writing; its transactions are short. */
const busyMs = 1_000

/**
 * Opens the deep history cache of one chain in the file `evm-<chainId>.deep.sqlite` of `folder`, and makes it when missing. Any number of
 * servers may share it.
 *
 * @returns a cache in memory where the file is damaged, locked, or made by a newer program: logged once.
 */
export function openSqliteDeepHistoryCache(
  folder: string,
  chainId: number,
  options: SqliteDeepHistoryCacheOptions
): DeepHistoryCache {
  try {
    return openFile(join(folder, `evm-${chainId}.deep.sqlite`), options)
  } catch (error) {
    options.logger.warn('the deep history cache cannot be opened; it is kept in memory', { chainId, error })
    return openMemoryDeepHistoryCache(options)
  }
}

/** Opens a cache that ends with the process. */
export function openMemoryDeepHistoryCache(
  options: Omit<SqliteDeepHistoryCacheOptions, 'logger'>
): DeepHistoryCache {
  return openFile(':memory:', options)
}

function openFile(
  path: string,
  { bound, driver = loadSqliteDriver(), now = Date.now }: Omit<SqliteDeepHistoryCacheOptions, 'logger'>
): DeepHistoryCache {
  return createDeepHistoryCache(openCacheDatabase({ driver, path, migrations, busyMs }), { bound, now })
}

/** Steps from an empty file to today's schema, by the rules of the index's own. */
const migrations: readonly Migration[] = [
  {
    version: 1,
    name: 'deep history cache',
    sql: `
      -- Everything from records_from and candidates_from up to the anchor, the first block of the index, is known.
      -- Ids are never used again, so that a reader notices when its account has left and come back.
      CREATE TABLE account (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        address BLOB NOT NULL UNIQUE,
        anchor_number INTEGER NOT NULL,
        anchor_hash BLOB NOT NULL,
        records_from INTEGER NOT NULL,
        candidates_from INTEGER NOT NULL,
        used_at INTEGER NOT NULL,
        weight INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX account_used ON account (used_at);
      CREATE TABLE record (
        account INTEGER NOT NULL, tx INTEGER NOT NULL, hash BLOB NOT NULL, rec BLOB NOT NULL,
        PRIMARY KEY (account, tx)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX record_hash ON record (hash);
      CREATE TABLE candidate (
        account INTEGER NOT NULL, held BLOB NOT NULL, PRIMARY KEY (account, held)
      ) STRICT, WITHOUT ROWID;

      -- Accounts that have left; their rows are removed some at a time.
      CREATE TABLE dropped (account INTEGER PRIMARY KEY) STRICT;
      CREATE TRIGGER account_dropped AFTER DELETE ON account BEGIN
        INSERT INTO dropped VALUES (old.id);
      END;

      -- Kept by the triggers, so that nobody has to add up a large table.
      CREATE TABLE usage (weight INTEGER NOT NULL) STRICT;
      INSERT INTO usage VALUES (0);
      CREATE TRIGGER account_added AFTER INSERT ON account BEGIN
        UPDATE usage SET weight = weight + new.weight;
      END;
      CREATE TRIGGER account_changed AFTER UPDATE OF weight ON account BEGIN
        UPDATE usage SET weight = weight + new.weight - old.weight;
      END;
      CREATE TRIGGER account_removed AFTER DELETE ON account BEGIN
        UPDATE usage SET weight = weight - old.weight;
      END;
    `
  }
]
