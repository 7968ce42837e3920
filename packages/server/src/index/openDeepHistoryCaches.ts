import type { DeepHistoryCache } from '../model/deepHistory.ts'
import { StoreError, StoreUnavailableError } from '../platform/errors.ts'
import type { Logger } from '../platform/logger.ts'
import { hasLeft } from './caches/createDeepHistoryCache.ts'
import type { StoreLocation } from './parseStoreUrl.ts'
import { openPostgresDeepHistoryCaches } from './postgres/deepHistoryCache.ts'
import { openMemoryDeepHistoryCache, openSqliteDeepHistoryCache } from './sqlite/deepHistoryCache.ts'

/** Caches of what is older than the indexes of a store, whatever its engine. */
export interface DeepHistoryCaches {
  ofChain(chainId: number): DeepHistoryCache
  /** Of all chains. */
  close(): Promise<void>
}

interface Options {
  /** Approximate maximum of bytes of each chain. */
  readonly bound: number
  readonly logger: Logger
}

/** A cache that refuses is replaced by one in memory, which is logged: what was read is only read again then. */
export function openDeepHistoryCaches(location: StoreLocation, options: Options): DeepHistoryCaches {
  const { bound, logger } = options
  const { open, end } = openEngine(location, options)
  const opened: DeepHistoryCache[] = []
  return {
    ofChain(chainId) {
      const cache = orElse(open(chainId), error => {
        logger.warn('the deep history cache refuses; it is kept in memory', { chainId, error })
        return openMemoryDeepHistoryCache({ bound })
      })
      opened.push(cache)
      return cache
    },
    async close() {
      await Promise.all(opened.map(cache => cache.close()))
      await end()
    }
  }
}

function openEngine(location: StoreLocation, { bound, logger }: Options) {
  if (location.kind === 'postgres') {
    const caches = openPostgresDeepHistoryCaches(location.url, { bound })
    return { open: caches.ofChain, end: caches.close }
  }
  return {
    open: (chainId: number) => openSqliteDeepHistoryCache(location.folder, chainId, { bound, logger }),
    end: async () => undefined
  }
}

/**
 * Replaces a cache when it refuses for good: a database user without rights, a newer schema, a damaged file. A cache that is
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
    lookUpHash: (hash, anchor) => ask(asked => asked.lookUpHash(hash, anchor)),
    save: (address, anchor, stretch) => ask(asked => asked.save(address, anchor, stretch)),
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
