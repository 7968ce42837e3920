import type { DeepHistoryCache } from '../../../model/deepHistory.ts'
import { connect, connectionConfig, drop } from '../connect.ts'
import { Pool } from '../driver.ts'
import { migrate } from '../migrate.ts'
import { deepMigrations, deepSchema } from './deepMigrations.ts'
import { createPostgresDeepHistoryCache } from './postgresDeepHistoryCache.ts'

export interface PostgresDeepHistoryCachesOptions {
  /** Most bytes of each chain, about; one account may have more. */
  readonly bound: number
  /** `Date.now`, replaced in tests. */
  readonly now?: () => number
}

/** The caches of all chains of one database. */
export interface PostgresDeepHistoryCaches {
  ofChain(chainId: number): DeepHistoryCache
  /** Ends what is under way. */
  close(): Promise<void>
}

const connections = 4
const patienceMs = 5_000

/**
 * Deep history caches in the schema `chain_data_deep` of a database, which is made when it is missing. Any number of servers
 * may share it.
 *
 * @param url - never logged: it may hold a password.
 * @returns at once: the database is asked at the first use, and every call throws while it is away.
 */
export function openPostgresDeepHistoryCaches(
  url: string,
  { bound, now = Date.now }: PostgresDeepHistoryCachesOptions
): PostgresDeepHistoryCaches {
  const pool = new Pool({
    ...connectionConfig(url, 'deep'),
    max: connections,
    connectionTimeoutMillis: patienceMs,
    idleTimeoutMillis: 30_000,
    allowExitOnIdle: true
  })
  // Of idle connections; those in use fail with their query.
  pool.on('error', () => {})
  let ready: Promise<void> | undefined
  let closing: Promise<void> | undefined
  const prepare = () => {
    ready ??= makeSchema(url).catch((error: unknown) => {
      ready = undefined
      throw error
    })
    return ready
  }
  return {
    ofChain: chainId => createPostgresDeepHistoryCache({ pool, prepare, chainId, bound, now }),
    close() {
      closing ??= pool.end()
      return closing
    }
  }
}

async function makeSchema(url: string): Promise<void> {
  const client = await connect(url, 'deep')
  try {
    await migrate(client, deepSchema, deepMigrations)
  } finally {
    drop(client)
  }
}
