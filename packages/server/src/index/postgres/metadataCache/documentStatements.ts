import {
  type DocumentRow,
  digestOf,
  evictedAtOnce,
  kindNumbers,
  type MetadataBounds,
  rowOverheadBytes
} from '../../metadataCache/documentRow.ts'
import type { PendingEntry } from '../../metadataCache/pendingChanges.ts'
import type { ClientBase, Pool } from '../driver.ts'
import { metadataSchema } from './metadataMigrations.ts'

const table = `${metadataSchema}.document`

/** Rows by address; addresses that are not there are left out. One round trip. */
export async function readDocuments(
  pool: Pool,
  keys: readonly string[]
): Promise<ReadonlyMap<string, DocumentRow>> {
  const byDigest = new Map(keys.map(key => [digestOf(key).toString('hex'), key]))
  const { rows } = await pool.query<DocumentRow & { readonly key: Buffer }>(
    `SELECT key, used_at, fetched_at, is_proven, failures, failed_at, body FROM ${table} WHERE key = ANY($1::bytea[])`,
    [keys.map(digestOf)]
  )
  const found = new Map<string, DocumentRow>()
  for (const row of rows) {
    const key = byDigest.get(row.key.toString('hex'))
    if (key !== undefined) found.set(key, row)
  }
  return found
}

/** One writer at a time, in whatever process: rows are changed in any order, and must not wait for each other in a circle. */
export async function lockCache(client: ClientBase): Promise<void> {
  await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('${metadataSchema} documents', 0))`)
}

/** Stores changes; belongs into a transaction. */
export async function applyChanges(
  client: ClientBase,
  entries: readonly PendingEntry[],
  nowMs: number
): Promise<void> {
  for (const [key, changes] of entries) {
    const digest = digestOf(key)
    for (const change of changes) {
      if (change.is === 'document') {
        const { body, fetchedAtMs, isProven } = change.document
        const weight = rowOverheadBytes + body.length
        await client.query(upsertDocument, [
          ...[digest, kindNumbers[change.kind], nowMs, weight],
          ...[fetchedAtMs, isProven, Buffer.from(body.buffer, body.byteOffset, body.byteLength)]
        ])
      } else if (change.is === 'failure') {
        const { count, atMs } = change.failure
        await client.query(upsertFailure, [
          ...[digest, kindNumbers[change.kind], nowMs, rowOverheadBytes, count, atMs]
        ])
      } else {
        await client.query(`UPDATE ${table} SET used_at = $1 WHERE key = $2`, [nowMs, digest])
      }
    }
  }
}

const upsertDocument = `
  INSERT INTO ${table} AS kept (key, kind, used_at, weight, fetched_at, is_proven, failures, body)
  VALUES ($1, $2, $3, $4, $5, $6, 0, $7)
  ON CONFLICT (key) DO UPDATE SET kind = excluded.kind, used_at = excluded.used_at, weight = excluded.weight,
    fetched_at = excluded.fetched_at, is_proven = excluded.is_proven, failures = 0, failed_at = NULL, body = excluded.body`
const upsertFailure = `
  INSERT INTO ${table} AS kept (key, kind, used_at, weight, is_proven, failures, failed_at)
  VALUES ($1, $2, $3, $4, false, $5, $6)
  ON CONFLICT (key) DO UPDATE SET used_at = excluded.used_at, failures = excluded.failures, failed_at = excluded.failed_at`

/**
 * Removes what was used longest ago where a kind has more than its bound, at most some dozens of rows; belongs into a
 * transaction.
 * @returns whether more has to leave, which is to be done in the next transaction.
 */
export async function evictDocuments(client: ClientBase, bounds: MetadataBounds): Promise<boolean> {
  await client.query(evict, [kindNumbers.content, bounds.content])
  await client.query(evict, [kindNumbers.url, bounds.url])
  const { rows } = await client.query<{ readonly isOver: boolean }>(
    `SELECT bool_or(weight > CASE kind WHEN $1 THEN $2::bigint ELSE $3 END) AS "isOver" FROM ${metadataSchema}.usage`,
    [kindNumbers.content, bounds.content, bounds.url]
  )
  return rows[0]?.isOver === true
}

const evict = `
  DELETE FROM ${table} USING (
    SELECT key, sum(weight) OVER (ORDER BY used_at, id) - weight AS before FROM (
      SELECT key, weight, used_at, id FROM ${table} WHERE kind = $1 ORDER BY used_at, id LIMIT ${evictedAtOnce}
    ) AS oldest
  ) AS leaving
  WHERE document.key = leaving.key
    AND leaving.before < (SELECT weight FROM ${metadataSchema}.usage WHERE kind = $1) - $2::bigint`
