import { StoreError } from '../../platform/errors.ts'
import {
  type AppliedMigration,
  checkMigrations,
  checksumOf,
  type Migration
} from '../shared/checkMigrations.ts'
import { isDistributed, makeOnCoordinator } from './citus.ts'
import type { Client } from './driver.ts'
import { insufficientPrivilege, sqlStateOf, toStoreError } from './driver.ts'

/**
 * Makes `schema` when it is missing and brings it up to the last of `migrations`, each step in a transaction of its own, so
 * that a crash between two leaves a schema that the next start continues. Leaves the schema as the connection's search path.
 * @param schema - a name that needs no quotes.
 * @throws {StoreError} the schema is newer than this program, was made by other steps, holds something else, or the
 *   database's user may not make it.
 * @remarks Two processes may do so at once: each step waits for the other's.
 */
export async function migrate(
  client: Client,
  schema: string,
  migrations: readonly Migration[]
): Promise<void> {
  try {
    await client.query(`SET search_path = ${schema}`)
    // The usual start: no step to take, and no lock to wait for.
    const applied = await readApplied(client, schema)
    checkMigrations(applied, migrations, 'database')
    for (let done = applied.length; done < migrations.length; ) {
      done = await applyNext(client, schema, migrations)
    }
  } catch (error) {
    if (sqlStateOf(error) !== insufficientPrivilege) throw toStoreError(error)
    const reason = error instanceof Error ? error.message : ''
    throw new StoreError(
      `the database user may not make the schema ${schema} or its tables (${reason}); expected the right CREATE on the database, or a schema of this name that the user owns`,
      { sqlState: insufficientPrivilege },
      { cause: error }
    )
  }
}

/** @returns how many steps are done now; another process may have done some of them. */
async function applyNext(client: Client, schema: string, migrations: readonly Migration[]): Promise<number> {
  await client.query(
    `BEGIN; ${makeOnCoordinator}; SELECT pg_advisory_xact_lock(hashtextextended('${schema} schema', 0))`
  )
  try {
    const applied = await readApplied(client, schema)
    checkMigrations(applied, migrations, 'database')
    const next = migrations[applied.length]
    if (applied.length === 0) await makeSchema(client, schema)
    if (next !== undefined) {
      // A block carries out its statements one by one: Citus sends the text of a statement on to the nodes.
      await client.query(
        (await isDistributed(client, schema)) ? `DO $step$ BEGIN ${next.sql} END $step$` : next.sql
      )
      await client.query('INSERT INTO migration (version, name, checksum) VALUES ($1, $2, $3)', [
        next.version,
        next.name,
        checksumOf(next)
      ])
    }
    await client.query('COMMIT')
    return applied.length + 1
  } catch (error) {
    // The first failure is reported.
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

async function readApplied(client: Client, schema: string): Promise<readonly AppliedMigration[]> {
  // Read from the catalog: to_regclass may answer from a cache of before another process made the table.
  const found = await client.query(
    `SELECT FROM pg_class WHERE relname = 'migration' AND relnamespace =
       (SELECT oid FROM pg_namespace WHERE nspname = '${schema}')`
  )
  if (found.rowCount === 0) return []
  const applied = await client.query('SELECT version, checksum FROM migration ORDER BY version')
  return applied.rows
}

/** With the table of its steps, which is all it holds yet. */
async function makeSchema(client: Client, schema: string): Promise<void> {
  const { rows } = await client.query(
    `SELECT EXISTS (SELECT FROM pg_class WHERE relnamespace = pg_namespace.oid) AS "hasTables"
     FROM pg_namespace WHERE nspname = '${schema}'`
  )
  if (rows[0]?.hasTables === true) {
    throw new StoreError(`the schema ${schema} holds something else: it has no migration table`)
  }
  // A user without the right to make schemas would be refused even where it exists.
  if (rows.length === 0) await client.query(`CREATE SCHEMA ${schema}`)
  // An operator made it, and Citus put it on a node at once.
  else if (await isDistributed(client, schema))
    await client.query(`SELECT citus_schema_undistribute('${schema}')`)
  await client.query(
    'CREATE TABLE migration (version integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL)'
  )
}
