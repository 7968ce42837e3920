import type { BlockRef, Hash } from '../../model/evm.ts'
import { hashOfRecord, recordHeadLength } from '../record.ts'
import { firstTransactionId, maxBlockNumber } from '../transactionId.ts'
import type { SqliteConnection } from './driver.ts'
import { addressBytes, hashBytes, hashKey } from './hexBytes.ts'
import { type AddressEntry, decodeParties } from './undoParties.ts'

const recordsAtOnce = 2000
const undoBlocksAtOnce = 64

/** Blocks from `first` to `last`, both included. */
interface BlockSpan {
  readonly first: number
  readonly last: number
}

interface RemovedHash {
  readonly id: number
  readonly hash: Hash
}

/**
 * Removes every block above `ancestor`, which must be stored. Runs inside the caller's transaction.
 *
 * An epoch that begins above the ancestor is cut off as a range. In the one that keeps some blocks, undo data say what
 * to delete; where they are gone, that epoch's part of the address index is scanned.
 */
export function rollbackTo(connection: SqliteConnection, ancestor: BlockRef): void {
  const removed: BlockSpan = { first: ancestor.number + 1, last: maxBlockNumber }
  rememberHashes(connection, removed, ancestor)

  const nextEpoch = connection
    .prepare<{ id: number; firstBlock: number }>(
      'SELECT id, first_block AS firstBlock FROM epoch WHERE first_block > ? ORDER BY id LIMIT 1'
    )
    .get([ancestor.number])
  if (nextEpoch !== undefined) {
    for (const table of ['address_tx', 'tx_hash']) {
      connection.prepare(`DELETE FROM ${table} WHERE epoch >= ?`).run([nextEpoch.id])
    }
    connection.prepare('DELETE FROM epoch WHERE id >= ?').run([nextEpoch.id])
  }
  trimNewestEpoch(
    connection,
    nextEpoch === undefined ? removed : { ...removed, last: nextEpoch.firstBlock - 1 }
  )

  connection.prepare('DELETE FROM tx WHERE id >= ?').run([firstTransactionId(removed.first)])
  connection.prepare('DELETE FROM block WHERE number > ?').run([ancestor.number])
  connection.prepare('DELETE FROM undo WHERE block > ?').run([ancestor.number])
}

/** Removes every block and all that is known of them. Runs inside the caller's transaction. */
export function rollbackAll(connection: SqliteConnection): void {
  for (const table of ['tx', 'block', 'address_tx', 'tx_hash', 'epoch', 'undo', 'reorged']) {
    connection.exec(`DELETE FROM ${table}`)
  }
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

/** Takes the blocks of `span` out of the keys of the newest epoch left, which holds them all. */
function trimNewestEpoch(connection: SqliteConnection, span: BlockSpan): void {
  const epoch = connection.prepare<{ id: number }>('SELECT max(id) AS id FROM epoch').get([])?.id
  if (epoch === undefined) return
  const deleteHash = connection.prepare('DELETE FROM tx_hash WHERE epoch = ? AND key = ? AND tx_id = ?')
  for (const { id, hash } of hashesIn(connection, span)) deleteHash.run([epoch, hashKey(hash), id])

  if (hasAllUndo(connection, span)) {
    const deleteAddress = connection.prepare(
      'DELETE FROM address_tx WHERE epoch = ? AND address = ? AND tx_id = ?'
    )
    for (const { address, id } of undoneEntries(connection, span)) {
      deleteAddress.run([epoch, addressBytes(address), id])
    }
  } else {
    connection
      .prepare('DELETE FROM address_tx WHERE epoch = ? AND tx_id >= ?')
      .run([epoch, firstTransactionId(span.first)])
  }
  connection
    .prepare(
      `UPDATE epoch SET tx_count = tx_count -
         (SELECT coalesce(sum(tx_count), 0) FROM block WHERE number BETWEEN ? AND ?) WHERE id = ?`
    )
    .run([span.first, span.last, epoch])
}

function hasAllUndo(connection: SqliteConnection, { first, last }: BlockSpan): boolean {
  const missing = connection.prepare(
    `SELECT 1 FROM block LEFT JOIN undo ON undo.block = block.number
     WHERE block.number BETWEEN ? AND ? AND tx_count > 0 AND undo.block IS NULL LIMIT 1`
  )
  return missing.get([first, last]) === undefined
}

/** A slice at a time, each in the order of the address index. */
function* undoneEntries(connection: SqliteConnection, { first, last }: BlockSpan): Generator<AddressEntry> {
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
  const end = last === maxBlockNumber ? Number.MAX_SAFE_INTEGER : firstTransactionId(last + 1)
  for (let from = firstTransactionId(first); ; ) {
    const rows = select.all([from, end])
    const newest = rows.at(-1)
    if (newest === undefined) return
    const hashes = rows.map(({ id, head }) => ({ id, hash: hashOfRecord(head) }))
    yield* hashes.sort((a, b) => (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : a.id - b.id))
    from = newest.id + 1
  }
}
