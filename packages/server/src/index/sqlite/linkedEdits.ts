import { addressLength, hashLength } from '../record/encodeBlock.ts'
import type { PackedBlocks } from '../record/packBlocks.ts'
import { readRowSum, rowSum, rowSumLength, writeRowSum } from '../record/rowSum.ts'
import type { SqliteConnection, SqlRow } from './driver.ts'
import { createEpochEnds } from './epochSums.ts'
import { createKeyHash, keyOf } from './keyedRows.ts'
import { createCursor } from './meta.ts'
import {
  addressTable,
  columnsOf,
  hashTable,
  type RowKey,
  shortHashLength,
  type TableShape
} from './tableShapes.ts'

/**
 * Gives the rows of a block their sums, after they were put back into an epoch whose rows have sums. The rows after them keep
 * theirs: they are those of the same rows. Runs inside the caller's transaction.
 */
export function linkBlock(connection: SqliteConnection, epoch: number, block: PackedBlocks): void {
  const { chainId } = createCursor(connection).meta().identity
  const { partyIds, partyAddresses, ids, hashes } = block
  const link = (shape: TableShape, keys: readonly RowKey[]) =>
    linkRows(connection, shape, chainId, epoch, keys)
  link(
    addressTable,
    [...partyIds].map((id, row) => [
      partyAddresses.subarray(row * addressLength, (row + 1) * addressLength),
      id
    ])
  )
  link(
    hashTable,
    [...ids].map((id, row) => [hashes.subarray(row * hashLength, row * hashLength + shortHashLength), id])
  )
}

/**
 * Prepares removing rows from epochs whose rows have sums. The sum of each is added to that of the row after it, which then agrees
 * with the row before: what did not agree before still does not. Runs inside the caller's transaction.
 */
export function prepareUnlink(
  connection: SqliteConnection,
  shape: TableShape
): (epoch: number, key: RowKey) => void {
  const columns = columnsOf(shape)
  const list = columns.join(', ')
  const values = columns.map(() => '?').join(', ')
  const own = `epoch = ? AND (${list}) = (${values})`
  const selectSum = connection.prepare<{ sum: Uint8Array | null }>(
    `SELECT sum FROM ${shape.name} WHERE ${own}`
  )
  const remove = connection.prepare(`DELETE FROM ${shape.name} WHERE ${own}`)
  const selectAfter = connection.prepare<SqlRow>(
    `SELECT ${list}, sum FROM ${shape.name} WHERE epoch = ? AND (${list}) > (${values}) ORDER BY ${list} LIMIT 1`
  )
  const update = connection.prepare(`UPDATE ${shape.name} SET sum = ? WHERE ${own}`)
  const ends = createEpochEnds(connection, shape)

  return (epoch, key) => {
    const removed = selectSum.get([epoch, ...key])?.sum
    if (removed == null) return
    remove.run([epoch, ...key])
    const sum = readRowSum(removed, 0)
    const after = selectAfter.get([epoch, ...key])
    if (after !== undefined) {
      const linked = new Uint8Array(rowSumLength)
      writeRowSum(linked, 0, rowSum(readRowSum(after.sum as Uint8Array, 0), -sum))
      update.run([linked, epoch, ...(keyOf(shape, after) ?? [])])
      return
    }
    const end = ends.read(epoch)
    if (end !== undefined) ends.put(epoch, rowSum(end, sum))
  }
}

/**
 * Gives rows their sums, in an epoch whose rows have sums. The rows after them keep theirs. Runs inside the caller's transaction.
 */
export function linkRows(
  connection: SqliteConnection,
  shape: TableShape,
  chainId: number,
  epoch: number,
  keys: readonly RowKey[]
): void {
  const columns = columnsOf(shape)
  const list = columns.join(', ')
  const descending = columns.map(column => `${column} DESC`).join(', ')
  const values = columns.map(() => '?').join(', ')
  const hashAt = createKeyHash(shape, chainId)
  const selectBefore = connection.prepare(
    `SELECT ${list} FROM ${shape.name} WHERE epoch = ? AND (${list}) < (${values}) ORDER BY ${descending} LIMIT 1`
  )
  const update = connection.prepare(
    `UPDATE ${shape.name} SET sum = ? WHERE epoch = ? AND (${list}) = (${values})`
  )
  for (const key of keys) {
    const before = keyOf(shape, selectBefore.get([epoch, ...key]))
    const sum = new Uint8Array(rowSumLength)
    writeRowSum(sum, 0, rowSum(hashAt(key), hashAt(before)))
    update.run([sum, epoch, ...key])
  }
}

/** Reads the hash of the last row of an epoch, with which the sums of its rows end. */
export function readLastHash(
  connection: SqliteConnection,
  shape: TableShape,
  chainId: number,
  epoch: number
): number {
  const columns = columnsOf(shape)
  const select = connection.prepare(
    `SELECT ${columns.join(', ')} FROM ${shape.name} WHERE epoch = ?
     ORDER BY ${columns.map(column => `${column} DESC`).join(', ')} LIMIT 1`
  )
  return createKeyHash(shape, chainId)(keyOf(shape, select.get([epoch])))
}
