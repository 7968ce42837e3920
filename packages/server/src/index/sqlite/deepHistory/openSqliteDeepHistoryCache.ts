import { join } from 'node:path'
import type { DeepHistoryCache } from '../../../model/deepHistory.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { SqliteConnection, SqliteDriver } from '../driver.ts'
import { loadSqliteDriver } from '../loadDriver.ts'
import { migrate } from '../migrate.ts'
import { deepMigrations } from './deepMigrations.ts'
import { SqliteDeepHistoryCache } from './sqliteDeepHistoryCache.ts'

export interface SqliteDeepHistoryCacheOptions {
  /** Most bytes, about; one account may have more. */
  readonly bound: number
  readonly logger: Logger
  readonly driver?: SqliteDriver
  /** `Date.now`, replaced in tests. */
  readonly now?: () => number
}

/** Another server may be writing; its transactions are short. */
const busyMs = 1_000

/** Where the cache of one chain is; SQLite adds `-wal` and `-shm` beside it. */
export function deepHistoryCacheFile(folder: string, chainId: number): string {
  return join(folder, `evm-${chainId}.deep.sqlite`)
}

/**
 * Opens the deep history cache of one chain in a file of its own beside the index, and makes it when missing. Any number of
 * servers may share it.
 *
 * @returns one that lives in memory where the file is damaged, locked, or made by a newer program: logged once.
 * @remarks Its calls block the calling thread: for a chunk of records, or for a transaction of one stretch.
 */
export function openSqliteDeepHistoryCache(
  folder: string,
  chainId: number,
  options: SqliteDeepHistoryCacheOptions
): DeepHistoryCache {
  const { bound, logger, driver = loadSqliteDriver(), now = Date.now } = options
  try {
    const path = deepHistoryCacheFile(folder, chainId)
    return new SqliteDeepHistoryCache(openFile(driver, path), { bound, now })
  } catch (error) {
    logger.warn('the deep history cache cannot be opened; it is kept in memory', { chainId, error })
    return openMemoryDeepHistoryCache(options)
  }
}

/** One that ends with the process. */
export function openMemoryDeepHistoryCache({
  bound,
  driver = loadSqliteDriver(),
  now = Date.now
}: Omit<SqliteDeepHistoryCacheOptions, 'logger'>): DeepHistoryCache {
  return new SqliteDeepHistoryCache(openFile(driver, ':memory:'), { bound, now })
}

function openFile(driver: SqliteDriver, path: string): SqliteConnection {
  const connection = driver.open(path, { busyTimeoutMs: busyMs })
  try {
    // NORMAL: a lost machine may cost what was read last, which is read again.
    connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -8192')
    migrate(connection, deepMigrations)
    connection.exec('PRAGMA journal_size_limit = 16777216')
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}
