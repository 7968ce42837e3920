import type { SqliteDriver } from '../src/sqlite/driver.ts'
import { loadSqliteDriver } from '../src/sqlite/loadDriver.ts'

/** Every driver that this Node can load, the preferred one first. */
export function availableSqliteDrivers(): readonly SqliteDriver[] {
  const preferred = loadSqliteDriver()
  const { getBuiltinModule } = process
  // As on a Node without a built-in SQLite.
  process.getBuiltinModule = (() => undefined) as typeof getBuiltinModule
  try {
    const other = loadSqliteDriver()
    return other.name === preferred.name ? [preferred] : [preferred, other]
  } catch {
    return [preferred]
  } finally {
    process.getBuiltinModule = getBuiltinModule
  }
}
