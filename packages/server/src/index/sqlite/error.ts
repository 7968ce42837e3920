import { StoreError } from '../../platform/errors.ts'

/** SQLITE_BUSY: another connection holds the lock that was asked for. */
const busyCode = 5

/**
 * The one shape of a failed SQLite call.
 * @param sqliteCode - SQLite's (extended) result code; absent when the call never reached SQLite.
 */
export function toStoreError(cause: unknown, sqliteCode: number | undefined): StoreError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new StoreError(`SQLite refused: ${reason}`, { sqliteCode }, { cause })
}

/** The call may pass once the other connection is done. */
export function isBusy(error: unknown): boolean {
  const code = error instanceof StoreError ? error.context.sqliteCode : undefined
  return typeof code === 'number' && (code & 0xff) === busyCode
}
