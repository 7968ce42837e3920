import { createRequire } from 'node:module'
import type { SqliteConnection, SqliteDriver, SqliteStatement, SqlValue } from './driver.ts'
import { toStoreError } from './error.ts'

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

/** The optional package `libsql`; absent when it is not installed or has no build for this platform. */
export function loadLibsqlDriver(): SqliteDriver | undefined {
  const Database = requireLibsql()
  if (Database === undefined) return undefined
  return {
    name: 'libsql',
    open: (path, { busyTimeoutMs }) =>
      guarded(() => {
        const database = new Database(path, { timeout: busyTimeoutMs })
        // Off, it rounds integers beyond 2^53 without a word.
        database.defaultSafeIntegers(true)
        return connectionOver(database)
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

function connectionOver(database: LibsqlDatabase): SqliteConnection {
  return {
    exec: sql => guarded(() => database.exec(sql)),
    prepare: <Row extends object>(sql: string) => guarded(() => statementOver<Row>(database.prepare(sql))),
    close: () =>
      guarded(() => {
        // The connection really ends once its statements are collected as garbage; its locks must not wait for that.
        if (database.inTransaction) database.exec('ROLLBACK')
        database.close()
      })
  }
}

/** Parameters go in as one array: a lone Buffer would be taken for named parameters and abort the process. */
function statementOver<Row extends object>(statement: LibsqlStatement): SqliteStatement<Row> {
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

function guarded<T>(call: () => T): T {
  try {
    return call()
  } catch (error) {
    const code = error instanceof Error && 'rawCode' in error ? error.rawCode : undefined
    throw toStoreError(error, typeof code === 'number' ? code : undefined)
  }
}
