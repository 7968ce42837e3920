import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { resolve } from 'node:path'
import {
  checkNobodyWrites,
  codeOf,
  freeBytes,
  isFolder,
  nearestExisting,
  StoreError,
  StoreInUseError
} from '@chain-data/index'
import { lowSpaceBytes } from '../../platform/figures.ts'
import type { Config } from '../config/config.ts'
import { parseStoreUrl } from '../config/parseStoreUrl.ts'
import { checkPostgres } from './checkPostgres.ts'
import { type Findings, judge, okIf } from './findings.ts'
import { readStores } from './readStores.ts'

/**
 * Checks that the store's folder can be written and has room, or its database suits, and that each chain's index there can
 * be used. Nothing is written or made.
 *
 * @param isServed - whether a server answers at the configured address; then it is it that holds the locks.
 */
export async function checkStore(config: Config, isServed: Promise<boolean>): Promise<Findings> {
  const location = parseStoreUrl(config.store)
  if (location.kind === 'memory') {
    return judge`folder | warning | | the index is gone when the server ends | for anything but trying out, set store to sqlite:<folder>`
  }
  if (location.kind === 'postgres') {
    const findings = await checkPostgres(config, location.url)
    // A database that cannot be reached is not asked once more for each chain.
    const isReached = findings.every(({ check, state }) => check !== 'database' || state !== 'error')
    return isReached ? [...findings, ...(await checkIndexes(config))] : findings
  }
  const locks = config.chains.evm.map(async ({ chainId }) => {
    const error = await checkNobodyWrites(location.folder, chainId).catch(reason => reason)
    return judge`
      writer ${chainId} | ok | ${error === undefined} | nobody writes this index
      writer ${chainId} | error | ${!(error instanceof StoreInUseError)} | the lock cannot be looked at (${reasonOf(error)}) | mend that, or run this as the user of the server
      writer ${chainId} | ok | ${await isServed} | written by a running server
      writer ${chainId} | warning | | another process writes this index | a second server waits until the other one ends
    `
  })
  const folder = await checkFolder(location.folder)
  return [...folder, ...(await checkIndexes(config)), ...(await Promise.all(locks)).flat()]
}

async function checkFolder(folder: string): Promise<Findings> {
  const path = resolve(folder)
  const existing = nearestExisting(path)
  const isThere = existing === path
  const code = await access(existing, constants.W_OK | constants.X_OK).then(() => undefined, reasonOf)
  const free = freeBytes({ kind: 'sqlite', folder: existing }) ?? 0
  return judge`
    folder | error | ${!(await isFolder(existing))} | ${isThere ? 'is a file' : `cannot be made, because ${existing} is a file`} | set store to another folder, or move the file away
    folder | error | ${code} | ${isThere ? 'cannot be written' : `cannot be made in ${existing}`} (${code}) | give the server a folder that it may write, or run it as the user who owns this one
    folder | ${okIf(free >= lowSpaceBytes)} | | ${isThere ? 'can be written' : 'will be made at the first start'}, ${formatBytes(free)} free | make room: an index takes some 300 bytes for each transaction
  `
}

async function checkIndexes(config: Config): Promise<Findings> {
  const rows = (await readStores(config)).filter(({ kind }) => kind === 'evm')
  return rows.flatMap(({ chainId, problem, indexedFrom, indexedTo }) => {
    const start = config.chains.evm.find(chain => chain.chainId === chainId)?.startBlock
    return judge`
      index ${chainId} | error | ${problem !== undefined} | ${problem} | see docs/files.md
      index ${chainId} | ok | ${indexedTo === undefined} | nothing is indexed yet
      index ${chainId} | ${okIf(start === 'latest' || start === indexedFrom)} | | blocks ${indexedFrom} to ${indexedTo} are indexed | startBlock is ${start} and has no effect on an index that exists: index into another folder
    `
  })
}

/** The text of a store's error holds neither a path nor SQL. */
function reasonOf(error: unknown): string {
  return error instanceof StoreError ? error.message : (codeOf(error) ?? String(error))
}

/** Words a size on disk. */
export function formatBytes(bytes: number): string {
  const giga = bytes / 1024 ** 3
  return giga >= 1 ? `${giga.toFixed(1)} GiB` : `${Math.floor(bytes / 1024 ** 2)} MiB`
}
