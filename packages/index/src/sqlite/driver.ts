import { closeSync, openSync } from 'node:fs'
import {
  codeOf,
  IndexDamagedError,
  noDescriptorCodes,
  StoreError,
  StoreUnavailableError,
  storeFaults
} from '../platform/errors.ts'

/** Value of a parameter or a column. Integers are safe ones; anything wider is stored as bytes. */
export type SqlValue = number | string | Uint8Array | null
type SqlRow = Readonly<Record<string, SqlValue>>

/**
 * A prepared statement. Parameters are always an array, in the order of the `?` in the text.
 * `Row` is what its author says the text selects.
 */
export interface SqliteStatement<Row extends object = SqlRow> {
  /** @returns how many rows changed. */
  run(parameters: readonly SqlValue[]): number
  get(parameters: readonly SqlValue[]): Row | undefined
  all(parameters: readonly SqlValue[]): readonly Row[]
}

/**
 * One connection. Every call is synchronous and blocks its thread.
 * Whatever fails inside throws a `StoreError` whose context holds SQLite's result code as `sqliteCode`.
 * An integer beyond 2^53 is refused, never rounded.
 */
export interface SqliteConnection {
  /** Runs any number of statements without parameters. */
  exec(sql: string): void
  /** @param sql - with `LIMIT ? + 0`: SQLite compiles a statement anew for every value of a bare parameter there. */
  prepare<Row extends object = SqlRow>(sql: string): SqliteStatement<Row>
  /** Called inside of each write transaction: throws where it must not be committed. Absent: it always may. */
  readonly guard?: () => void
  /** Takes back an open transaction. Afterwards nothing is locked any more; the files may stay open for a while. */
  close(): void
}

/** A way to reach SQLite. Both drivers pass the same tests, so nothing above knows which one it has. */
export interface SqliteDriver {
  readonly name: 'node:sqlite' | 'libsql'
  /** Opens `path` for reading and writing and creates it when missing. */
  open(path: string, options: { readonly busyTimeoutMs: number }): SqliteConnection
}

/** SQLITE_BUSY: another connection holds the lock that was asked for. */
const busyCode = 5

/**
 * Makes the error of a failed SQLite call.
 * @param sqliteCode - SQLite's (extended) result code; absent when the call never reached SQLite.
 */
export function toStoreError(cause: unknown, sqliteCode: number | undefined): StoreError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  if (damagedFileCodes.includes((sqliteCode ?? 0) & 0xff)) {
    return new IndexDamagedError({ part: 'file' }, `SQLite refused: ${reason}`)
  }
  const systemCode = openFailures.includes((sqliteCode ?? 0) & 0xff) ? descriptorProblem() : undefined
  if (systemCode === undefined) {
    const fault = ((sqliteCode ?? 0) & 0xff) === fullCode ? storeFaults.fullDisk : undefined
    return new StoreError(`SQLite refused: ${reason}`, { sqliteCode, fault }, { cause })
  }
  const message = `SQLite refused: ${reason} (${systemCode}: no file descriptor is left)`
  return new StoreUnavailableError(message, { sqliteCode, systemCode }, { cause })
}

/** SQLITE_FULL: a disk or its quota is full. */
const fullCode = 13

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const damagedFileCodes: readonly number[] = [11, 26]

/** SQLITE_CANTOPEN and SQLITE_IOERR. SQLite does not say which error of the system is behind them. */
const openFailures: readonly number[] = [14, 10]

/** Opens a file that is there, to find out whether no file descriptor is left. @returns the code of the system if so. */
function descriptorProblem(): string | undefined {
  try {
    closeSync(openSync(process.execPath, 'r'))
    return undefined
  } catch (error) {
    const code = codeOf(error)
    return noDescriptorCodes.includes(code) ? code : undefined
  }
}

/** The call may pass once the other connection is done. */
export function isBusy(error: unknown): boolean {
  const code = error instanceof StoreError ? error.context.sqliteCode : undefined
  return typeof code === 'number' && (code & 0xff) === busyCode
}

/** Runs `work` in one write transaction: all of it is stored when this returns, nothing when it throws. */
export function inTransaction<T>(connection: SqliteConnection, work: () => T): T {
  try {
    // Inside: one that fails may have begun the transaction.
    connection.exec('BEGIN IMMEDIATE')
    const result = work()
    connection.exec('COMMIT')
    return result
  } catch (error) {
    rollBack(connection)
    throw error
  }
}

/** After a full disk, for one, SQLite has rolled back by itself and says that there is no transaction. */
export function rollBack(connection: SqliteConnection): void {
  try {
    connection.exec('ROLLBACK')
  } catch {
    // The first failure is reported.
  }
}
