import type { Hash } from '../../model/evm.ts'
import { addressBytes, hashBytes } from '../record/hexBytes.ts'
import { decodePending, encodePending } from '../record/record.ts'
import { namedBy, type PoolRows, type PoolWrite, type StoredEntry } from '../shared/Pool.ts'
import type { SqliteConnection } from './driver.ts'
import { createTransactionLookup } from './read.ts'

const entriesAtOnce = 1_000
const recordsAtOnce = 2_000
/** A transaction that was confirmed before these began has long left every pool. */
const newestEpochs = 4

/** Prepares the reads of the pool. */
export function createPoolRows(connection: SqliteConnection): PoolRows {
  const lookUp = createTransactionLookup(connection, newestEpochs)
  const entries = connection.prepare<StoredEntry>(
    `SELECT id, hash, status, rec FROM pool WHERE id > ? ORDER BY id LIMIT ${entriesAtOnce}`
  )
  const records = connection.prepare<{ id: number; rec: Uint8Array }>(
    `SELECT id, rec FROM tx WHERE id >= ? AND id < ? ORDER BY id LIMIT ${recordsAtOnce}`
  )
  const firstSeen = connection.prepare<{ seconds: number }>(
    'SELECT first_seen_seconds AS seconds FROM first_seen WHERE hash = ?'
  )
  return {
    entriesAfter: async id => entries.all([id]),
    recordsBetween: async (first, end) => records.all([first, end]),
    confirmedOf: async hashes => new Set(hashes.filter(hash => lookUp(hash) !== undefined)),
    firstSeenOf: async hashes =>
      new Map(
        hashes.flatMap((hash): [Hash, number][] => {
          const seconds = firstSeen.get([hashBytes(hash)])?.seconds
          return seconds === undefined ? [] : [[hash, seconds]]
        })
      )
  }
}

/** Prepares the writing of the pool. Every call runs inside the caller's transaction. */
export function createPoolWriter(connection: SqliteConnection): (write: PoolWrite) => void {
  const selectEntry = connection.prepare<{ rec: Uint8Array; seconds: number }>(
    'SELECT rec, first_seen_seconds AS seconds FROM pool WHERE id = ?'
  )
  const insert = connection.prepare(
    'INSERT INTO pool (id, hash, status, first_seen_seconds, rec) VALUES (?, ?, ?, ?, ?)'
  )
  const update = connection.prepare('UPDATE pool SET status = ? WHERE id = ?')
  const remove = connection.prepare('DELETE FROM pool WHERE id = ?')
  const insertAddress = connection.prepare('INSERT INTO pool_address VALUES (?, ?)')
  const removeAddress = connection.prepare('DELETE FROM pool_address WHERE address = ? AND pool_id = ?')
  const keepFirstSeen = connection.prepare('INSERT OR REPLACE INTO first_seen VALUES (?, ?, ?)')
  const dropFirstSeen = connection.prepare('DELETE FROM first_seen WHERE hash = ?')
  const dropLeft = connection.prepare('DELETE FROM first_seen WHERE left_at < ?')
  const boundFirstSeen = connection.prepare(
    `DELETE FROM first_seen WHERE hash IN
       (SELECT hash FROM first_seen ORDER BY left_at DESC, hash DESC LIMIT -1 OFFSET ?)`
  )

  return ({ removed, head, changed, added, returned, dropLeftBelow, maxFirstSeen }) => {
    if (dropLeftBelow !== undefined) dropLeft.run([dropLeftBelow])
    for (const { id, hash } of removed) {
      const stored = selectEntry.get([id])
      if (stored === undefined) continue
      for (const address of namedBy(decodePending(stored.rec))) removeAddress.run([addressBytes(address), id])
      keepFirstSeen.run([hashBytes(hash), stored.seconds, head])
      remove.run([id])
    }
    for (const { id, status } of changed) update.run([status, id])
    for (const { id, transaction, firstSeenSeconds } of added) {
      const { hash, status } = transaction
      insert.run([id, hashBytes(hash), status, firstSeenSeconds, encodePending(transaction)])
      for (const address of namedBy(transaction)) insertAddress.run([addressBytes(address), id])
    }
    for (const hash of returned) dropFirstSeen.run([hashBytes(hash)])
    if (maxFirstSeen !== undefined) boundFirstSeen.run([maxFirstSeen])
  }
}
