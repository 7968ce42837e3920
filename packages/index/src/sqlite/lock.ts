import { setTimeout as sleep } from 'node:timers/promises'
import { IndexDamagedError, StoreError } from '../platform/errors.ts'
import { StoreInUseError } from '../port/writer.ts'
import { isBusy, type SqliteConnection, type SqliteDriver } from './driver.ts'
import { fileId } from './openFiles.ts'

const pollMs = 25

/** Lock that is held until released; the operating system also releases it when the process dies. */
export interface WriterLock {
  release(): void
}

/**
 * Makes the caller the only writer of one chain's file among all threads and processes of this machine: it takes an exclusive
 * lock on a small database next to it, which is never read.
 * @param waitMs - how long to wait for another writer to end, as when a service restarts.
 * @param signal - ends the waiting.
 * @throws {StoreInUseError} another writer is still there.
 * @throws the reason of `signal`.
 */
export async function acquireWriterLock(
  driver: SqliteDriver,
  path: string,
  waitMs: number,
  signal?: AbortSignal
): Promise<WriterLock> {
  let connection = driver.open(path, { busyTimeoutMs: 0 })
  try {
    let file = fileId(path)
    const deadline = performance.now() + waitMs
    while (!tryLock(connection) || fileId(path) !== file) {
      // Of a file that was deleted or replaced meanwhile, the lock keeps nobody out.
      if (fileId(path) !== file) {
        connection.close()
        connection = driver.open(path, { busyTimeoutMs: 0 })
        file = fileId(path)
        continue
      }
      if (performance.now() >= deadline) {
        throw new StoreInUseError(
          'another process or thread is writing this chain; expected to be the only one. Stop it, or use another folder'
        )
      }
      signal?.throwIfAborted()
      await sleep(pollMs)
    }
  } catch (error) {
    connection.close()
    throw error
  }
  return { release: () => connection.close() }
}

function tryLock(connection: SqliteConnection): boolean {
  try {
    connection.exec('BEGIN EXCLUSIVE')
    return true
  } catch (error) {
    if (isBusy(error)) return false
    // What is stored of the chain is in another file.
    if (error instanceof IndexDamagedError) {
      throw new StoreError('the lock file is damaged; remove it while no server runs', {}, { cause: error })
    }
    throw error
  }
}
