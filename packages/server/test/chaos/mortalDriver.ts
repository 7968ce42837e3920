import type { SqliteConnection, SqliteDriver, SqliteStatement } from '@chain-data/index/test'

/**
 * A real driver that calls `step` before each statement that writes inside a transaction; the COMMIT itself is the last.
 */
export function mortalDriver(real: SqliteDriver, step: () => void): SqliteDriver {
  const wrap = (connection: SqliteConnection): SqliteConnection => {
    let isOpen = false
    return {
      exec(sql) {
        if (isOpen) step()
        connection.exec(sql)
        if (sql.startsWith('BEGIN')) isOpen = true
        if (sql === 'COMMIT' || sql === 'ROLLBACK') isOpen = false
      },
      prepare: <Row extends object>(sql: string): SqliteStatement<Row> => {
        const statement = connection.prepare<Row>(sql)
        return {
          run(parameters) {
            if (isOpen) step()
            return statement.run(parameters)
          },
          get: parameters => statement.get(parameters),
          all: parameters => statement.all(parameters)
        }
      },
      close: () => connection.close()
    }
  }
  return { name: real.name, open: (path, options) => wrap(real.open(path, options)) }
}
