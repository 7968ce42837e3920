import { openWith } from '../src/openWith.ts'
import type { StoreReader } from '../src/port/store.ts'
import { openPostgresReader, type PostgresReaderOptions } from '../src/postgres/openReader.ts'
import { createPostgresPool, type PostgresPoolOptions } from '../src/postgres/servers.ts'

/**
 * Opens a reader of PostgreSQL with connections of its own.
 * @param urls - the primary and its replicas.
 */
export async function openOwnPostgresReader(
  urls: readonly [string, ...string[]],
  chainId: number,
  options: PostgresReaderOptions & PostgresPoolOptions = {}
): Promise<StoreReader> {
  const pool = createPostgresPool(urls, options)
  return openWith(pool, () => openPostgresReader(pool, chainId, options))
}
