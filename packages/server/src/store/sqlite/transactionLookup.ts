import type { Hash } from '../../model/evm.ts'
import { hashOfRecord, recordHeadLength } from '../record.ts'
import type { SqliteConnection } from './driver.ts'
import { hashKey } from './hexBytes.ts'

/** Finds one transaction by its hash in one epoch. */
export type TransactionLookup = (epoch: number, hash: Hash) => number | undefined

/**
 * Prepares the look-up by hash. The index keeps a part of each hash; the record says whether it is this one.
 * Of a hash that a broken chain lists twice, the later place is found.
 */
export function createTransactionLookup(connection: SqliteConnection): TransactionLookup {
  const select = connection.prepare<{ id: number; head: Uint8Array }>(
    `SELECT tx.id AS id, substr(tx.rec, 1, ${recordHeadLength}) AS head
     FROM tx_hash CROSS JOIN tx ON tx.id = tx_hash.tx_id
     WHERE tx_hash.epoch = ? AND tx_hash.key = ? ORDER BY tx_hash.tx_id DESC`
  )
  return (epoch, hash) => {
    const wanted = hash.toLowerCase()
    return select.all([epoch, hashKey(hash)]).find(({ head }) => hashOfRecord(head) === wanted)?.id
  }
}
