import { statSync } from 'node:fs'
import type { StoreLocation } from './parseStoreUrl.ts'
import { chainFiles } from './sqlite/open.ts'

/**
 * What one chain's index takes on this machine's disk, with what is not merged into it yet.
 * @returns absent where there is no index yet, and for PostgreSQL: its size is the database's to tell.
 */
export function storeBytes(location: StoreLocation, chainId: number): number | undefined {
  if (location.kind !== 'sqlite') return undefined
  const { database } = chainFiles(location.folder, chainId)
  const main = sizeOf(database)
  return main === undefined ? undefined : main + (sizeOf(`${database}-wal`) ?? 0)
}

function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size
}
