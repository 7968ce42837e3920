import { existsSync, statSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { StoreError } from '../platform/errors.ts'
import type { IndexToReset } from '../port/reset.ts'
import type { SqliteDriver } from './driver.ts'
import { loadSqliteDriver } from './loadDriver.ts'
import { acquireWriterLock } from './lock.ts'
import { type ChainFiles, chainFiles, openForWriting, takeInLog } from './open.ts'

/** What SQLite keeps beside a database. */
const logSuffixes = ['-wal', '-shm']

/**
 * Opens the index of one chain for `chain-data reset`.
 * @returns absent where there is none.
 * @throws {StoreInUseError} a server writes it.
 */
export async function openSqliteIndexToReset(
  folder: string,
  chainId: number
): Promise<IndexToReset | undefined> {
  const files = chainFiles(folder, chainId)
  const { database, aside } = files
  if (!existsSync(database)) return undefined
  const driver = loadSqliteDriver()
  const lock = await acquireWriterLock(driver, files.lock, 0)
  const bytesOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return {
    ...{ place: database, aside, replacesEarlier: existsSync(aside) },
    bytes: bytesOf(database) + bytesOf(`${database}-wal`),
    keepAside: () => keepAside(driver, files),
    close: async () => lock.release()
  }
}

/**
 * Renames the index of a chain, in place of one that was kept before. Only for who holds the writer's lock and has no other
 * connection. Snapshots that are open go on reading the renamed file.
 */
export async function keepAside(driver: SqliteDriver, { database, aside }: ChainFiles): Promise<void> {
  try {
    // As far as readers allow it.
    takeInLog(openForWriting(driver, database))
  } catch (error) {
    // A damaged file is kept as it is.
    if (!(error instanceof StoreError)) throw error
  }
  await removeDatabase(aside)
  // The file first: a log without its file is removed by whoever makes the next one, and belongs to no other.
  await rename(database, aside)
  for (const suffix of logSuffixes) {
    if (existsSync(database + suffix)) await rename(database + suffix, aside + suffix)
  }
}

/** Removes a database with what SQLite keeps beside it. */
export async function removeDatabase(path: string): Promise<void> {
  for (const suffix of ['', ...logSuffixes]) await rm(path + suffix, { force: true })
}
