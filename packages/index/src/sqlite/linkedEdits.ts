import { addressLength, candidateHeadLength, hashLength } from '../record/encodeBlock.ts'
import type { PackedBlocks } from '../record/packBlocks.ts'
import { readRowSum, rowSum } from '../record/rowSum.ts'
import type { SqliteConnection } from './driver.ts'
import { createEpochEnds, type Proof, proofs, sumBytes } from './epochSums.ts'
import type { Epoch } from './epochs.ts'
import { createKeyHash, createKeyOrder } from './keyedRows.ts'
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
function ownRow(shape: TableShape): string {
  const columns = columnsOf(shape)
  return `epoch = ? AND (${columns.join(', ')}) = (${columns.map(() => '?').join(', ')})`
}

function prepareSetSum(connection: SqliteConnection, shape: TableShape) {
  const update = connection.prepare(`UPDATE ${shape.name} SET sum = ? WHERE ${ownRow(shape)}`)
  return (epoch: number, key: RowKey, sum: number) => update.run([sumBytes(sum), epoch, ...key])
}

function prepareLink(
  connection: SqliteConnection,
  shape: TableShape,
  chainId: number,
  hasSums: boolean
): (epoch: number, key: RowKey) => void {
  const { list, values, before } = createKeyOrder(connection, shape)
  const selectOwn = connection.prepare(`SELECT 1 FROM ${shape.name} WHERE ${ownRow(shape)}`)
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
    const sum = rowSum(hashAt(key), hashAt(before(epoch, key)))
    insert.run([epoch, ...key, sumBytes(sum)])
    changeAfter(epoch, key, -sum)
  }
}

/** Prepares changing the sum of the row after a key, or the hash with which the epoch ends. */
function prepareChangeAfter(connection: SqliteConnection, shape: TableShape) {
  const order = createKeyOrder(connection, shape)
  const setSum = prepareSetSum(connection, shape)
  const ends = createEpochEnds(connection, shape)
  return (epoch: number, key: RowKey, added: number): void => {
    const after = order.after(epoch, key)
    if (after !== undefined) {
      setSum(epoch, after.key, rowSum(after.sum ?? 0, -added))
      return
    }
    const end = ends.read(epoch)
    if (end !== undefined) ends.put(epoch, rowSum(end, added))
  }
}

/**
 * Prepares removing rows from epochs whose rows have sums. The sum of each is added to that of the row after it, which then agrees
 * with the row before: what did not agree before still does not. Runs inside the caller's transaction.
 */
export function prepareUnlink(
  connection: SqliteConnection,
  shape: TableShape
): (epoch: number, key: RowKey) => void {
  const selectSum = connection.prepare<{ sum: Uint8Array | null }>(
    `SELECT sum FROM ${shape.name} WHERE ${ownRow(shape)}`
  )
  const remove = connection.prepare(`DELETE FROM ${shape.name} WHERE ${ownRow(shape)}`)
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
  const { before } = createKeyOrder(connection, shape)
  const setSum = prepareSetSum(connection, shape)
  const hashAt = createKeyHash(shape, chainId)
  for (const key of keys) setSum(epoch, key, rowSum(hashAt(key), hashAt(before(epoch, key))))
}
