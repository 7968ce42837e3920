import type { Hash } from '../../model/evm.ts'
import { hashLength } from '../record/encodeBlock.ts'
import { hashBytes, hashKey } from '../record/hexBytes.ts'
import { recordHeadLength } from '../record/record.ts'
import type { SqliteConnection } from './driver.ts'

/** Where in a record its hash begins, with which its head ends; SQLite counts from 1. */
export const hashAt = 1 + recordHeadLength - hashLength
/** Of each hash, `tx_hash` keeps the first bytes. */
export const shortHashLength = 8

/** Finds one transaction by its hash. */
export type TransactionLookup = (hash: Hash) => number | undefined

/**
 * Prepares the look-up by hash, newest epochs first. The index keeps a part of each hash; the record says whether it is this
 * one. Of a hash that a broken chain lists twice, the later place is found.
 * @param newestEpochs - only so many are looked into; absent: all.
 */
export function createTransactionLookup(
  connection: SqliteConnection,
  newestEpochs?: number
): TransactionLookup {
  const select = connection.prepare<{ id: number }>(
    `SELECT tx.id AS id FROM epoch
       CROSS JOIN tx_hash ON tx_hash.epoch = epoch.id AND tx_hash.key = ?
       CROSS JOIN tx ON tx.id = tx_hash.tx_id AND substr(tx.rec, ${hashAt}, ${hashLength}) = ?
     WHERE epoch.first_block >= ${newestEpochs === undefined ? 0 : firstBlockOf(newestEpochs)}
     ORDER BY epoch.first_block DESC, tx_hash.tx_id DESC LIMIT 1`
  )
  return hash => select.get([hashKey(hash), hashBytes(hash)])?.id
}

function firstBlockOf(newestEpochs: number): string {
  return `(SELECT min(first_block) FROM
    (SELECT first_block FROM epoch ORDER BY first_block DESC LIMIT ${newestEpochs}))`
}
