import { createRequire } from 'node:module'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import packageFile from '@chain-data/index/package.json' with { type: 'json' }
import { StoreError } from '../platform/errors.ts'
import {
  type SqliteConnection,
  type SqliteDriver,
  type SqliteStatement,
  type SqlValue,
  toStoreError
} from './driver.ts'

/**
 * The driver to use: Node's own SQLite where there is one, else libsql.
 *
 * @throws {StoreError} Neither is there; the message has the command that installs libsql.
 */
export function loadSqliteDriver(): SqliteDriver {
  const driver = loadNodeSqliteDriver() ?? loadLibsqlDriver()
  if (driver === undefined) {
    throw new StoreError(
      `Node ${process.versions.node} has no built-in SQLite. Run: npm install libsql@${packageFile.peerDependencies.libsql} (or use Node 22.13 or newer, or PostgreSQL)`,
      { node: process.versions.node }
    )
  }
  return driver
}

/** Node's built-in SQLite; absent before Node 22.13. */
function loadNodeSqliteDriver(): SqliteDriver | undefined {
  // Not an import: bundlers rewrite the specifier, and a missing built-in must be an answer, not a failure to load.
  const sqlite = process.getBuiltinModule('node:sqlite')
  if (sqlite === undefined) return undefined
  return {
    name: 'node:sqlite',
    open: (path, { busyTimeoutMs }) =>
      guarded(() => {
        const database = new sqlite.DatabaseSync(path)
        // The `timeout` option is younger than the oldest Node that has this module.
        database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
        return nodeConnection(database)
      })
  }
}

function nodeConnection(database: DatabaseSync): SqliteConnection {
  return {
    exec: sql => guarded(() => database.exec(sql)),
    prepare: <Row extends object>(sql: string) => guarded(() => nodeStatement<Row>(database.prepare(sql))),
    close: () => guarded(() => database.close())
  }
}

function nodeStatement<Row extends object>(statement: StatementSync): SqliteStatement<Row> {
  return {
    run: parameters => guarded(() => Number(statement.run(...parameters).changes)),
    // Integers that do not fit a number make the module itself throw, and bigints are never asked for.
    get: parameters => guarded(() => statement.get(...parameters) as Row | undefined),
    all: parameters => guarded(() => statement.all(...parameters) as Row[])
  }
}

/** The part of libsql's interface that is used here. */
interface LibsqlDatabase {
  readonly inTransaction: boolean
  defaultSafeIntegers(on: boolean): unknown
  exec(sql: string): void
  prepare(sql: string): LibsqlStatement
  close(): void
}

interface LibsqlStatement {
  run(parameters: readonly SqlValue[]): { readonly changes: number }
  get(parameters: readonly SqlValue[]): LibsqlRow | undefined
  all(parameters: readonly SqlValue[]): readonly LibsqlRow[]
}

type LibsqlRow = Readonly<Record<string, unknown>>
type LibsqlConstructor = new (path: string, options: { readonly timeout: number }) => LibsqlDatabase

/** The optional peer `libsql`; absent when it is not installed or has no build for this platform. */
function loadLibsqlDriver(): SqliteDriver | undefined {
  const Database = requireLibsql()
  if (Database === undefined) return undefined
  return {
    name: 'libsql',
    open: (path, { busyTimeoutMs }) =>
      guarded(() => {
        const database = new Database(path, { timeout: busyTimeoutMs })
        // Off, it rounds integers beyond 2^53 without a word.
        database.defaultSafeIntegers(true)
        return libsqlConnection(database)
      })
  }
}

function requireLibsql(): LibsqlConstructor | undefined {
  try {
    return createRequire(import.meta.url)('libsql')
  } catch {
    return undefined
  }
}

function libsqlConnection(database: LibsqlDatabase): SqliteConnection {
  return {
    exec: sql => guarded(() => database.exec(sql)),
    prepare: <Row extends object>(sql: string) => guarded(() => libsqlStatement<Row>(database.prepare(sql))),
    close: () =>
      guarded(() => {
        // The connection really ends once its statements are collected as garbage; its locks must not wait for that.
        if (database.inTransaction) database.exec('ROLLBACK')
        database.close()
      })
  }
}

/** Parameters go in as one array: a lone Buffer would be taken for named parameters and abort the process. */
function libsqlStatement<Row extends object>(statement: LibsqlStatement): SqliteStatement<Row> {
  return {
    run: parameters => guarded(() => statement.run(parameters).changes),
    get: parameters =>
      guarded(() => {
        const row = statement.get(parameters)
        return row === undefined ? undefined : (toSqlRow(row) as Row)
      }),
    all: parameters => guarded(() => statement.all(parameters).map(toSqlRow) as Row[])
  }
}

/** `get` adds a `_metadata` column, `all` gives blobs as ArrayBuffer; both give integers as bigint. */
function toSqlRow(row: LibsqlRow): object {
  const clean: Record<string, SqlValue> = {}
  for (const name in row) {
    if (name !== '_metadata') clean[name] = toSqlValue(row[name])
  }
  return clean
}

function toSqlValue(value: unknown): SqlValue {
  if (typeof value === 'bigint') {
    const exact = Number(value)
    if (!Number.isSafeInteger(exact)) throw new RangeError(`integer ${value} does not fit a number`)
    return exact
  }
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  return value as SqlValue
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
