import type { BlockRef } from '../model/evm.ts'
import { hashLength } from '../record/encodeBlock.ts'
import { firstTransactionId } from '../record/transactionId.ts'
import { decodeParties } from '../record/undoParties.ts'
import type { Rollback } from '../shared/IndexWriter.ts'
import { sumOfRow } from '../shared/rowSums.ts'
import type { SqliteConnection } from './driver.ts'
import { type EpochProof, type EpochSums, proofs } from './epochSums.ts'
import { createEpochTable } from './epochs.ts'
import { prepareUnlink } from './linkedEdits.ts'
import { forgetMerge } from './merge.ts'
import { prepareReorged } from './reorged.ts'
import {
  addressTable,
  hashAt,
  hashTable,
  holdingTable,
  shortHashLength,
  type TableShape
} from './tableShapes.ts'

/** One statement removes the keys of so many blocks: sorted, and bounded in memory. */
const blocksAtOnce = 64
/** Sums of the tables of transaction ids. */
const ofIds = `(id >> 6) & 3 <> ${holdingTable.keyed}`
/** Rows that are found without undo data are removed so many at once. */
const scannedAtOnce = 10_000

/**
 * Removes every block above `ancestor`, which must be stored. Runs inside the caller's transaction.
 *
 * An epoch that begins above the ancestor is removed whole. From the one that keeps some blocks, the keys that undo data name
 * are deleted, and taken out of its sums; where undo data are missing, that epoch's part of the address index is scanned. That is
 * as slow as the epoch is large, but merged epochs lie below all blocks with undo data.
 */
export function rollbackTo(
  connection: SqliteConnection,
  chainId: number,
  ancestor: BlockRef,
  { head, hasUndo }: Pick<Rollback, 'head' | 'hasUndo'>,
  sums: EpochSums
): void {
  const first = ancestor.number + 1
  const reorged = prepareReorged(connection, chainId)
  reorged.moveDown(ancestor)
  const selectHashes = connection.prepare<{ hash: Uint8Array }>(
    `SELECT substr(rec, ${hashAt}, ${hashLength}) AS hash FROM tx WHERE id >= ? AND id < ? ORDER BY 1`
  )
  const cut = dropEpochs(connection, ancestor)
  const removeKeys = cut && prepareRemoveKeys(connection, cut, sums)
  for (let from = first; from <= head; from += blocksAtOnce) {
    const end = from + blocksAtOnce
    const ids = [firstTransactionId(from), firstTransactionId(end)] as const
    reorged.remember(
      selectHashes.all(ids).map(({ hash }) => hash),
      ancestor
    )
    const last = Math.min(end, cut?.end ?? end)
    if (from >= last) continue
    removeKeys?.hashes(from, last)
    if (hasUndo) removeKeys?.parties(from, last)
  }
  if (!hasUndo) removeKeys?.scanParties(first)
  sums.save()
  forgetMerge(connection)

  connection.prepare('DELETE FROM tx WHERE id >= ?').run([firstTransactionId(first)])
  for (const table of ['block WHERE number', 'account_event WHERE block', 'undo WHERE block']) {
    connection.prepare(`DELETE FROM ${table} > ?`).run([ancestor.number])
  }
}

/** Removes every block and all that is known of them. Runs inside the caller's transaction. */
export function rollbackAll(connection: SqliteConnection, chainId: number): void {
  for (const table of ['tx', 'block', 'address_tx', 'tx_hash', 'epoch', 'undo', 'account_event']) {
    connection.exec(`DELETE FROM ${table}`)
  }
  // Candidates stay, with their sums.
  connection.exec(`DELETE FROM epoch_sum WHERE ${ofIds}`)
  prepareReorged(connection, chainId).forgetAll()
  forgetMerge(connection)
  connection.exec('UPDATE meta SET indexed_from = NULL, backfilled = 0')
}

/** Returns whether undo data of all blocks above `number` are stored, and are what was written. */
export function hasUndoAbove(connection: SqliteConnection, chainId: number, number: number): boolean {
  const rows = connection.prepare<{ sum: number | null }>('SELECT * FROM undo WHERE block > ?').all([number])
  if (rows.some(row => row.sum !== sumOfRow(chainId, 'undo', row))) return false
  const missing = connection.prepare(
    `SELECT 1 FROM block LEFT JOIN undo ON undo.block = block.number
     WHERE block.number > ? AND tx_count > 0 AND undo.block IS NULL LIMIT 1`
  )
  return missing.get([number]) === undefined
}

