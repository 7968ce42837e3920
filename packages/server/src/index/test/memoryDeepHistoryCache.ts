import type { DeepHistoryCache } from '../../model/deepHistory.ts'
import { createDeepHistoryCache } from '../caches/createDeepHistoryCache.ts'
import { deepHistorySchema, openCacheDatabase } from '../sqlite/cacheDatabase.ts'

/** A deep history cache of one chain that ends with the test. */
export function openMemoryDeepHistoryCache({ bound }: { readonly bound: number }): DeepHistoryCache {
  return createDeepHistoryCache(openCacheDatabase(':memory:', deepHistorySchema), { bound, now: Date.now })
}
