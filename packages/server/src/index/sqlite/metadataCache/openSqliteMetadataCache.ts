import { join } from 'node:path'
import { type MetadataCache, noMetadataCache } from '../../../model/metadata.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { MetadataBounds } from '../../metadataCache/documentRow.ts'
import type { SqliteConnection, SqliteDriver } from '../driver.ts'
import { loadSqliteDriver } from '../loadDriver.ts'
import { migrate } from '../migrate.ts'
import { metadataMigrations } from './metadataMigrations.ts'
import { SqliteMetadataCache } from './sqliteMetadataCache.ts'

export interface SqliteMetadataCacheOptions {
  readonly bounds: MetadataBounds
  readonly logger: Logger
  readonly driver?: SqliteDriver
  /** `Date.now`, replaced in tests. */
  readonly now?: () => number
}

/** Another server may be making the same file right now. */
const openBusyMs = 500
/** Waited for while answers wait, too: so hardly at all. */
const busyMs = 20

/** Where the cache of a store's folder is; SQLite adds `-wal` and `-shm` beside it. */
export function metadataCacheFile(folder: string): string {
  return join(folder, 'metadata.sqlite')
}

/**
 * Opens the metadata cache in the file `metadata.sqlite` of `folder`, and makes it when missing.
 *
 * @returns a cache that remembers nothing where the file is damaged, locked, or made by a newer program: logged once.
 * @remarks Its calls block the calling thread for single rows, or for transactions of at most 64 rows and some 512 KiB.
 */
export function openSqliteMetadataCache(folder: string, options: SqliteMetadataCacheOptions): MetadataCache {
  const { bounds, logger, now = Date.now } = options
  let connection: SqliteConnection | undefined
  try {
    connection = (options.driver ?? loadSqliteDriver()).open(metadataCacheFile(folder), {
      busyTimeoutMs: openBusyMs
    })
    // NORMAL: a lost machine may cost the newest documents, which are fetched again.
    connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -8192')
    migrate(connection, metadataMigrations)
    connection.exec(`PRAGMA journal_size_limit = 16777216; PRAGMA busy_timeout = ${busyMs}`)
    return new SqliteMetadataCache(connection, { bounds, logger, now })
  } catch (error) {
    closeQuietly(connection)
    logger.warn('the metadata cache cannot be opened; metadata is kept in memory', { error })
    return noMetadataCache
  }
}

function closeQuietly(connection: SqliteConnection | undefined): void {
  try {
    connection?.close()
  } catch {
    // What is wrong with it has been told.
  }
}
