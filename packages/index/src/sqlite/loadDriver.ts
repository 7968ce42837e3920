import { createRequire } from 'node:module'
import packageFile from '@chain-data/index/package.json' with { type: 'json' }
import { StoreError } from '../platform/errors.ts'
import { type SqliteConnection, type SqliteDriver, type SqlValue, toStoreError } from './driver.ts'

/**
 * Loads the driver to use: Node's own SQLite where there is one, else libsql.
 *
 * @throws {StoreError} Neither is there; the message has the command that installs libsql.
 */
export function loadSqliteDriver(): SqliteDriver {
  const driver = loadNodeSqliteDriver() ?? loadLibsqlDriver()
  if (driver !== undefined) return driver
  throw new StoreError(
    `Node ${process.versions.node} has no built-in SQLite. Run: npm install libsql@${packageFile.peerDependencies.libsql} (or use Node 22.13 or newer, or PostgreSQL)`,
    { node: process.versions.node }
  )
}

/** Node's built-in SQLite; absent before Node 22.13. */
function loadNodeSqliteDriver(): SqliteDriver | undefined {
  // Not an import: bundlers rewrite the specifier, and a missing built-in must be an answer, not a failure to load.
  const sqlite = process.getBuiltinModule('node:sqlite')
  if (sqlite === undefined) return undefined
  const open = (path: string, busyTimeoutMs: number): Database => {
    const database = new sqlite.DatabaseSync(path)
    // The `timeout` option is younger than the oldest Node that has this module.
    database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
    // Its types do not say that rows are objects. Integers that do not fit a number make the module itself throw.
    return database as unknown as Database
  }
  return createDriver('node:sqlite', open, parameters => parameters)
}

interface LibsqlDatabase extends Database {
  readonly inTransaction: boolean
  defaultSafeIntegers(on: boolean): unknown
}

type LibsqlConstructor = new (path: string, options: { readonly timeout: number }) => LibsqlDatabase

/** The optional peer `libsql`; absent when it is not installed or has no build for this platform. */
function loadLibsqlDriver(): SqliteDriver | undefined {
  const Libsql = requireLibsql()
  if (Libsql === undefined) return undefined
  const open = (path: string, timeout: number): Database => {
    const database = new Libsql(path, { timeout })
    // Off, it rounds integers beyond 2^53 without a word.
    database.defaultSafeIntegers(true)
    return {
      exec: sql => database.exec(sql),
      prepare: sql => database.prepare(sql),
      close() {
        // The connection really ends once its statements are collected as garbage; its locks must not wait for that.
        if (database.inTransaction) database.exec('ROLLBACK')
        database.close()
      }
    }
  }
  // As one array: a lone Buffer would be taken for named parameters and abort the process.
  return createDriver('libsql', open, parameters => [parameters], toSqlRow)
}

function requireLibsql(): LibsqlConstructor | undefined {
  try {
    return createRequire(import.meta.url)('libsql')
  } catch {
    return undefined
  }
}

/** `get` adds a `_metadata` column, `all` gives blobs as ArrayBuffer; both give integers as bigint. */
function toSqlRow(row: object): object {
  const clean: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(row)) if (name !== '_metadata') clean[name] = toSqlValue(value)
  return clean
}

function toSqlValue(value: unknown): unknown {
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  if (typeof value !== 'bigint') return value
  const exact = Number(value)
  if (Number.isSafeInteger(exact)) return exact
  throw new RangeError(`integer ${value} does not fit a number`)
}

/** The interface that both drivers have. */
interface Database {
  exec(sql: string): unknown
  prepare(sql: string): {
    run(...parameters: unknown[]): { readonly changes: number | bigint }
    get(...parameters: unknown[]): object | undefined
    all(...parameters: unknown[]): object[]
  }
  close(): unknown
}

/**
 * @param bind - gives the arguments of a statement's call.
 * @param toRow - absent: rows are as they should be.
 */
function createDriver(
  name: SqliteDriver['name'],
  open: (path: string, busyTimeoutMs: number) => Database,
  bind: (parameters: readonly SqlValue[]) => readonly unknown[],
  toRow?: (row: object) => object
): SqliteDriver {
  function prepare<Row extends object>(database: Database, sql: string) {
    const statement = guarded(() => database.prepare(sql))
    return {
      run: (parameters: readonly SqlValue[]) =>
        guarded(() => Number(statement.run(...bind(parameters)).changes)),
      get: (parameters: readonly SqlValue[]) =>
        guarded(() => {
          const row = statement.get(...bind(parameters))
          return (row === undefined || toRow === undefined ? row : toRow(row)) as Row | undefined
        }),
      all: (parameters: readonly SqlValue[]) =>
        guarded(() => {
          const rows = statement.all(...bind(parameters))
          return (toRow === undefined ? rows : rows.map(toRow)) as Row[]
        })
    }
  }
  return {
    name,
    open(path, { busyTimeoutMs }): SqliteConnection {
      const database = guarded(() => open(path, busyTimeoutMs))
      return {
        exec: sql => void guarded(() => database.exec(sql)),
        prepare: sql => prepare(database, sql),
        close: () => void guarded(() => database.close())
      }
    }
  }
}

/** Where a driver's error holds SQLite's result code: `errcode` of Node's, `rawCode` of libsql's. */
function guarded<T>(call: () => T): T {
  try {
    return call()
  } catch (error) {
    const { errcode, rawCode = errcode } = error as { readonly errcode?: unknown; readonly rawCode?: unknown }
    throw toStoreError(error, typeof rawCode === 'number' ? rawCode : undefined)
  }
}
