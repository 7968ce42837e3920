import { formatOf, type NamedStore, requireFormat } from '../store/format.ts'
import { inTransaction, type SqliteConnection } from './driver.ts'

/**
 * Makes the tables of an empty file, all in one transaction. A file with tables has to have been made by the same `sql`.
 * @throws {StoreError} the file has another format.
 */
export function makeTables(connection: SqliteConnection, sql: string, store: NamedStore): void {
  if (isEmpty(connection)) {
    inTransaction(connection, () => {
      // Another server may have made them meanwhile.
      if (!isEmpty(connection)) return
      connection.exec(sql)
      connection.exec(`PRAGMA user_version = ${formatOf(sql)}`)
    })
  }
  createFormatCheck(connection, sql, store)()
}

/**
 * Prepares the check of the format of a file.
 * @returns a function that throws a {StoreError} where the file was not made by `sql`.
 */
export function createFormatCheck(connection: SqliteConnection, sql: string, store: NamedStore): () => void {
  const select = connection.prepare<{ user_version: number }>('PRAGMA user_version')
  const expected = formatOf(sql)
  // Every new database begins with 0.
  return () => requireFormat(select.get([])?.user_version || undefined, expected, store)
}

function isEmpty(connection: SqliteConnection): boolean {
  return connection.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get([]) === undefined
}
