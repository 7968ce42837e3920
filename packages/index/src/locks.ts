import { existsSync } from 'node:fs'
import { loadSqliteDriver } from './sqlite/loadDriver.ts'
import { acquireWriterLock, type WriterLock } from './sqlite/lock.ts'
import { chainFiles } from './sqlite/open.ts'

/**
 * Takes a lock that nobody else on this machine holds, until it is released or the process ends.
 * @param path - of a file of its own, which is made where it is missing.
 * @param waitMs - how long to wait for another holder to end.
 * @throws {StoreInUseError} another holder is still there.
 */
export function lockFile(path: string, waitMs: number): Promise<WriterLock> {
  return acquireWriterLock(loadSqliteDriver(), path, waitMs)
}

/**
 * Checks that nobody writes the index of a chain in a folder of SQLite; makes no file.
 * @throws {StoreInUseError} somebody does.
 * @throws {StoreError} a writer could not take the lock either.
 */
export async function checkNobodyWrites(folder: string, chainId: number): Promise<void> {
  const { lock } = chainFiles(folder, chainId)
  // Taking it would make the file.
  if (existsSync(lock)) (await lockFile(lock, 0)).release()
}
