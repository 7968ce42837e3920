import type { Client } from './driver.ts'

/*
 * Citus puts whole schemas on other machines: one chain is one schema. The tables of a chain are made on the coordinator, as
 * in any PostgreSQL, and moved to a node as long as they are empty. What belongs to no chain stays on the coordinator.
 * https://docs.citusdata.com (schema-based sharding)
 */

/** For the transaction that makes tables: no schema is put elsewhere by itself. */
export const makeOnCoordinator = 'SET LOCAL citus.enable_schema_based_sharding = off'

/** SQL condition: the server runs Citus. */
export const isCitus = "current_setting('citus.version', true) IS NOT NULL"

/** Reports whether Citus has put the tables of a schema on a node, which may be the coordinator. */
export async function isDistributed(client: Client, schema: string): Promise<boolean> {
  const { rows } = await client.query(`SELECT to_regclass('pg_dist_schema') IS NOT NULL AS "mayBe"`)
  if (rows[0]?.mayBe !== true) return false
  const found = await client.query(
    `SELECT FROM pg_dist_schema WHERE schemaid = (SELECT oid FROM pg_namespace WHERE nspname = '${schema}')`
  )
  return found.rowCount === 1
}

/**
 * Puts the schema of a chain that was just made on a node, where the user has schema-based sharding on. A chain that has blocks
 * stays where it is: an operator moves it, with its indexer stopped.
 */
export async function distribute(client: Client, schema: string): Promise<void> {
  const { rows } = await client.query(
    `SELECT coalesce(current_setting('citus.enable_schema_based_sharding', true), 'off') = 'on'
       AND NOT EXISTS (SELECT FROM meta) AS "mayMove"`
  )
  if (rows[0]?.mayMove !== true || (await isDistributed(client, schema))) return
  await client.query('SELECT citus_schema_distribute($1)', [schema])
}

/** What a database of Citus says about itself. */
export interface CitusFacts {
  /** Such as `13.2-1`. */
  readonly version: string
  /** Writers belong there: the locks of leaders are the coordinator's own. */
  readonly isCoordinator: boolean
  /** Each schema that this user makes is put on a node. */
  readonly shardsBySchema: boolean
  /** Nodes that take schemas. */
  readonly nodes: number
  /** Those of the wanted schemas that are on a node, and which. */
  readonly placed: readonly { readonly schema: string; readonly node: string }[]
}

/** @returns absent: the database is none of Citus. */
export async function readCitusFacts(
  client: Client,
  schemas: readonly string[]
): Promise<CitusFacts | undefined> {
  const installed = await client.query("SELECT extversion FROM pg_extension WHERE extname = 'citus'")
  if (installed.rowCount === 0) return undefined
  const { rows } = await client.query<CitusFacts>(
    `SELECT extversion AS version, citus_is_coordinator() AS "isCoordinator",
       current_setting('citus.enable_schema_based_sharding') = 'on' AS "shardsBySchema",
       (SELECT count(*)::int FROM pg_dist_node WHERE shouldhaveshards AND noderole = 'primary') AS nodes,
       ARRAY(SELECT DISTINCT jsonb_build_object('schema', schema_name::text, 'node', nodename || ':' || nodeport)
         FROM citus_shards JOIN citus_schemas USING (colocation_id) WHERE schema_name::text = ANY ($1)) AS placed
     FROM pg_extension WHERE extname = 'citus'`,
    [schemas]
  )
  return rows[0]
}
