import type { DeepHistoryCache } from '../model/deepHistory.ts'
import type { CacheDatabase } from './cacheDatabase.ts'
import { StoredAccounts, type StoredAccountsOptions } from './StoredAccounts.ts'

/** Creates the cache of what is older than one chain's index, over the tables of an engine's `cacheDatabase.ts`. */
export function createDeepHistoryCache(
  database: CacheDatabase,
  options: StoredAccountsOptions
): DeepHistoryCache {
  const accounts = new StoredAccounts(options)
  return {
    async known(address, anchor) {
      const { from, gaps } = await database.run(() => accounts.knownOf(address, anchor))
      return { recordsFrom: from.records, candidatesFrom: from.candidates, gaps }
    },
    async *records(address, anchor, { belowId, limit = Number.POSITIVE_INFINITY }) {
      const account = await database.run(() => accounts.find(address, anchor))
      if (account === undefined) return
      let below = belowId
      for (let left = limit; left > 0; ) {
        const found = (await database.run(() => accounts.readRecords(address, account, below))).slice(0, left)
        const last = found.at(-1)
        if (last === undefined) return
        yield { ids: found.map(({ id }) => id), bytes: Buffer.concat(found.map(({ bytes }) => bytes)) }
        below = last.id
        left -= found.length
      }
    },
    candidates: (address, anchor) => database.run(() => accounts.candidatesOf(address, anchor)),
    lookUpHash: (address, hash, anchor) => database.run(() => accounts.lookUp(address, hash, anchor)),
    save: (address, anchor, stretch) =>
      database.transaction(String(options.chainId), () => accounts.save(address, anchor, stretch)),
    forget: address => database.run(() => accounts.remove(address)),
    close: () => database.close()
  }
}
