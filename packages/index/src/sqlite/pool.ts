import type { Hash } from '../model/evm.ts'
import { addressBytes, hashBytes } from '../record/hexBytes.ts'
import { decodePending, encodePending } from '../record/record.ts'
import { checkRecord } from '../record/recordSums.ts'
import { namedBy, type PoolRows, type PoolWrite } from '../shared/Pool.ts'
import { checkRow, sumOfRow } from '../shared/rowSums.ts'
import type { SqliteConnection } from './driver.ts'
import { createKeyParts, poolAddresses } from './keyParts.ts'
import { checkPoolRow, type PoolRow } from './poolRow.ts'
import { createTransactionLookup } from './read.ts'
import { prepareSealed } from './sealedRows.ts'

const entriesAtOnce = 1_000
const recordsAtOnce = 2_000
/** A transaction that was confirmed before these began has long left every pool. */
const newestEpochs = 4

/** Prepares the reads of the pool. */
export function createPoolRows(connection: SqliteConnection, chainId: number): PoolRows {
  const lookUp = createTransactionLookup(connection, newestEpochs)
  const entries = connection.prepare<PoolRow>(
    `SELECT * FROM pool WHERE id > ? ORDER BY id LIMIT ${entriesAtOnce}`
  )
  const entry = connection.prepare<PoolRow>('SELECT * FROM pool WHERE id = ?')
  const records = connection.prepare<{ id: number; rec: Uint8Array }>(
    `SELECT id, rec FROM tx WHERE id >= ? AND id < ? ORDER BY id LIMIT ${recordsAtOnce}`
  )
  const firstSeen = connection.prepare<{ first_seen_seconds: number; sum: number | null }>(
    'SELECT * FROM first_seen WHERE hash = ?'
  )
  return {
    entriesAfter: async id => entries.all([id]).map(row => checkPoolRow(chainId, row)),
    entriesOf: async ids => ids.flatMap(id => entry.all([id])).map(row => checkPoolRow(chainId, row)),
    recordsBetween: async (first, end) => {
      const rows = records.all([first, end])
      for (const { id, rec } of rows) checkRecord(chainId, id, rec)
      return rows
    },
    confirmedOf: async hashes => new Set(hashes.filter(hash => lookUp(chainId, hash) !== undefined)),
    firstSeenOf: async hashes =>
      new Map(
        hashes.flatMap((hash): [Hash, number][] => {
          const row = firstSeen.get([hashBytes(hash)])
          if (row === undefined) return []
          return [[hash, checkRow(chainId, 'first_seen', row, { part: 'poolEntry' }).first_seen_seconds]]
        })
      )
  }
}

/** Prepares the writing of the pool. Every call runs inside the caller's transaction. */
export function createPoolWriter(connection: SqliteConnection, chainId: number): (write: PoolWrite) => void {
  const selectEntry = connection.prepare<PoolRow>('SELECT * FROM pool WHERE id = ?')
  const columns = ['id', 'hash', 'status', 'first_seen_seconds', 'rec']
  const insert = prepareSealed(connection, chainId, 'pool', columns)
  const update = connection.prepare('UPDATE pool SET status = ?, sum = ? WHERE id = ?')
  const remove = connection.prepare('DELETE FROM pool WHERE id = ?')
  const insertAddress = connection.prepare('INSERT INTO pool_address VALUES (?, ?)')
  const removeAddress = connection.prepare('DELETE FROM pool_address WHERE address = ? AND pool_id = ?')
  const parts = createKeyParts(connection, poolAddresses)
  const seen = ['hash', 'first_seen_seconds', 'left_at']
  const keepFirstSeen = prepareSealed(connection, chainId, 'first_seen', seen, 'INSERT OR REPLACE')
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
      checkPoolRow(chainId, stored)
      for (const address of namedBy(decodePending(stored.rec))) {
        if (removeAddress.run([addressBytes(address), id]) > 0) parts.change(addressBytes(address), id, -1)
      }
      keepFirstSeen([hashBytes(hash), stored.first_seen_seconds, head])
      remove.run([id])
    }
    for (const { id, transaction } of changed) {
      const { status } = transaction
      const stored = selectEntry.get([id])
      if (stored === undefined) continue
      checkPoolRow(chainId, stored)
      update.run([status, sumOfRow(chainId, 'pool', { ...stored, status }), id])
    }
    for (const { id, transaction, firstSeenSeconds } of added) {
      const { hash, status } = transaction
      insert([id, hashBytes(hash), status, firstSeenSeconds, encodePending(transaction)])
      for (const address of namedBy(transaction)) {
        insertAddress.run([addressBytes(address), id])
        parts.change(addressBytes(address), id, 1)
      }
    }
    for (const hash of returned) dropFirstSeen.run([hashBytes(hash)])
    if (maxFirstSeen !== undefined) boundFirstSeen.run([maxFirstSeen])
  }
}
