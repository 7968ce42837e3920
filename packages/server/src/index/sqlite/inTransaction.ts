import type { SqliteConnection } from './driver.ts'

/** Runs `work` in one write transaction: all of it is stored when this returns, nothing when it throws. */
export function inTransaction<T>(connection: SqliteConnection, work: () => T): T {
  connection.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    connection.exec('COMMIT')
    return result
  } catch (error) {
    rollBack(connection)
    throw error
  }
}

/** After a full disk, for one, SQLite has rolled back by itself and says that there is no transaction. */
function rollBack(connection: SqliteConnection): void {
  try {
    connection.exec('ROLLBACK')
  } catch {
    // The first failure is the one worth telling.
  }
}
