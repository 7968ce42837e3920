import { metadataSchema } from './cacheDatabase.ts'
import { type CitusFacts, readCitusFacts } from './citus.ts'
import { connect, drop, toStoreError } from './driver.ts'
import { isHeld, leaderLockKey } from './lock.ts'
import { chainSchema } from './schema.ts'

/** Version, settings and rights of a database server, to judge whether it suits. */
export interface ServerFacts {
  /** Such as `16.4`. */
  readonly version: string
  /** The Citus that this database is one of; absent: plain PostgreSQL. */
  readonly citus?: CitusFacts
  /** Of this database, such as `UTF8`. */
  readonly encoding: string
  /** It is a read replica: nothing can be written. */
  readonly isReplica: boolean
  /** The user may make schemas in this database. */
  readonly mayCreate: boolean
  /** Those of the wanted schemas that are there and that the user may not use and write, and not even read. */
  readonly notWritable: readonly string[]
  readonly notReadable: readonly string[]
  /** As `SHOW` returns them: `on`, `off`, `local`... */
  readonly fsync: string
  readonly fullPageWrites: string
  readonly synchronousCommit: string
  readonly dataChecksums: string
  /** Connections that ordinary users may have, and how many are taken now. */
  readonly mostConnections: number
  readonly takenConnections: number
  /** Same in a primary and its replicas; absent where the user may not read it. */
  readonly systemIdentifier?: string
  /** The chains, of those asked for, that some process indexes into this database now. */
  readonly written: readonly number[]
  /** Position in the write-ahead log, in bytes: written, or on a replica carried out. */
  readonly logPosition: number
}

/**
 * Asks a database server about itself, and about the schemas of these chains and of the metadata, where they are there.
 * Nothing is changed.
 *
 * @throws {StoreUnavailableError} it does not answer.
 * @throws {StoreError} it refuses, or is older than version 15.
 */
export async function readServerFacts(url: string, chainIds: readonly number[]): Promise<ServerFacts> {
  const client = await connect(url, 'check')
  try {
    const schemas = chainIds.map(chainSchema)
    const { rows } = await client.query(factsQuery, [[...schemas, metadataSchema.schema]])
    const { rows: identifiers } = await client
      .query<{ systemIdentifier: string }>(
        'SELECT system_identifier::text AS "systemIdentifier" FROM pg_control_system()'
      )
      .catch(() => ({ rows: [] }))
    const written: number[] = []
    for (const chainId of chainIds) {
      // Without taking it: an indexer that starts now must not find it taken.
      const { rowCount } = await client.query(`SELECT FROM pg_locks WHERE ${isHeld(leaderLockKey(chainId))}`)
      if (rowCount !== 0) written.push(chainId)
    }
    const citus = await readCitusFacts(client, schemas)
    return { ...rows[0], ...identifiers[0], written, ...(citus && { citus }) }
  } catch (error) {
    throw toStoreError(error)
  } finally {
    drop(client)
  }
}

const factsQuery = `
  SELECT current_setting('server_version') AS version, current_setting('server_encoding') AS encoding,
    pg_is_in_recovery() AS "isReplica",
    has_database_privilege(current_database(), 'CREATE') AS "mayCreate",
    ARRAY(SELECT nspname::text FROM pg_namespace WHERE nspname = ANY($1::text[])
      AND NOT (has_schema_privilege(oid, 'USAGE') AND has_schema_privilege(oid, 'CREATE'))) AS "notWritable",
    ARRAY(SELECT nspname::text FROM pg_namespace WHERE nspname = ANY($1::text[])
      AND (NOT has_schema_privilege(oid, 'USAGE') OR EXISTS (SELECT FROM pg_class WHERE relnamespace = pg_namespace.oid
        AND relkind IN ('r', 'p') AND NOT relispartition AND NOT has_table_privilege(pg_class.oid, 'SELECT')))) AS "notReadable",
    current_setting('fsync') AS fsync, current_setting('full_page_writes') AS "fullPageWrites",
    current_setting('synchronous_commit') AS "synchronousCommit",
    current_setting('data_checksums') AS "dataChecksums",
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS "mostConnections",
    (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) AS "takenConnections",
    pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN coalesce(pg_last_wal_replay_lsn(), '0/0') ELSE pg_current_wal_lsn() END,
      '0/0')::float8 AS "logPosition"`
