import { pathToFileURL } from 'node:url'
import { StoreError } from '../platform/errors.ts'
import type { SqliteConnection, SqliteDriver } from './driver.ts'

/** Numbers of an index that never fall. Rollbacks are counted from the microsecond on in which an index was made. */
interface Progress {
  readonly rollbacks: number
  readonly beat: number | null
}

const selectProgress = 'SELECT rollbacks, (SELECT beat FROM writer_report) AS beat FROM meta'

/**
 * Prepares the check that a file still holds the index that is open, although its bytes have changed: its progress must lie between
 * what the file showed before and what is stored now. So a checkpoint, by whatever program, is told from a file that was
 * overwritten in place, also with an older copy of the same index.
 *
 * @remarks Reads the file without its write-ahead log, by a connection that takes no locks; less than a millisecond.
 */
export function createFileCheck(
  driver: SqliteDriver,
  connection: SqliteConnection,
  database: string
): () => boolean {
  const selectNow = connection.prepare<Progress>(selectProgress)
  const url = `${pathToFileURL(database).href}?immutable=1`

  let last: Progress = { rollbacks: 0, beat: null }

  /** Returns nothing for a file that is no index: it has no such tables or no such row. */
  function readFile(): Progress | undefined {
    let checkpointed: SqliteConnection | undefined
    try {
      checkpointed = driver.open(url, { busyTimeoutMs: 0 })
      return checkpointed.prepare<Progress>(selectProgress).get([])
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      // Where it cannot be read at the moment, the next change is checked: a checkpoint that readers end early leaves pages of
      // several commits, which only make sense with the log. Damage shows in every ordinary read.
      return error.context.sqliteCode === noSuchTable ? undefined : last
    } finally {
      checkpointed?.close()
    }
  }

  return () => {
    const found = readFile()
    const isOwn = found !== undefined && isUpTo(last, found) && isUpTo(found, selectNow.get([]))
    if (isOwn) last = found
    return isOwn
  }
}

/** SQLITE_ERROR. */
const noSuchTable = 1

function isUpTo(low: Progress, high: Progress | undefined): boolean {
  return high !== undefined && low.rollbacks <= high.rollbacks && (low.beat ?? 0) <= (high.beat ?? 0)
}
