import { accessSync, constants, statSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { StoreError, StoreLostError } from '../platform/errors.ts'
import { StoreInUseError } from '../port/writer.ts'
import type { SqliteConnection, SqliteDriver } from './driver.ts'
import type { ChainFiles } from './open.ts'

/** Returns what tells one file from another at the same path; absent: there is none. */
export function fileId(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats && `${stats.dev}:${stats.ino}`
}

/** An empty file is what a program leaves that opened the index before there was one. */
export function hasContent(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0
}

/**
 * Remembers the files that a writer has just opened. A file that is deleted or replaced stays open as it was, so that SQLite
 * would go on writing where nobody reads; and whoever makes another lock file writes beside the writer that holds this one.
 *
 * @param connection - the writer's.
 * @returns a check that the paths still lead to these files, and that they may be written. It throws {StoreLostError} where
 *   they do not, {StoreInUseError} where only the lock is another one.
 * @remarks Some microseconds, unless the file has changed. Files are not opened here: closing one would end the locks of the whole
 *   process on it.
 */
export function trackFiles(
  driver: SqliteDriver,
  connection: SqliteConnection,
  { database, lock }: ChainFiles
): () => void {
  const named = [
    { what: "the file of the chain's index", path: database },
    { what: "the write-ahead log of the chain's index", path: `${database}-wal` },
    { what: "the shared memory of the chain's index", path: `${database}-shm` }
  ]
  const parts = named.map(part => ({ ...part, id: fileId(part.path) }))
  const lockId = fileId(lock)
  const isOwn = createContentCheck(driver, connection, database)
  let bytes = 0n
  let changedNs = 0n
  /** Part of the file may be cached: only a new connection sees what is there now. */
  let isOther = false
  return () => {
    for (const { what, path, id } of parts) {
      // Not every driver shares memory by a file.
      if (id === undefined) continue
      const found = fileId(path)
      if (found === undefined) throw lostIndex(what)
      if (found !== id) {
        throw new StoreLostError(
          `${what} was replaced by another file while in use: move the original back, or restart the server to use the other one`
        )
      }
      requireWritable(what, path)
    }
    const { size, ctimeNs } = statSync(database, { bigint: true })
    // An index never shrinks: its space is used again.
    isOther ||= size < bytes || (ctimeNs !== changedNs && !isOwn())
    bytes = size
    changedNs = ctimeNs
    if (isOther) {
      throw new StoreLostError(
        "the chain's index is not as it was stored: its file was overwritten while in use, or its write-ahead log was damaged. Stop the server, then put a whole index there without -wal and -shm files, or run chain-data reset"
      )
    }
    if (fileId(lock) !== lockId) {
      throw new StoreInUseError('the lock of the writer was deleted or replaced: it is taken anew')
    }
  }
}

/** Makes the error for an index that was there before. */
export function lostIndex(what = "the file of the chain's index"): StoreLostError {
  return new StoreLostError(
    `${what} was deleted or moved while in use: move it back, or restore it and restart the server; a restart without it begins a new index`
  )
}

function requireWritable(what: string, path: string): void {
  try {
    accessSync(path, constants.W_OK)
  } catch (cause) {
    const systemCode = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown reason'
    throw new StoreLostError(
      `${what} cannot be written any more (${systemCode}): make it writable again, and indexing goes on`,
      { systemCode },
      { cause }
    )
  }
}

/** Numbers of an index that never fall. Rollbacks are counted from the microsecond on in which an index was made. */
interface Progress {
  readonly rollbacks: number
  readonly beat: number | null
}

const selectProgress = 'SELECT rollbacks, (SELECT beat FROM writer_report) AS beat FROM meta'
/** SQLITE_ERROR, also for a file that is no index. */
const noSuchTable = 1

/**
 * Creates the check that a file still holds the index that is open, although its bytes have changed: its progress must lie between
 * what the file showed before and what is stored now. So a checkpoint, by whatever program, is told from a file that was
 * overwritten in place, also with an older copy of the same index.
 *
 * @remarks Reads the file without its write-ahead log, by a connection that takes no locks; less than a millisecond.
 */
function createContentCheck(
  driver: SqliteDriver,
  connection: SqliteConnection,
  database: string
): () => boolean {
  const selectNow = connection.prepare<Progress>(selectProgress)
  const url = `${pathToFileURL(database).href}?immutable=1`
  let last: Progress = { rollbacks: 0, beat: null }
  return () => {
    let checkpointed: SqliteConnection | undefined
    try {
      checkpointed = driver.open(url, { busyTimeoutMs: 0 })
      const found = checkpointed.prepare<Progress>(selectProgress).get([])
      if (found === undefined || !isUpTo(last, found) || !isUpTo(found, selectNow.get([]))) return false
      last = found
      return true
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      // Where it cannot be read at the moment, the next change is checked: a checkpoint that readers end early leaves pages of
      // several commits, which only make sense with the log. Damage shows in every ordinary read.
      return error.context.sqliteCode !== noSuchTable
    } finally {
      checkpointed?.close()
    }
  }
}

function isUpTo(low: Progress, high: Progress | undefined): boolean {
  return high !== undefined && low.rollbacks <= high.rollbacks && (low.beat ?? 0) <= (high.beat ?? 0)
}
