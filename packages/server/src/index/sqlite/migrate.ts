import { StoreError } from '../../platform/errors.ts'
import {
  type AppliedMigration,
  checkMigrations,
  checksumOf,
  type Migration
} from '../shared/checkMigrations.ts'
import type { SqliteConnection } from './driver.ts'
import { inTransaction } from './driver.ts'

/**
 * Brings the schema up to the last of `migrations`, each step in a transaction of its own, so that a crash between
 * two leaves a file that the next start continues.
 * @param afterStep - called in the transaction of each step, after it.
 * @throws {StoreError} the file is newer than this program, was made by other steps, or is no index at all.
 */
export function migrate(
  connection: SqliteConnection,
  migrations: readonly Migration[],
  afterStep: (connection: SqliteConnection, version: number) => void = () => undefined
): void {
  const applied = readApplied(connection)
  checkMigrations(applied, migrations, 'folder')
  for (const migration of migrations.slice(applied.length)) {
    inTransaction(connection, () => {
      connection.exec(migration.sql)
      connection
        .prepare('INSERT INTO migration (version, name, checksum) VALUES (?, ?, ?)')
        .run([migration.version, migration.name, checksumOf(migration)])
      afterStep(connection, migration.version)
    })
  }
}

/** Version of the schema in this file; absent before the first step is done. */
export function schemaVersion(connection: SqliteConnection): number | undefined {
  if (!hasTable(connection, 'migration')) return undefined
  return (
    connection.prepare<{ version: number | null }>('SELECT max(version) AS version FROM migration').get([])
      ?.version ?? undefined
  )
}

function readApplied(connection: SqliteConnection): readonly AppliedMigration[] {
  if (!hasTable(connection, 'migration')) {
    const tables = connection.prepare<{ n: number }>('SELECT count(*) AS n FROM sqlite_schema').get([])
    if (tables?.n !== 0)
      throw new StoreError('the file is a database of something else: it has no migration table')
    connection.exec(
      'CREATE TABLE migration (version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL) STRICT'
    )
  }
  return connection
    .prepare<{ version: number; checksum: string }>(
      'SELECT version, checksum FROM migration ORDER BY version'
    )
    .all([])
}

function hasTable(connection: SqliteConnection, name: string): boolean {
  const statement = connection.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")
  return statement.get([name]) !== undefined
}
