import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { SqliteConnection, SqliteDriver, SqliteStatement } from './driver.ts'
import { toStoreError } from './error.ts'

/** Node's built-in SQLite; absent before Node 22.13. */
export function loadNodeSqliteDriver(): SqliteDriver | undefined {
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
        return connectionOver(database)
      })
  }
}

function connectionOver(database: DatabaseSync): SqliteConnection {
  return {
    exec: sql => guarded(() => database.exec(sql)),
    prepare: <Row extends object>(sql: string) => guarded(() => statementOver<Row>(database.prepare(sql))),
    close: () => guarded(() => database.close())
  }
}

function statementOver<Row extends object>(statement: StatementSync): SqliteStatement<Row> {
  return {
    run: parameters => guarded(() => Number(statement.run(...parameters).changes)),
    // Integers that do not fit a number make the module itself throw, and bigints are never asked for.
    get: parameters => guarded(() => statement.get(...parameters) as Row | undefined),
    all: parameters => guarded(() => statement.all(...parameters) as Row[])
  }
}

function guarded<T>(call: () => T): T {
  try {
    return call()
  } catch (error) {
    const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined
    throw toStoreError(error, typeof code === 'number' ? code : undefined)
  }
}
