import { constants, existsSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { resolve } from 'node:path'
import { freeBytes } from '../../index/openStoreReaders.ts'
import { parseStoreUrl } from '../../index/parseStoreUrl.ts'
import { StoreInUseError } from '../../index/port/writer.ts'
import { loadSqliteDriver } from '../../index/sqlite/loadDriver.ts'
import { acquireWriterLock } from '../../index/sqlite/lock.ts'
import { chainFiles } from '../../index/sqlite/open.ts'
import { StoreError } from '../../platform/errors.ts'
import { lowSpaceBytes } from '../../platform/figures.ts'
import { isFolder, nearestExisting } from '../../platform/makeFolder.ts'
import type { Config } from '../config/config.ts'
import { checkPostgres } from './checkPostgres.ts'
import { type Finding, failure, ok, warning, warnUnless } from './findings.ts'
import { readStores } from './readStores.ts'

/**
 * Checks that the store's folder can be written and has room, or its database suits, and that each chain's index there can
 * be used. Nothing is written or made.
 *
 * @param isServed - whether a server answers at the configured address; then it is it that holds the locks.
 */
export async function checkStore(config: Config, isServed: Promise<boolean>): Promise<readonly Finding[]> {
  const location = parseStoreUrl(config.store)
  switch (location.kind) {
    case 'memory': {
      const advice = 'for anything but trying out, set store to sqlite:<folder>'
      return [warning('folder', 'the index is gone when the server ends', advice)]
    }
    case 'postgres': {
      const findings = await checkPostgres(config, location.url)
      // A database that cannot be reached is not asked once more for each chain.
      if (findings.some(({ check, state }) => check === 'database' && state === 'error')) return findings
      return [...findings, ...(await checkIndexes(config))]
    }
    case 'sqlite': {
      const folder = await checkFolder(location.folder)
      try {
        loadSqliteDriver()
      } catch (error) {
        if (!(error instanceof StoreError)) throw error
        return [folder, failure('driver', error.message, 'install Node 22.13 or newer')]
      }
      const indexes = await checkIndexes(config)
      const locks = config.chains.evm.map(async ({ chainId }) =>
        checkLock(location.folder, chainId, await isServed)
      )
      return [folder, ...indexes, ...(await Promise.all(locks))]
    }
  }
}

async function checkFolder(folder: string): Promise<Finding> {
  const path = resolve(folder)
  const existing = nearestExisting(path)
  try {
    if (!(await isFolder(existing))) {
      const found = existing === path ? 'is a file' : `cannot be made, because ${existing} is a file`
      return failure('folder', found, 'set store to another folder, or move the file away')
    }
    await access(existing, constants.W_OK | constants.X_OK)
  } catch (error) {
    const advice = 'give the server a folder that it may write, or run it as the user who owns this one'
    const code = error instanceof Error ? reasonOf(error) : String(error)
    const found =
      existing === path ? `cannot be written (${code})` : `cannot be made in ${existing} (${code})`
    return failure('folder', found, advice)
  }
  const free = freeBytes({ kind: 'sqlite', folder: existing }) ?? 0
  const found = `${existing === path ? 'can be written' : 'will be made at the first start'}, ${formatBytes(free)} free`
  const advice = 'make room: an index takes some 300 bytes for each transaction'
  return warnUnless(free >= lowSpaceBytes, 'folder', found, advice)
}

async function checkIndexes(config: Config): Promise<readonly Finding[]> {
  const rows = (await readStores(config)).filter(({ kind }) => kind === 'evm')
  return rows.map(({ chainId, problem, indexedFrom, indexedTo }): Finding => {
    const check = `index ${chainId}`
    if (problem !== undefined) return failure(check, problem, 'see docs/files.md')
    if (indexedTo === undefined) return ok(check, 'nothing is indexed yet')
    const startBlock = config.chains.evm.find(chain => chain.chainId === chainId)?.startBlock
    const found = `blocks ${indexedFrom} to ${indexedTo} are indexed`
    const advice = `startBlock is ${startBlock} and has no effect on an index that exists: index into another folder`
    return warnUnless(startBlock === indexedFrom || startBlock === 'latest', check, found, advice)
  })
}

async function checkLock(folder: string, chainId: number, isServed: boolean): Promise<Finding> {
  const check = `writer ${chainId}`
  const { lock } = chainFiles(folder, chainId)
  // Taking it would make the file.
  if (!existsSync(lock)) return ok(check, 'nobody writes this index')
  try {
    const held = await acquireWriterLock(loadSqliteDriver(), lock, 0)
    held.release()
    return ok(check, 'nobody writes this index')
  } catch (error) {
    if (!(error instanceof StoreInUseError)) {
      if (!(error instanceof Error)) throw error
      const isFull = error instanceof StoreError && error.context.sqliteCode === fullDiskCode
      const advice = isFull ? 'make room on the disk' : 'run this as the user of the server'
      return failure(check, `the lock cannot be looked at (${reasonOf(error)})`, advice)
    }
    if (isServed) return ok(check, 'written by a running server')
    return warning(
      check,
      'another process writes this index',
      'a second server waits until the other one ends'
    )
  }
}

/** SQLITE_FULL: even looking at a lock takes some bytes. */
const fullDiskCode = 13

function reasonOf(error: Error): string {
  // Its text holds neither a path nor SQL.
  if (error instanceof StoreError) return error.message
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}

/** Words a size on disk. */
export function formatBytes(bytes: number): string {
  const giga = bytes / 1024 ** 3
  return giga >= 1 ? `${giga.toFixed(1)} GiB` : `${Math.floor(bytes / 1024 ** 2)} MiB`
}
