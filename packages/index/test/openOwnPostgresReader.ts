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
  try {
    const reader = await openPostgresReader(pool, chainId, options)
    return {
      openSnapshot: options => reader.openSnapshot(options),
      unchangedState: sinceMs => reader.unchangedState(sinceMs),
      reportDamage: damage => reader.reportDamage(damage),
      onCommit: listener => reader.onCommit(listener),
      async close() {
        await reader.close()
        await pool.close()
      }
    }
  } catch (error) {
    await pool.close()
    throw error
  }
}
