import { join } from 'node:path'
import type { CacheLog } from './caches/CacheLog.ts'
import type { CacheDatabase } from './caches/cacheDatabase.ts'
import { createDeepHistoryCache, hasLeft } from './caches/createDeepHistoryCache.ts'
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
  const openFile = (chainId: number, path: string) =>
    openOver(sqlite.openCacheDatabase(path, sqlite.busyMs.deepHistory, driver), chainId)
  const openOver = (database: CacheDatabase, chainId: number) =>
    createDeepHistoryCache(database, { chainId, bound, now, onDamage })
  const { open, end } = openEngine()
  const opened: DeepHistoryCache[] = []
  return {
    ofChain(chainId) {
      const openInMemory = (error: unknown) => {
        logger.warn('the deep history cache refuses; it is kept in memory', { chainId, error })
        return openFile(chainId, ':memory:')
      }
      let cache: DeepHistoryCache
      try {
        cache = orElse(open(chainId), openInMemory)
      } catch (error) {
        cache = openInMemory(error)
      }
      opened.push(cache)
      return cache
    },
    async close() {
      await Promise.all(opened.map(cache => cache.close()))
      await end()
    }
  }

  function openEngine() {
    if (location.kind === 'sqlite') {
      const { folder } = location
      return {
        open: (chainId: number) => openFile(chainId, join(folder, `evm-${chainId}.deep.sqlite`)),
        end: async () => {}
      }
    }
    const database = postgres.openCacheDatabase(location.url, postgres.deepHistorySchema)
    const shared = { ...database, close: async () => {} }
    return {
      open: (chainId: number) => openOver(shared, chainId),
      end: database.close
    }
  }
}

/**
 * Replaces a cache when it refuses for good: a database user without rights, another format, a damaged file. A cache that is
 * only out of reach for the moment is not replaced.
 * @param openOther - called once, when it is needed.
 */
function orElse(
  cache: DeepHistoryCache,
  openOther: (refusal: StoreError) => DeepHistoryCache
): DeepHistoryCache {
  let other: DeepHistoryCache | undefined

  function replace(error: unknown): DeepHistoryCache {
    if (!(error instanceof StoreError) || error instanceof StoreUnavailableError) throw error
    other ??= openOther(error)
    return other
  }

  async function ask<T>(work: (cache: DeepHistoryCache) => Promise<T>): Promise<T> {
    if (other !== undefined) return work(other)
    try {
      return await work(cache)
    } catch (error) {
      return work(replace(error))
    }
  }

  return {
    known: (address, anchor) => ask(asked => asked.known(address, anchor)),
    candidates: (address, anchor) => ask(asked => asked.candidates(address, anchor)),
    lookUpHash: (address, hash, anchor) => ask(asked => asked.lookUpHash(address, hash, anchor)),
    save: (address, anchor, stretch) => ask(asked => asked.save(address, anchor, stretch)),
    forget: address => ask(asked => asked.forget(address)),
    async *records(address, anchor, part) {
      try {
        yield* (other ?? cache).records(address, anchor, part)
      } catch (error) {
        replace(error)
        // What was given out already cannot be taken back.
        throw hasLeft()
      }
    },
    async close() {
      await cache.close()
      await other?.close()
    }
  }
}
