import { constants } from 'node:fs'
import { access, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import {
  codeOf,
  createChainReaders,
  type DeepHistoryCache,
  isFolder,
  type MetadataCache,
  makeFolder,
  nearestExisting,
  openDeepHistoryCaches,
  openMetadataCache,
  openSolanaHistoryCache,
  type StoreLocation,
  type StoreReader
} from '@chain-data/index'
import { ConfigError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Config } from '../config/config.ts'
import { parseStoreUrl, storeOf } from '../config/parseStoreUrl.ts'

/** The stores of one server, whatever the engine. */
export interface Stores {
  /** Where the index of a chain is, for the threads that write. */
  locationOf(chainId: number): StoreLocation
  /** Maximum of snapshots open at the same time: of each chain, or with PostgreSQL of all of them together. */
  readonly answersAtOnce: number
  /** @throws {StoreError} the index of this chain cannot be read by this program. */
  openReader(chainId: number): Promise<StoreReader>
  openMetadataCache(): MetadataCache
  /** Of all Solana clusters: finalised transactions and lists of signatures. */
  openSolanaHistoryCache(): MetadataCache
  /** Ends with `close`. */
  openDeepHistoryCache(chainId: number): DeepHistoryCache
  /** Number of times that something stored in a cache differed from its checksum, by cache. */
  cacheDamages(): ReadonlyMap<string, number>
  /** Closes the stores, once readers, caches and writers have ended. */
  close(): Promise<void>
}

/** Maximum of snapshots that a reader of SQLite opens. */
const sqliteAnswersAtOnce = 64

type StoreConfig = Pick<
  Config,
  'store' | 'storeReplicas' | 'storeConnections' | 'metadata' | 'history' | 'chains'
>

/**
 * Opens what the configuration names as its stores.
 * @throws {ConfigError} one cannot be understood, or its folder cannot be written.
 */
export async function openStores(config: StoreConfig, logger: Logger): Promise<Stores> {
  const location = parseStoreUrl(config.store, config.storeReplicas)
  const ownLocations = new Map<number, StoreLocation>()
  for (const { chainId, store } of config.chains.evm) {
    const own = store === null ? location : storeOf(config, chainId)
    if (own !== location && own.kind !== 'memory') ownLocations.set(chainId, own)
  }
  for (const each of [location, ...ownLocations.values()]) {
    if (each.kind === 'sqlite') await requireWritable(each.folder)
  }
  if (location.kind === 'memory') {
    const folder = await mkdtemp(join(tmpdir(), 'chain-data-'))
    const remove = () => rm(folder, { recursive: true, force: true })
    return createStores({ kind: 'sqlite', folder }, ownLocations, config, logger, remove)
  }
  return createStores(location, ownLocations, config, logger, async () => {})
}

/**
 * @param location - of what belongs to no chain, and of the chains without a store of their own.
 * @param ownLocations - of the others, by chain id.
 */
async function createStores(
  location: StoreLocation,
  ownLocations: ReadonlyMap<number, StoreLocation>,
  { metadata, history, storeConnections }: StoreConfig,
  logger: Logger,
  remove: () => Promise<void>
): Promise<Stores> {
  const bounds = { content: metadata.cacheBytes, url: metadata.urlCacheBytes }
  const locationOf = (chainId: number) => ownLocations.get(chainId) ?? location
  const readers = createChainReaders(locationOf, { connections: storeConnections })
  const damages = new Map([
    ['metadata', 0],
    ['deep_history', 0],
    ['solana_history', 0]
  ])
  const countDamage = (cache: string) => () => damages.set(cache, (damages.get(cache) ?? 0) + 1)
  const onDeepDamage = countDamage('deep_history')
  const deep = openDeepHistoryCaches(location, {
    ...{ bound: history.deepCacheBytes, logger, onDamage: onDeepDamage }
  })
  return {
    locationOf,
    answersAtOnce: [location, ...ownLocations.values()].some(({ kind }) => kind === 'postgres')
      ? storeConnections
      : sqliteAnswersAtOnce,
    openReader: readers.open,
    openMetadataCache: () =>
      openMetadataCache(location, { bounds, logger, onDamage: countDamage('metadata') }),
    openSolanaHistoryCache: () => {
      // Lists are rewritten as they grow; transactions are most of it.
      const { deepCacheBytes } = history
      const parts = { content: Math.ceil(deepCacheBytes * 0.75), url: Math.ceil(deepCacheBytes * 0.25) }
      const onDamage = countDamage('solana_history')
      return openSolanaHistoryCache(location, { bounds: parts, logger, onDamage })
    },
    openDeepHistoryCache: deep.ofChain,
    cacheDamages: () => damages,
    async close() {
      await deep.close()
      await readers.close()
      await remove()
    }
  }
}

/** The folder is made where it is missing, so that a wrong one is found now and not by the indexers. */
async function requireWritable(folder: string): Promise<void> {
  try {
    await makeFolder(folder)
    await access(folder, constants.W_OK)
  } catch (error) {
    const code = codeOf(error) ?? 'unknown trouble'
    const existing = nearestExisting(resolve(folder))
    const [found, advice] = (await isFolder(existing))
      ? [code, '']
      : [`${existing} is a file`, ': set store to another one, or move the file away']
    throw new ConfigError(
      `store is "sqlite:${folder.slice(0, 100)}" (${found}); expected a folder that can be written${advice}`
    )
  }
}
