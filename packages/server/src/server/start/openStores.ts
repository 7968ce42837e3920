import { constants } from 'node:fs'
import { access, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import {
  codeOf,
  createChainReaders,
  isFolder,
  makeFolder,
  nearestExisting,
  type StoreLocation
} from '@chain-data/index'
import { ConfigError } from '../../platform/errors.ts'
import type { Config } from '../config/config.ts'
import { parseStoreUrl, storeOf } from '../config/parseStoreUrl.ts'
import type { Stores } from '../feature/stores.ts'

/** Maximum of snapshots that a reader of SQLite opens. */
const sqliteAnswersAtOnce = 64

type StoreConfig = Pick<Config, 'store' | 'storeReplicas' | 'storeConnections' | 'chains'>

/**
 * Opens what the configuration names as its stores.
 * @throws {ConfigError} one cannot be understood, or its folder cannot be written.
 */
export async function openStores(config: StoreConfig): Promise<Stores> {
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
    return createStores({ kind: 'sqlite', folder }, ownLocations, config, remove)
  }
  return createStores(location, ownLocations, config, async () => {})
}

/**
 * @param location - of what belongs to no chain, and of the chains without a store of their own.
 * @param ownLocations - of the others, by chain id.
 */
async function createStores(
  location: StoreLocation,
  ownLocations: ReadonlyMap<number, StoreLocation>,
  { storeConnections }: StoreConfig,
  remove: () => Promise<void>
): Promise<Stores> {
  const locationOf = (chainId: number) => ownLocations.get(chainId) ?? location
  const readers = createChainReaders(locationOf, { connections: storeConnections })
  const damages = new Map<string, number>()
  return {
    ...{ location, locationOf, openReader: readers.open },
    answersAtOnce: [location, ...ownLocations.values()].some(({ kind }) => kind === 'postgres')
      ? storeConnections
      : sqliteAnswersAtOnce,
    countCacheDamage(cache) {
      damages.set(cache, 0)
      return () => damages.set(cache, (damages.get(cache) ?? 0) + 1)
    },
    cacheDamages: () => damages,
    async close() {
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
