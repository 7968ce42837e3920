import { StoreError } from '../src/platform/errors.ts'
import type { SqliteConnection, SqliteDriver, SqliteStatement } from '../src/sqlite/driver.ts'

/** A real driver that fails on demand, as a full or broken disk would. */
export interface FailingDriver {
  readonly driver: SqliteDriver
  /** The `n`th statement from now that may write fails, and none after it. */
  failAt(n: number): void
  /** The failure has happened since it was asked for. */
  hasFailed(): boolean
}

/** Wraps a driver. Reads are left alone: they change nothing. */
export function failingDriver(real: SqliteDriver): FailingDriver {
  let left = 0
  const step = () => {
    if (left > 0 && --left === 0) throw new StoreError('the disk is full, says the test')
  }
  let asked = false
  const wrap = (connection: SqliteConnection): SqliteConnection => ({
    exec: sql => {
      if (sql !== 'ROLLBACK') step()
      connection.exec(sql)
    },
    prepare: <Row extends object>(sql: string): SqliteStatement<Row> => {
      const statement = connection.prepare<Row>(sql)
      return {
        run: parameters => {
          step()
          return statement.run(parameters)
        },
        get: parameters => statement.get(parameters),
        all: parameters => statement.all(parameters)
      }
    },
    close: () => connection.close()
  })
  return {
    driver: { name: real.name, open: (path, options) => wrap(real.open(path, options)) },
    failAt: n => {
      left = n
      asked = true
    },
    hasFailed: () => asked && left === 0
  }
}
