import type { BlockRef, Hash } from '../../model/evm.ts'
import { addressBytes, hashBytes, hashKey } from '../record/hexBytes.ts'
import { hashOfRecord, recordHeadLength } from '../record/record.ts'
import { firstTransactionId, maxBlockNumber } from '../record/transactionId.ts'
import { type AddressEntry, decodeParties } from '../record/undoParties.ts'
import type { SqliteConnection } from './driver.ts'
import { createEpochTable } from './epochs.ts'
import { forgetMerge } from './merge.ts'

const recordsAtOnce = 2000
const undoBlocksAtOnce = 64

/** Blocks from `first` to `last`, both included. */
interface BlockSpan {
  readonly first: number
  readonly last: number
}

/** What is removed from the epoch that is left as the newest. */
interface EpochEnd extends BlockSpan {
  readonly epoch: number
}

interface RemovedHash {
  readonly id: number
  readonly hash: Hash
}

/**
 * Removes every block above `ancestor`, which must be stored. Runs inside the caller's transaction.
 *
 * An epoch that begins above the ancestor is removed whole. In the one that keeps some blocks, undo data say what
 * to delete; where they are gone, that epoch's part of the address index is scanned. That is as slow as the epoch is large, but
 * merged epochs lie below all blocks with undo data.
 *
 * @param hasUndo - undo data of all these blocks are stored.
 */
export function rollbackTo(connection: SqliteConnection, ancestor: BlockRef, hasUndo: boolean): void {
  const removed: BlockSpan = { first: ancestor.number + 1, last: maxBlockNumber }
  rememberHashes(connection, removed, ancestor)

  const end = dropEpochs(connection, ancestor)
  if (end !== undefined) trimEpoch(connection, end)
  if (end !== undefined && hasUndo) undoEntries(connection, end)
  else if (end !== undefined) scanEntries(connection, end)
  forgetMerge(connection)

  connection.prepare('DELETE FROM tx WHERE id >= ?').run([firstTransactionId(removed.first)])
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

/** Also moves what earlier reorgs remembered down to the new ancestor, so that it is always a block of the index. */
function rememberHashes(connection: SqliteConnection, removed: BlockSpan, ancestor: BlockRef): void {
  const ancestorHash = hashBytes(ancestor.hash)
  connection
    .prepare('UPDATE reorged SET ancestor_number = ?, ancestor_hash = ? WHERE ancestor_number > ?')
    .run([ancestor.number, ancestorHash, ancestor.number])
  const remember = connection.prepare('INSERT OR REPLACE INTO reorged VALUES (?, ?, ?)')
  for (const { hash } of hashesIn(connection, removed)) {
    remember.run([hashBytes(hash), ancestor.number, ancestorHash])
  }
}

/** Removes the epochs that begin above the ancestor, with their keys. @returns nothing when no other is left. */
function dropEpochs(connection: SqliteConnection, ancestor: BlockRef): EpochEnd | undefined {
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
  return { epoch, first: ancestor.number + 1, last: next == null ? maxBlockNumber : next - 1 }
}

/** Takes the removed blocks out of what the epoch says of its hashes and its size. */
function trimEpoch(connection: SqliteConnection, end: EpochEnd): void {
  const deleteHash = connection.prepare('DELETE FROM tx_hash WHERE epoch = ? AND key = ? AND tx_id = ?')
  for (const { id, hash } of hashesIn(connection, end)) deleteHash.run([end.epoch, hashKey(hash), id])
  connection
    .prepare(
      `UPDATE epoch SET tx_count = tx_count -
         (SELECT coalesce(sum(tx_count), 0) FROM block WHERE number BETWEEN ? AND ?) WHERE id = ?`
    )
    .run([end.first, end.last, end.epoch])
}

function undoEntries(connection: SqliteConnection, end: EpochEnd): void {
  const deleteRow = connection.prepare('DELETE FROM address_tx WHERE epoch = ? AND address = ? AND tx_id = ?')
  for (const { address, id } of undoneEntries(connection, end)) {
    deleteRow.run([end.epoch, addressBytes(address), id])
  }
}

function scanEntries(connection: SqliteConnection, { epoch, first }: EpochEnd): void {
  connection
    .prepare('DELETE FROM address_tx WHERE epoch = ? AND tx_id >= ?')
    .run([epoch, firstTransactionId(first)])
}

function idBehind({ last }: BlockSpan): number {
  return last === maxBlockNumber ? Number.MAX_SAFE_INTEGER : firstTransactionId(last + 1)
}

/** Returns whether undo data of all blocks above `number` are stored. */
export function hasUndoAbove(connection: SqliteConnection, number: number): boolean {
  const missing = connection.prepare(
    `SELECT 1 FROM block LEFT JOIN undo ON undo.block = block.number
     WHERE block.number > ? AND tx_count > 0 AND undo.block IS NULL LIMIT 1`
  )
  return missing.get([number]) === undefined
}

/** Reads the rows of the address index that undo data name, a slice at a time, each in the order of the index. */
export function* undoneEntries(
  connection: SqliteConnection,
  { first, last }: BlockSpan
): Generator<AddressEntry> {
  const select = connection.prepare<{ block: number; parties: Uint8Array }>(
    `SELECT block, parties FROM undo WHERE block BETWEEN ? AND ? ORDER BY block LIMIT ${undoBlocksAtOnce}`
  )
  for (let from = first; ; ) {
    const rows = select.all([from, last])
    const newest = rows.at(-1)
    if (newest === undefined) return
    const entries = rows.flatMap(({ block, parties }) => decodeParties(block, parties))
    yield* entries.sort((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : a.id - b.id))
    from = newest.block + 1
  }
}

/** A slice at a time, each in the order of the hash index. */
function* hashesIn(connection: SqliteConnection, { first, last }: BlockSpan): Generator<RemovedHash> {
  const select = connection.prepare<{ id: number; head: Uint8Array }>(
    `SELECT id, substr(rec, 1, ${recordHeadLength}) AS head FROM tx
     WHERE id >= ? AND id < ? ORDER BY id LIMIT ${recordsAtOnce}`
  )
  const end = idBehind({ first, last })
  for (let from = firstTransactionId(first); ; ) {
    const rows = select.all([from, end])
    const newest = rows.at(-1)
    if (newest === undefined) return
    const hashes = rows.map(({ id, head }) => ({ id, hash: hashOfRecord(head) }))
    yield* hashes.sort((a, b) => (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : a.id - b.id))
    from = newest.id + 1
  }
}