/** The newest epoch that is left, from which the blocks above the ancestor up to, but not including, `end` are removed. */
interface CutEpoch {
  readonly id: number
  readonly end: number
  readonly proof: EpochProof
}

/**
 * Removes the epochs that begin above the ancestor, with their keys, and takes the other removed blocks out of the size of the
 * newest epoch that is left.
 * @returns absent when no epoch is left.
 */
function dropEpochs(connection: SqliteConnection, ancestor: BlockRef): CutEpoch | undefined {
  const dropped = 'FROM epoch WHERE first_block > ?'
  const next = connection
    .prepare<{ first: number | null }>(`SELECT min(first_block) AS first ${dropped}`)
    .get([ancestor.number])?.first
  for (const table of ['address_tx', 'tx_hash']) {
    connection.prepare(`DELETE FROM ${table} WHERE epoch IN (SELECT id ${dropped})`).run([ancestor.number])
  }
  // Candidates stay, with their sums.
  connection
    .prepare(`DELETE FROM epoch_sum WHERE ${ofIds} AND id >> 8 IN (SELECT id ${dropped})`)
    .run([ancestor.number])
  connection.prepare(`DELETE ${dropped}`).run([ancestor.number])
  const epoch = createEpochTable(connection).newest()
  if (epoch === undefined) return undefined
  const end = next ?? Number.MAX_SAFE_INTEGER
  connection
    .prepare(
      `UPDATE epoch SET tx_count = tx_count -
         (SELECT coalesce(sum(tx_count), 0) FROM block WHERE number > ? AND number < ?) WHERE id = ?`
    )
    .run([ancestor.number, end, epoch.id])
  return { id: epoch.id, end, proof: epoch.proof }
}

/** Prepares removing the keys of blocks from the epoch that is left. */
function prepareRemoveKeys(connection: SqliteConnection, { id: epoch, proof }: CutEpoch, sums: EpochSums) {
  const selectParties = connection.prepare<{ block: number; parties: Uint8Array }>(
    'SELECT block, parties FROM undo WHERE block >= ? AND block < ?'
  )
  const selectHashes = connection.prepare<KeyedId>(
    `SELECT id, substr(rec, ${hashAt}, ${shortHashLength}) AS key FROM tx WHERE id >= ? AND id < ?`
  )
  const selectFound = connection.prepare<KeyedId>(
    `SELECT tx_id AS id, address AS key FROM address_tx
     WHERE epoch = ? AND (address, tx_id) > (?, ?) AND tx_id >= ? ORDER BY address, tx_id LIMIT ${scannedAtOnce}`
  )
  const prepareRemove = (shape: TableShape) => {
    const [column] = shape.fixed
    const { keyLength } = shape.rows
    const unlink = prepareUnlink(connection, shape)
    const remove = connection.prepare(
      `DELETE FROM ${shape.name} WHERE epoch = ?1 AND (${column}, ${shape.number}) IN
         (SELECT substr(?2, 1 + key * ${keyLength}, ${keyLength}), value FROM json_each(?3))`
    )
    return (rows: readonly KeyedId[]) => {
      if (rows.length === 0) return
      if (proof === proofs.rows) {
        for (const { key, id } of rows) unlink(epoch, [key, id])
        return
      }
      const ids = JSON.stringify(rows.map(({ id }) => id))
      remove.run([epoch, Buffer.concat(rows.map(({ key }) => key)), ids])
      const parts = shape === addressTable ? sums.of(epoch).addresses : sums.of(epoch).hashes
      for (const { key, id } of rows) parts.subtract(key, 0, id)
    }
  }
  const removeHashes = prepareRemove(hashTable)
  const removeParties = prepareRemove(addressTable)
  return {
    hashes(from: number, end: number): void {
      removeHashes(selectHashes.all([firstTransactionId(from), firstTransactionId(end)]))
    },
    parties(from: number, end: number): void {
      const rows = selectParties
        .all([from, end])
        .flatMap(({ block, parties }) => decodeParties(block, parties))
      removeParties(rows.map(({ address, id }) => ({ key: address, id })))
    },
    /** Removes what is found of all blocks from `first` on, instead of what undo data name. */
    scanParties(first: number): void {
      let [key, id]: [Uint8Array, number] = [Buffer.alloc(0), -1]
      for (let rows: readonly KeyedId[]; ; { key, id } = rows.at(-1) as KeyedId) {
        rows = selectFound.all([epoch, key, id, firstTransactionId(first)])
        removeParties(rows)
        if (rows.length < scannedAtOnce) return
      }
    }
  }
}

interface KeyedId {
  readonly id: number
  readonly key: Uint8Array
}
