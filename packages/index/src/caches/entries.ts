import { sumOfRow } from '../store/rowSums.ts'
import { ask, type Steps } from './cacheDatabase.ts'

/** Entries that one write removes, so that it stays short. */
export const evictedEntries = 64

/** A stored value. */
export interface Entry {
  /** Never used again, so that a reader notices when its entry has left and come back. */
  readonly id: number
  readonly key: Uint8Array
  readonly usedAtMs: number
  /** Absent: it differs from its checksum. */
  readonly body?: Uint8Array
}

interface EntryRow {
  readonly id: number
  readonly space: number
  readonly key: Uint8Array
  readonly used_at: number
  readonly sum: number
  readonly body: Uint8Array
}

/** Finds the entries of some spaces, `maxRows` at most, by their keys; what is not there is left out. */
export function* findEntries(
  spaces: readonly number[],
  keys: readonly Uint8Array[]
): Steps<readonly Entry[]> {
  const rows = yield* ask<EntryRow>(
    `SELECT id, space, key, used_at, sum, body FROM cache.entry
     WHERE key IN (${keys.map((_, at) => `$${at + 1}`).join(', ')}) AND space IN (${spaces.join(', ')})`,
    ...keys
  )
  return rows.map(({ id, space, key, used_at, sum, body }) => ({
    ...{ id, key, usedAtMs: used_at },
    ...(sum === sumOfEntry(space, key, body) && { body })
  }))
}

/**
 * Stores the value under a key, in place of the one before.
 * @param weight - bytes that count for the bound of the space.
 * @returns its id.
 */
export function* putEntry(
  space: number,
  key: Uint8Array,
  body: Uint8Array,
  weight: number,
  nowMs: number
): Steps<number> {
  const [row] = yield* ask<{ id: number }>(
    `INSERT INTO cache.entry (space, key, used_at, weight, sum, body) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (key, space) DO UPDATE
     SET used_at = excluded.used_at, weight = excluded.weight, sum = excluded.sum, body = excluded.body RETURNING id`,
    ...[space, key, nowMs, weight, sumOfEntry(space, key, body), body]
  )
  if (row === undefined) throw new Error('an entry of a cache was not stored')
  return row.id
}

/** Notes that an entry was used. */
export function* touchEntry(id: number, nowMs: number): Steps<void> {
  yield* ask(`UPDATE cache.entry SET used_at = $1 WHERE id = $2`, nowMs, id)
}

/** Removes an entry with its parts. */
export function* removeEntry(id: number): Steps<void> {
  yield* ask(`DELETE FROM cache.entry WHERE id = $1`, id)
}

/**
 * Removes entries of a space, least recently used first, until the others fit.
 * @param keptId - stays in any case.
 * @returns how many have left; `evictedEntries`: more may have to.
 */
export function* evict(space: number, bound: number, keptId = 0): Steps<number> {
  const left = yield* ask(
    `DELETE FROM cache.entry WHERE id IN (
       SELECT id FROM (
         SELECT id, sum(weight) OVER (ORDER BY used_at, id) - weight AS ahead FROM (
           SELECT id, weight, used_at FROM cache.entry WHERE space = $1 AND id <> $2
           ORDER BY used_at, id LIMIT ${evictedEntries}
         ) AS oldest
       ) AS leaving
       WHERE ahead < (SELECT weight FROM cache.usage WHERE space = $1) - $3
     ) RETURNING id`,
    ...[space, keptId, bound]
  )
  return left.length
}

function sumOfEntry(space: number, key: Uint8Array, body: Uint8Array): number {
  return sumOfRow(space, 'entry', { key, body })
}
