import type { DeepHistoryCache } from '../model/deepHistory.ts'
import type { Logger } from '../platform/logger.ts'
import { keepOtherwise } from './deepHistory/keepOtherwise.ts'
import type { StoreLocation } from './parseStoreUrl.ts'
import { openPostgresDeepHistoryCaches } from './postgres/deepHistory/openPostgresDeepHistoryCaches.ts'
import {
  openMemoryDeepHistoryCache,
  openSqliteDeepHistoryCache
} from './sqlite/deepHistory/openSqliteDeepHistoryCache.ts'

/** What lies below the indexes of a store, whatever its engine. */
export interface DeepHistoryCaches {
  ofChain(chainId: number): DeepHistoryCache
  /** Of all chains. */
  close(): Promise<void>
}

interface Options {
  /** Most bytes of each chain, about. */
  readonly bound: number
  readonly logger: Logger
}

/** Caches that refuse are given up for ones in memory, which is logged: what is read is only read again then. */
export function openDeepHistoryCaches(location: StoreLocation, options: Options): DeepHistoryCaches {
  const { bound, logger } = options
  const { open, end } = openEngine(location, options)
  const opened: DeepHistoryCache[] = []
  return {
    ofChain(chainId) {
      const cache = keepOtherwise(open(chainId), {
        openOther: () => openMemoryDeepHistoryCache({ bound }),
        onRefusal: error =>
          logger.warn('the deep history cache refuses; it is kept in memory', { chainId, error })
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
