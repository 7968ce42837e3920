import type { MetadataCache } from '@chain-data/index'

/** What was read of a cluster and is finalised, as JSON values under names; it may forget anything at any time. */
export interface HistoryCache {
  /** @returns the values that are known, by their names. */
  read<T>(kind: 'transactions' | 'lists', names: readonly string[]): Promise<ReadonlyMap<string, Kept<T>>>
  save(kind: 'transactions' | 'lists', name: string, value: unknown): void
  /** Has a value read again: it turned out to lack something. */
  forget(kind: 'transactions' | 'lists', name: string): void
}

interface Kept<T> {
  readonly value: T
  readonly savedAtMs: number
}

/** Names read at once: others wait for a turn of the store. */
const readAtOnce = 64

/**
 * Keeps values of one cluster in a cache of documents that clusters and servers share.
 * @param cluster - tells clusters apart: a development chain that begins anew under the same chain id is another one.
 */
export function createHistoryCache(documents: MetadataCache, cluster: string): HistoryCache {
  const keyOf = (kind: string, name: string) => `solana:${cluster}:${kind}:${name}`
  const cache: HistoryCache = {
    async read<T>(kind: 'transactions' | 'lists', names: readonly string[]) {
      const found = new Map<string, Kept<T>>()
      for (let start = 0; start < names.length; start += readAtOnce) {
        const some = names.slice(start, start + readAtOnce)
        const records = await documents.read(some.map(name => keyOf(kind, name)))
        for (const name of some) {
          const document = records.get(keyOf(kind, name))?.document
          if (document === undefined) continue
          const value = JSON.parse(Buffer.from(document.body).toString('utf8')) as T | null
          if (value === null) continue
          found.set(name, { value, savedAtMs: document.fetchedAtMs })
        }
      }
      return found
    },
    save(kind, name, value) {
      documents.saveDocument(kind === 'transactions' ? 'content' : 'url', keyOf(kind, name), {
        body: Buffer.from(JSON.stringify(value)),
        fetchedAtMs: Date.now(),
        isProven: false
      })
    },
    forget: (kind, name) => cache.save(kind, name, null)
  }
  return cache
}
