import { createDeepHistoryCache } from '../src/caches/createDeepHistoryCache.ts'
import type { DeepHistoryCache } from '../src/model/deepHistory.ts'
import { busyMs, openCacheDatabase } from '../src/sqlite/cacheDatabase.ts'

/** A deep history cache of one chain that ends with the test. */
export function openMemoryDeepHistoryCache({ bound }: { readonly bound: number }): DeepHistoryCache {
  return createDeepHistoryCache(openCacheDatabase(':memory:', busyMs.deepHistory), {
    ...{ chainId: 1, bound, now: Date.now }
  })
}
