import type { MetadataCache } from '../../../model/metadata.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { MetadataBounds } from '../../metadataCache/documentRow.ts'
import { connectionConfig } from '../connect.ts'
import { Pool } from '../driver.ts'
import { PostgresMetadataCache } from './postgresMetadataCache.ts'

export interface PostgresMetadataCacheOptions {
  readonly bounds: MetadataBounds
  readonly logger: Logger
  /** `Date.now`, replaced in tests. */
  readonly now?: () => number
}

/** One for reads, one for what is stored behind them. */
const connections = 2
/** Answers wait for a connection and for a read; much longer, and they would be better off without. */
const patienceMs = 2_000

/**
 * The metadata cache in the schema `chain_data_metadata` of a database, which is made when it is missing. Any number of
 * servers may share it.
 *
 * @param url - never logged: it may hold a password.
 * @returns at once: the database is asked at the first use. While it is away, what is saved waits in memory, bounded; where
 *   it refuses (a user without rights, a newer schema), the cache gives up. Both are logged once, and never thrown.
 */
export function openPostgresMetadataCache(url: string, options: PostgresMetadataCacheOptions): MetadataCache {
  const { bounds, logger, now = Date.now } = options
  const pool = new Pool({
    ...connectionConfig(url, 'metadata'),
    max: connections,
    connectionTimeoutMillis: patienceMs,
    query_timeout: patienceMs,
    idleTimeoutMillis: 30_000,
    allowExitOnIdle: true
  })
  // Of idle connections; those in use fail with their query.
  pool.on('error', () => {})
  return new PostgresMetadataCache(pool, { url, bounds, logger, now })
}
