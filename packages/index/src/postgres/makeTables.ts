import { StoreError } from '../platform/errors.ts'
import { formatOf, type NamedStore, requireFormat } from '../store/format.ts'
import { isDistributed, makeOnCoordinator } from './citus.ts'
import { type Client, insufficientPrivilege, sqlStateOf, toStoreError } from './driver.ts'

/**
 * Makes `schema` and its tables when there are none, all in one transaction. A schema with tables has to have been made by the
 * same `sql`. Leaves the schema as the connection's search path.
 * @param schema - a name that needs no quotes.
 * @throws {StoreError} the schema has another format, or the database's user may not make it.
 * @remarks Two processes may do so at once: one waits for the other.
 */
export async function makeTables(
  client: Client,
  schema: string,
  sql: string,
  store: NamedStore
): Promise<void> {
  try {
    await client.query(`SET search_path = ${schema}`)
    // The usual start waits for no lock.
    if (!(await hasTables(client, schema))) await makeOnce(client, schema, sql)
    const hasFormat = await hasTables(client, schema, "relname = 'store_format'")
    const { rows } = hasFormat ? await client.query('SELECT format FROM store_format') : { rows: [] }
    requireFormat(rows[0]?.format, formatOf(sql), store)
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

async function makeOnce(client: Client, schema: string, sql: string): Promise<void> {
  await client.query(
    `BEGIN; ${makeOnCoordinator}; SELECT pg_advisory_xact_lock(hashtextextended('${schema} schema', 0))`
  )
  try {
    if (!(await hasTables(client, schema))) {
      // A user without the right to make schemas would be refused even where it exists.
      if (!(await hasSchema(client, schema))) await client.query(`CREATE SCHEMA ${schema}`)
      // An operator made it, and Citus put it on a node at once.
      else if (await isDistributed(client, schema))
        await client.query(`SELECT citus_schema_undistribute('${schema}')`)
      await client.query(
        `${sql}; CREATE TABLE store_format (format integer PRIMARY KEY); INSERT INTO store_format VALUES (${formatOf(sql)})`
      )
    }
    await client.query('COMMIT')
  } catch (error) {
    // The first failure is reported.
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

/** Checks whether a schema of this name exists. */
export async function hasSchema(client: Client, schema: string): Promise<boolean> {
  const { rowCount } = await client.query(`SELECT FROM pg_namespace WHERE nspname = '${schema}'`)
  return rowCount === 1
}

/** Reads the catalog: `to_regclass` may answer from a cache of before another process made the table. */
async function hasTables(client: Client, schema: string, condition = 'true'): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE nspname = '${schema}' AND ${condition} LIMIT 1`
  )
  return rowCount === 1
}
