import { statfsSync, statSync } from 'node:fs'
import type { StoreLocation } from './model/location.ts'
import { openWith } from './openWith.ts'
import type { StoreReader } from './port/store.ts'
import { chainFiles } from './sqlite/open.ts'

export interface StoreReadersOptions {
  /** Of PostgreSQL: most connections, to each server; as many snapshots may be open at once. */
  readonly connections?: number
}

/** Readers of all chains of one process, over shared connections. */
export interface StoreReaders {
  /**
   * Opens the index of one chain, next to its writer wherever that runs. It need not exist yet: snapshots are empty until it
   * does.
   * @throws {StoreError} the engine cannot be used, or the index was made by another build.
   */
  open(chainId: number): Promise<StoreReader>
  /** After the readers: ends what they shared. */
  close(): Promise<void>
}

/**
 * The engine of `location`, for reading.
 * @remarks Only the engine that is used is loaded. Connections are opened when they are needed.
 */
async function openStoreReaders(
  location: StoreLocation,
  options: StoreReadersOptions = {}
): Promise<StoreReaders> {
  switch (location.kind) {
    case 'sqlite': {
      const { openSqliteReader } = await import('./sqlite/openReader.ts')
      const { folder } = location
      return { open: chainId => openSqliteReader(folder, chainId), close: async () => {} }
    }
    case 'postgres': {
      const { createPostgresPool } = await import('./postgres/servers.ts')
      const { openPostgresReader } = await import('./postgres/openReader.ts')
      const pool = createPostgresPool([location.url, ...(location.replicaUrls ?? [])], options)
      return { open: chainId => openPostgresReader(pool, chainId), close: () => pool.close() }
    }
  }
}

/**
 * Prepares reading indexes wherever each of them is kept: chains in the same database share connections.
 * @param locationOf - where the index of a chain is.
 */
export function createChainReaders(
  locationOf: (chainId: number) => StoreLocation,
  options: StoreReadersOptions = {}
): StoreReaders {
  const engines = new Map<string, Promise<StoreReaders>>()
  return {
    async open(chainId) {
      const location = locationOf(chainId)
      const place = location.kind === 'sqlite' ? location.folder : location.url
      const engine = engines.get(place) ?? openStoreReaders(location, options)
      engines.set(place, engine)
      return (await engine).open(chainId)
    },
    async close() {
      for (const engine of await Promise.allSettled(engines.values())) {
        if (engine.status === 'fulfilled') await engine.value.close()
      }
    }
  }
}

/**
 * Opens the index of one chain for reading, with connections of its own; for all chains of a server see `createChainReaders`.
 * @throws {StoreError} the engine cannot be used, or the index was made by another build.
 */
export async function openStoreReader(
  location: StoreLocation,
  chainId: number,
  options: StoreReadersOptions = {}
): Promise<StoreReader> {
  const readers = await openStoreReaders(location, options)
  return openWith(readers, () => readers.open(chainId))
}

/**
 * Returns the bytes of one chain's index on this machine's disk, its write-ahead log included.
 * @returns absent where there is no index yet, and for PostgreSQL: only the database knows its size.
 */
export function storeBytes(location: StoreLocation, chainId: number): number | undefined {
  if (location.kind !== 'sqlite') return undefined
  const { database } = chainFiles(location.folder, chainId)
  const main = sizeOf(database)
  return main === undefined ? undefined : main + (sizeOf(`${database}-wal`) ?? 0)
}

/**
 * Returns the bytes that are free for an index on this machine's disk.
 * @returns absent where the folder cannot be looked at, and for PostgreSQL.
 */
export function freeBytes(location: StoreLocation): number | undefined {
  if (location.kind !== 'sqlite') return undefined
  try {
    const { bavail, bsize } = statfsSync(location.folder)
    return bavail * bsize
  } catch {
    return undefined
  }
}

function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size
}
