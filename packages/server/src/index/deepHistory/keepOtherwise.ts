import type { DeepHistoryCache } from '../../model/deepHistory.ts'
import { StoreError, StoreUnavailableError } from '../../platform/errors.ts'
import { hasLeft } from './deepRows.ts'

/**
 * A cache that is given up for another one when it refuses for good: a database user without rights, a newer schema, a damaged
 * file. One that is only out of reach for the moment is not.
 *
 * @param options.openOther - called once, when it is needed.
 * @param options.onRefusal - told why, once.
 */
export function keepOtherwise(
  cache: DeepHistoryCache,
  { openOther, onRefusal }: { openOther(): DeepHistoryCache; onRefusal(error: StoreError): void }
): DeepHistoryCache {
  let other: DeepHistoryCache | undefined

  function giveUp(error: unknown): DeepHistoryCache {
    if (!(error instanceof StoreError) || error instanceof StoreUnavailableError) throw error
    if (other !== undefined) return other
    onRefusal(error)
    other = openOther()
    return other
  }

  async function ask<T>(work: (cache: DeepHistoryCache) => Promise<T>): Promise<T> {
    if (other !== undefined) return work(other)
    try {
      return await work(cache)
    } catch (error) {
      return work(giveUp(error))
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
        giveUp(error)
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
