import { rename } from 'node:fs/promises'
import { StoreError } from '../platform/errors.ts'
import { makeFolder } from '../platform/makeFolder.ts'
import type { ChainIdentity } from '../port/status.ts'
import type { StoreWriter } from '../port/writer.ts'
import { writeIdentity } from '../store/meta.ts'
import { defaultLockWaitMs, isOfOtherGenesis, openIndex, type WriterOptions } from '../store/openIndex.ts'
import type { SqliteDriver } from './driver.ts'
import { indexTables } from './indexTables.ts'
import { keepAside, removeDatabase } from './keepAside.ts'
import { loadSqliteDriver } from './loadDriver.ts'
import { acquireWriterLock } from './lock.ts'
import { createFormatCheck, makeTables } from './makeTables.ts'
import { takeDamageFile } from './notices.ts'
import { type ChainFiles, chainFiles, openForReading, openForWriting, takeInLog } from './open.ts'
import { hasContent, lostIndex, trackFiles } from './openFiles.ts'
import { createReadTransaction, createWritableStore } from './transaction.ts'

export interface SqliteWriterOptions extends WriterOptions {
  readonly driver?: SqliteDriver
}

/**
 * Opens the index of one chain for writing, in the file `evm-<chainId>.sqlite` of `folder`; makes both when missing.
 * @throws {StoreInUseError} another writer has it.
 * @throws {StoreLostError} there is none, and it must exist. Calls of the writer throw it while its files are not at their paths.
 * @throws {StoreError} it holds another chain; its format is that of another build; there is
 *   no SQLite driver; the disk refuses.
 * @remarks Its calls block the calling thread: use it in a worker. Keep it reachable until it is closed: collected as
 *   garbage, it takes its lock along.
 */
export async function openSqliteWriter(
  folder: string,
  identity: ChainIdentity,
  options: SqliteWriterOptions = {}
): Promise<StoreWriter> {
  const { driver = loadSqliteDriver(), lockWaitMs = defaultLockWaitMs, signal, ...rest } = options
  const { keepsOtherAside = false, mustExist = false, ...layout } = rest
  const files = chainFiles(folder, identity.chainId)
  const requireIndex = () => {
    if (mustExist && !hasContent(files.database)) throw lostIndex()
  }
  requireIndex()
  await requireFolder(folder)
  const lock = await acquireWriterLock(driver, files.lock, lockWaitMs, signal).catch((error: unknown) => {
    requireIndex()
    throw error
  })
  try {
    requireIndex()
    if (hasContent(files.database)) {
      const isOther = await readsOtherGenesis(driver, files, identity)
      if (keepsOtherAside && isOther) await keepAside(driver, files)
    }
    if (!hasContent(files.database)) await createDatabase(driver, files, identity)
    const connection = openForWriting(driver, files.database)
    try {
      // Made by the first transaction, when all files are there.
      let check: (() => void) | undefined
      const guard = () => {
        check ??= trackFiles(driver, connection, files)
        check()
      }
      return await openIndex({
        store: createWritableStore({ ...connection, guard }, () => lock.release()),
        ...{ identity, aside: files.aside, layout: { maxRuns: 32, ...layout } },
        takeDamage: () => takeDamageFile(files.damage)
      })
    } catch (error) {
      connection.close()
      throw error
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

/** Over a connection that changes nothing. @throws {StoreError} the file is of another build: it stays as it is. */
async function readsOtherGenesis(
  driver: SqliteDriver,
  files: ChainFiles,
  identity: ChainIdentity
): Promise<boolean> {
  const connection = openForReading(driver, files.database)
  try {
    createFormatCheck(connection, indexTables, files.store)()
    return await isOfOtherGenesis(createReadTransaction(connection), identity)
  } finally {
    connection.close()
  }
}

async function requireFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder)
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown reason'
    throw new StoreError(`the store's folder cannot be created: ${reason}`, {}, { cause })
  }
}

/** Under another name first: a reader that finds the file finds it complete, whenever the process dies. */
async function createDatabase(
  driver: SqliteDriver,
  files: ChainFiles,
  identity: ChainIdentity
): Promise<void> {
  await removeDatabase(files.unfinished)
  const connection = openForWriting(driver, files.unfinished)
  try {
    makeTables(connection, indexTables, files.store)
    await createWritableStore(connection).write(transaction => writeIdentity(transaction, identity))
  } catch (error) {
    connection.close()
    throw error
  }
  // Into the file with everything: the log does not move along.
  takeInLog(connection)
  // A log that a crash left without its file would be taken for that of the new one.
  await removeDatabase(files.database)
  await rename(files.unfinished, files.database)
  await removeDatabase(files.unfinished)
}
