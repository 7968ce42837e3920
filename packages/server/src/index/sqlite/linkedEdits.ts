import { addressLength, candidateHeadLength, hashLength } from '../record/encodeBlock.ts'
import type { PackedBlocks } from '../record/packBlocks.ts'
import { readRowSum, rowSum, rowSumLength, writeRowSum } from '../record/rowSum.ts'
import type { SqliteConnection, SqlRow } from './driver.ts'
import { createEpochEnds, type Proof, proofs } from './epochSums.ts'
import type { Epoch } from './epochs.ts'
import { createKeyHash, keyOf } from './keyedRows.ts'
import { createCursor } from './meta.ts'
import {
  addressTable,
  columnsOf,
  hashTable,
  holdingTable,
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
 * Adds the candidates of a block that its epoch lacks. Where rows have sums, the row after a new one loses what the new one gains: what
 * did not agree before still does not. Runs inside the caller's transaction.
 * @param epoch - one that blocks are not appended to.
 */
export function linkCandidates(
  connection: SqliteConnection,
  chainId: number,
  { id, proof }: Pick<Epoch, 'id' | 'proof'>,
  { candidates, candidateEnds }: PackedBlocks
): void {
  if (candidateEnds.length === 0) return
  connection.prepare('INSERT OR IGNORE INTO holding_epoch VALUES (?, ?)').run([id, proof])
  const held = connection.prepare<{ proof: Proof }>('SELECT proof FROM holding_epoch WHERE id = ?').get([id])
  const link = prepareLink(connection, holdingTable, chainId, held?.proof === proofs.rows)
  let start = 0
  for (const end of candidateEnds) {
    const [contract, standard] = [start + addressLength, start + 2 * addressLength]
    link(id, [
      candidates.subarray(start, contract),
      candidates.subarray(contract, standard),
      candidates.subarray(start + candidateHeadLength, end),
      candidates[standard] ?? 0
    ])
    start = end
  }
}

/** Parts of statements on the row with a key, whose parameters are the epoch and the columns of the key. */
function keySql(shape: TableShape) {
  const columns = columnsOf(shape)
  const list = columns.join(', ')
  const values = columns.map(() => '?').join(', ')
  const descending = columns.map(column => `${column} DESC`).join(', ')
  const own = `epoch = ? AND (${list}) = (${values})`
  return {
    ...{ list, values, own },
    selectBefore: `SELECT ${list} FROM ${shape.name} WHERE epoch = ? AND (${list}) < (${values}) ORDER BY ${descending} LIMIT 1`,
    /** Its first parameter is the sum. */
    updateSum: `UPDATE ${shape.name} SET sum = ? WHERE ${own}`
  }
}

function prepareLink(
  connection: SqliteConnection,
  shape: TableShape,
  chainId: number,
  hasSums: boolean
): (epoch: number, key: RowKey) => void {
  const { list, values, own, ...sql } = keySql(shape)
  const selectOwn = connection.prepare(`SELECT 1 FROM ${shape.name} WHERE ${own}`)
  const selectBefore = connection.prepare(sql.selectBefore)
  const insert = connection.prepare(
    `INSERT INTO ${shape.name} (epoch, ${list}, sum) VALUES (?, ${values}, ?)`
  )
  const hashAt = createKeyHash(shape, chainId)
  const changeAfter = prepareChangeAfter(connection, shape)
  return (epoch, key) => {
    if (selectOwn.get([epoch, ...key]) !== undefined) return
    if (!hasSums) {
      insert.run([epoch, ...key, null])
      return
    }
    const before = keyOf(shape, selectBefore.get([epoch, ...key]))
    const sum = rowSum(hashAt(key), hashAt(before))
    insert.run([epoch, ...key, sumBytes(sum)])
    changeAfter(epoch, key, -sum)
  }
}

/** Prepares changing the sum of the row after a key, or the hash with which the epoch ends. */
function prepareChangeAfter(connection: SqliteConnection, shape: TableShape) {
  const { list, values, updateSum } = keySql(shape)
  const selectAfter = connection.prepare<SqlRow>(
    `SELECT ${list}, sum FROM ${shape.name} WHERE epoch = ? AND (${list}) > (${values}) ORDER BY ${list} LIMIT 1`
  )
  const update = connection.prepare(updateSum)
  const ends = createEpochEnds(connection, shape)
  return (epoch: number, key: RowKey, added: number): void => {
    const after = selectAfter.get([epoch, ...key])
    if (after === undefined) {
      const end = ends.read(epoch)
      if (end !== undefined) ends.put(epoch, rowSum(end, added))
      return
    }
    const sum = after.sum instanceof Uint8Array ? readRowSum(after.sum, 0) : 0
    update.run([sumBytes(rowSum(sum, -added)), epoch, ...(keyOf(shape, after) ?? [])])
  }
}

function sumBytes(sum: number): Uint8Array {
  const bytes = new Uint8Array(rowSumLength)
  writeRowSum(bytes, 0, sum)
  return bytes
}

/**
 * Prepares removing rows from epochs whose rows have sums. The sum of each is added to that of the row after it, which then agrees
 * with the row before: what did not agree before still does not. Runs inside the caller's transaction.
 */
export function prepareUnlink(
  connection: SqliteConnection,
  shape: TableShape
): (epoch: number, key: RowKey) => void {
  const { own } = keySql(shape)
  const selectSum = connection.prepare<{ sum: Uint8Array | null }>(
    `SELECT sum FROM ${shape.name} WHERE ${own}`
  )
  const remove = connection.prepare(`DELETE FROM ${shape.name} WHERE ${own}`)
  const changeAfter = prepareChangeAfter(connection, shape)

  return (epoch, key) => {
    const removed = selectSum.get([epoch, ...key])?.sum
    if (removed == null) return
    remove.run([epoch, ...key])
    changeAfter(epoch, key, readRowSum(removed, 0))
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
  const sql = keySql(shape)
  const hashAt = createKeyHash(shape, chainId)
  const selectBefore = connection.prepare(sql.selectBefore)
  const update = connection.prepare(sql.updateSum)
  for (const key of keys) {
    const before = keyOf(shape, selectBefore.get([epoch, ...key]))
    update.run([sumBytes(rowSum(hashAt(key), hashAt(before))), epoch, ...key])
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
