import { StoreError, StoreUnavailableError } from '../platform/errors.ts'
import type { IndexToReset } from '../port/reset.ts'
import { isDistributed } from './citus.ts'
import {
  type Client,
  connect,
  drop,
  insufficientPrivilege,
  lockNotAvailable,
  sqlStateOf,
  toStoreError
} from './driver.ts'
import { takeLeadership } from './lock.ts'
import { hasSchema } from './makeTables.ts'
import { asideSchema, chainSchema } from './schema.ts'

/** Waits for snapshots to end: by themselves, then after their connections were ended. */
const lockWaitsMs = [200, 5_000]

/**
 * Opens the index of one chain for `chain-data reset`.
 * @param url - of the primary. It may hold a password and is in no message.
 * @returns absent where there is none.
 * @throws {StoreInUseError} a server writes it.
 */
export async function openPostgresIndexToReset(
  url: string,
  chainId: number
): Promise<IndexToReset | undefined> {
  const client = await connect(url, 'writer')
  try {
    await takeLeadership(client, chainId, { lockWaitMs: 0, silentMs: Number.POSITIVE_INFINITY })
    const [place, aside] = [chainSchema(chainId), asideSchema(chainId)]
    if (!(await hasSchema(client, place))) {
      drop(client)
      return undefined
    }
    // On the coordinator of Citus the tables of a chain are empty.
    const size = (await isDistributed(client, place)) ? 'citus_total_relation_size' : 'pg_total_relation_size'
    const { rows } = await client.query<{ bytes: number }>(
      `SELECT coalesce(sum(${size}(oid)), 0)::float8 AS bytes FROM pg_class
       WHERE relnamespace = '${place}'::regnamespace AND relkind = 'r'`
    )
    return {
      ...{ place, aside, bytes: rows[0]?.bytes ?? 0, replacesEarlier: await hasSchema(client, aside) },
      keepAside: () => keepAside(client, chainId),
      close: () => client.end()
    }
  } catch (error) {
    drop(client)
    throw toStoreError(error)
  }
}

/**
 * Renames the schema of a chain, in place of one that was kept before. Only for who holds the writer's lock. Snapshots that are
 * open are ended: what they read next may be looked for in the schema that takes the name, and seem to be nothing.
 *
 * @throws {StoreError} the database's user may not rename it.
 */
export async function keepAside(client: Client, chainId: number): Promise<void> {
  const [schema, aside] = [chainSchema(chainId), asideSchema(chainId)]
  try {
    await client.query(`DROP SCHEMA IF EXISTS ${aside} CASCADE`)
    for (const waitMs of lockWaitsMs) {
      if (await renameWithin(client, schema, aside, waitMs)) return
      await client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_locks
         WHERE relation = to_regclass('${schema}.meta') AND granted AND pid <> pg_backend_pid()`
      )
    }
    throw new StoreUnavailableError(`the schema ${schema} is being read, and cannot be renamed at the moment`)
  } catch (error) {
    if (sqlStateOf(error) !== insufficientPrivilege) throw toStoreError(error)
    throw new StoreError(
      `the database user may not rename the schema ${schema} or end its readers; expected its owner, with the right CREATE on the database`,
      { sqlState: insufficientPrivilege },
      { cause: error }
    )
  }
}

/** @returns whether no snapshot was open: each has read `meta`, which locks it. */
async function renameWithin(client: Client, schema: string, aside: string, waitMs: number): Promise<boolean> {
  try {
    await client.query(`BEGIN; SET LOCAL lock_timeout = ${waitMs}`)
    // Each in a text of its own: Citus sends it on to the nodes.
    const { rowCount } = await client.query(`SELECT FROM pg_class WHERE oid = to_regclass('${schema}.meta')`)
    // What is no index has no such table, and no snapshots.
    if (rowCount === 1) await client.query(`LOCK TABLE ${schema}.meta IN ACCESS EXCLUSIVE MODE`)
    await client.query(`ALTER SCHEMA ${schema} RENAME TO ${aside}`)
    await client.query('COMMIT')
    return true
  } catch (error) {
    await client.query('ROLLBACK')
    if (sqlStateOf(error) === lockNotAvailable) return false
    throw error
  }
}
