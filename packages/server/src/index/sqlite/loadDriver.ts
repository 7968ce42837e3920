import { StoreError } from '../../platform/errors.ts'
import type { SqliteDriver } from './driver.ts'
import { loadLibsqlDriver } from './libsqlDriver.ts'
import { loadNodeSqliteDriver } from './nodeSqliteDriver.ts'

/** Every driver that this Node can load, the preferred one first. */
export function availableSqliteDrivers(): readonly SqliteDriver[] {
  return [loadNodeSqliteDriver(), loadLibsqlDriver()].filter(driver => driver !== undefined)
}

/**
 * The driver to use: Node's own SQLite where there is one, else libsql.
 * @throws {StoreError} neither is there; the message says what to install.
 */
export function loadSqliteDriver(): SqliteDriver {
  const driver = loadNodeSqliteDriver() ?? loadLibsqlDriver()
  if (driver === undefined) {
    throw new StoreError(
      `no SQLite driver: Node ${process.versions.node} has no built-in node:sqlite (expected Node >= 22.13) and the optional package "libsql" is not installed for this platform`,
      { node: process.versions.node }
    )
  }
  return driver
}
