import type { BlockRef } from '../../model/evm.ts'
import { addressLength, hashLength } from '../record/encodeBlock.ts'
import { hashBytes } from '../record/hexBytes.ts'
import { firstTransactionId } from '../record/transactionId.ts'
import { decodeParties } from '../record/undoParties.ts'
import type { Rollback } from '../shared/IndexWriter.ts'
import type { SqliteConnection } from './driver.ts'
import { createEpochTable } from './epochs.ts'
import { forgetMerge } from './merge.ts'
import { hashAt, shortHashLength } from './read.ts'

/** One statement removes the keys of so many blocks: sorted, and bounded in memory. */
const blocksAtOnce = 64

/**
 * Removes every block above `ancestor`, which must be stored. Runs inside the caller's transaction.
 *
 * An epoch that begins above the ancestor is removed whole. From the one that keeps some blocks, the keys that undo data name
 * are deleted; where undo data are missing, that epoch's part of the address index is scanned. That is as slow as the epoch is
 * large, but merged epochs lie below all blocks with undo data.
 */
export function rollbackTo(
  connection: SqliteConnection,
  ancestor: BlockRef,
  { head, hasUndo, countOut }: Pick<Rollback, 'head' | 'hasUndo' | 'countOut'>
): void {
  const first = ancestor.number + 1
  const ancestorHash = hashBytes(ancestor.hash)
  // Earlier reorgs get the new ancestor: it is always a block of the index.
  connection
    .prepare('UPDATE reorged SET ancestor_number = ?, ancestor_hash = ? WHERE ancestor_number > ?')
    .run([ancestor.number, ancestorHash, ancestor.number])
  const rememberHashes = connection.prepare(
    `INSERT OR REPLACE INTO reorged
     SELECT substr(rec, ${hashAt}, ${hashLength}), ?1, ?2 FROM tx WHERE id >= ?3 AND id < ?4 ORDER BY 1`
  )
  const deleteHashes = connection.prepare(
    `DELETE FROM tx_hash WHERE epoch = ?1 AND (key, tx_id) IN
       (SELECT substr(rec, ${hashAt}, ${shortHashLength}), id FROM tx WHERE id >= ?2 AND id < ?3)`
  )
  const deleteParties = prepareDeleteParties(connection, countOut)

  const epoch = dropEpochs(connection, ancestor)
  for (let from = first; from <= head; from += blocksAtOnce) {
    const end = from + blocksAtOnce
    const ids = [firstTransactionId(from), firstTransactionId(end)] as const
    rememberHashes.run([ancestor.number, ancestorHash, ...ids])
    if (epoch !== undefined) deleteHashes.run([epoch, ...ids])
    if (hasUndo) deleteParties(epoch, from, end)
  }
  if (epoch !== undefined && !hasUndo) {
    connection
      .prepare('DELETE FROM address_tx WHERE epoch = ? AND tx_id >= ?')
      .run([epoch, firstTransactionId(first)])
  }
  forgetMerge(connection)

  connection.prepare('DELETE FROM tx WHERE id >= ?').run([firstTransactionId(first)])
  for (const table of ['block WHERE number', 'account_event WHERE block', 'undo WHERE block']) {
    connection.prepare(`DELETE FROM ${table} > ?`).run([ancestor.number])
  }
}

/** Removes every block and all that is known of them. Runs inside the caller's transaction. */
export function rollbackAll(connection: SqliteConnection): void {
  for (const table of [
    'tx',
    'block',
    'address_tx',
    'tx_hash',
    'epoch',
    'undo',
    'reorged',
    'account_event',
    'tally'
  ]) {
    connection.exec(`DELETE FROM ${table}`)
  }
  forgetMerge(connection)
  connection.exec('UPDATE meta SET indexed_from = NULL, backfilled = 0')
}

/** Returns whether undo data of all blocks above `number` are stored. */
export function hasUndoAbove(connection: SqliteConnection, number: number): boolean {
  const missing = connection.prepare(
    `SELECT 1 FROM block LEFT JOIN undo ON undo.block = block.number
     WHERE block.number > ? AND tx_count > 0 AND undo.block IS NULL LIMIT 1`
  )
  return missing.get([number]) === undefined
}

/**
 * Removes the epochs that begin above the ancestor, with their keys, and takes the other removed blocks out of the size of the
 * newest epoch that is left.
 * @returns its id; absent when no epoch is left.
 */
function dropEpochs(connection: SqliteConnection, ancestor: BlockRef): number | undefined {
  const dropped = 'FROM epoch WHERE first_block > ?'
  const next = connection
    .prepare<{ first: number | null }>(`SELECT min(first_block) AS first ${dropped}`)
    .get([ancestor.number])?.first
  for (const table of ['address_tx', 'tx_hash']) {
    connection.prepare(`DELETE FROM ${table} WHERE epoch IN (SELECT id ${dropped})`).run([ancestor.number])
  }
  connection.prepare(`DELETE ${dropped}`).run([ancestor.number])
  const epoch = createEpochTable(connection).newest()?.id
  if (epoch === undefined) return undefined
  connection
    .prepare(
      `UPDATE epoch SET tx_count = tx_count -
         (SELECT coalesce(sum(tx_count), 0) FROM block WHERE number > ? AND number < ?) WHERE id = ?`
    )
    .run([ancestor.number, next ?? Number.MAX_SAFE_INTEGER, epoch])
  return epoch
}

/** Prepares taking the rows that undo data name out of the counts, and out of the epoch that is left. */
function prepareDeleteParties(connection: SqliteConnection, countOut: Rollback['countOut']) {
  const select = connection.prepare<{ block: number; parties: Uint8Array }>(
    'SELECT block, parties FROM undo WHERE block >= ? AND block < ?'
  )
  const deleteRows = connection.prepare(
    `DELETE FROM address_tx WHERE epoch = ?1 AND (address, tx_id) IN
       (SELECT substr(?2, 1 + key * ${addressLength}, ${addressLength}), value FROM json_each(?3))`
  )
  return (epoch: number | undefined, from: number, end: number): void => {
    const rows = select.all([from, end]).flatMap(({ block, parties }) => decodeParties(block, parties))
    if (countOut !== undefined) for (const { address, id } of rows) countOut(address, 0, id)
    if (epoch === undefined || rows.length === 0) return
    const addresses = Buffer.concat(rows.map(({ address }) => address))
    deleteRows.run([epoch, addresses, JSON.stringify(rows.map(({ id }) => id))])
  }
}
