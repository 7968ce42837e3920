import { join } from 'node:path'
import type { CacheLog } from './caches/CacheLog.ts'
import type { CacheDatabase } from './caches/cacheDatabase.ts'
import { createDeepHistoryCache } from './caches/createDeepHistoryCache.ts'
import {
  createMetadataCache,
  type MetadataCacheOptions,
  metadataWords
} from './caches/createMetadataCache.ts'
import type { DeepHistoryCache } from './model/deepHistory.ts'
import type { StoreLocation } from './model/location.ts'
import { type MetadataCache, noMetadataCache } from './model/metadata.ts'
import { StoreError, StoreUnavailableError } from './platform/errors.ts'
import * as postgres from './postgres/cacheDatabase.ts'
import * as sqlite from './sqlite/cacheDatabase.ts'
import type { SqliteDriver } from './sqlite/driver.ts'

/**
 * Opens the metadata cache of a store: the file `metadata.sqlite` of its folder, or the schema `chain_data_metadata` of its
 * database, which is asked at the first use. Both are made when missing; any number of servers may share them.
 *
 * @param options.driver - of SQLite; replaced in tests.
 * @returns a cache that remembers nothing where a file is damaged, locked, or made by another build. Where a database is
 *   away, what is saved waits in memory, bounded; where it refuses, the cache gives up. All of it is logged once, and never
 *   thrown.
 */
export function openMetadataCache(
  location: StoreLocation,
  options: MetadataCacheOptions & { readonly driver?: SqliteDriver }
): MetadataCache {
  return openDocuments(location, 'metadata', options)
}

/**
 * Opens what is kept of histories of Solana wallets: the file `solana.sqlite` of a store's folder, or the schema `chain_data_solana` of
 * its database. A cache of documents like that of metadata, with the same promises: transactions are its `content`, which never
 * changes, and lists of signatures its `url`.
 */
export function openSolanaHistoryCache(
  location: StoreLocation,
  options: MetadataCacheOptions & { readonly driver?: SqliteDriver }
): MetadataCache {
  return openDocuments(location, 'solana', { words: solanaWords, ...options })
}

const solanaWords = { name: 'Solana history', withoutIt: 'nodes are asked again' }

function openDocuments(
  location: StoreLocation,
  name: 'metadata' | 'solana',
  { driver, ...options }: MetadataCacheOptions & { readonly driver?: SqliteDriver }
): MetadataCache {
  const words = options.words ?? metadataWords
  if (location.kind === 'postgres') {
    const schema = { ...postgres.metadataSchema, schema: `chain_data_${name}` }
    return createMetadataCache(postgres.openCacheDatabase(location.url, schema), options)
  }
  try {
    const path = join(location.folder, `${name}.sqlite`)
    return createMetadataCache(sqlite.openCacheDatabase(path, sqlite.busyMs.metadata, driver), options)
  } catch (error) {
    options.logger.warn(`the ${words.name} cache cannot be opened; ${words.withoutIt}`, { error })
    return noMetadataCache
  }
}

/** Caches of the history older than the indexes of a store. */
export interface DeepHistoryCaches {
  ofChain(chainId: number): DeepHistoryCache
  /** Closes the caches of all chains. */
  close(): Promise<void>
}

export interface DeepHistoryCachesOptions {
  /** Approximate maximum of bytes of each chain; one account may have more. */
  readonly bound: number
  readonly logger: CacheLog
  /** Called for what differs from its checksums: it counts as unknown. */
  onDamage?(): void
  /** `Date.now`, replaced in tests. */
  readonly now?: () => number
  /** Of SQLite; replaced in tests. */
  readonly driver?: SqliteDriver
}

/**
 * Opens the deep history caches of a store: a file `evm-<chainId>.deep.sqlite` for each chain in its folder, or the schema
 * `chain_data_deep` of its database, which is asked at the first use. They are made when missing; any number of servers may
 * share them. A cache that refuses is replaced by one in memory, which is logged: its stretches are only read again then.
 */
export function openDeepHistoryCaches(
  location: StoreLocation,
  { bound, logger, now = Date.now, driver, onDamage = () => {} }: DeepHistoryCachesOptions
): DeepHistoryCaches {
  const openFile = (path: string) => sqlite.openCacheDatabase(path, sqlite.busyMs.deepHistory, driver)
  const open = createOpen()
  const opened: DeepHistoryCache[] = []
  return {
    ofChain(chainId) {
      const openInMemory = (error: unknown) => {
        logger.warn('the deep history cache refuses; it is kept in memory', { chainId, error })
        return openFile(':memory:')
      }
      const database = orElse(() => open(chainId), openInMemory)
      const cache = createDeepHistoryCache(database, { chainId, bound, now, onDamage })
      opened.push(cache)
      return cache
    },
    async close() {
      await Promise.all(opened.map(cache => cache.close()))
    }
  }

  function createOpen(): (chainId: number) => CacheDatabase {
    if (location.kind === 'sqlite') {
      const { folder } = location
      return chainId => openFile(join(folder, `evm-${chainId}.deep.sqlite`))
    }
    const shared = postgres.openCacheDatabase(location.url, postgres.deepHistorySchema)
    return () => shared
  }
}

/**
 * Replaces a database when it refuses for good: its user has no rights, its format is another one, its file is damaged. One that is
 * only out of reach for the moment is not replaced.
 * @param openOther - called once, when it is needed.
 */
function orElse(open: () => CacheDatabase, openOther: (refusal: unknown) => CacheDatabase): CacheDatabase {
  let database: CacheDatabase
  try {
    database = open()
  } catch (error) {
    return openOther(error)
  }
  let current = database

  async function ask<T>(work: (asked: CacheDatabase) => Promise<T>): Promise<T> {
    const asked = current
    try {
      return await work(asked)
    } catch (error) {
      const isFinal = error instanceof StoreError && !(error instanceof StoreUnavailableError)
      if (!isFinal || asked !== database) throw error
      if (current === database) current = openOther(error)
      return work(current)
    }
  }

  return {
    maxRows: database.maxRows,
    run: work => ask(asked => asked.run(work)),
    transaction: (lock, work) => ask(asked => asked.transaction(lock, work)),
    async close() {
      await database.close()
      await current.close()
    }
  }
}
