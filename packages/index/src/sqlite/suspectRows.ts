import { type Damage, IndexDamagedError } from '../platform/errors.ts'
import {
  compareChecksums,
  pageBytesOf,
  partOf,
  placeOfPart,
  readPartChecksum
} from '../record/rowChecksums.ts'
import { firstTransactionId, maxTransactionsPerBlock } from '../record/transactionId.ts'
import { CountedParts } from './countedParts.ts'
import type { SqliteConnection } from './driver.ts'
import { createEpochEnds, createSumPages, proofs } from './epochSums.ts'
import { createEpochTable, type Epoch } from './epochs.ts'
import { createKeyHash, createKeyOrder } from './keyedRows.ts'
import { linkRows } from './linkedEdits.ts'
import { createCursor } from './meta.ts'
import { createPartSums, nameRows, startOfPart, sumOfRows } from './partSums.ts'
import { createProvenIds } from './provenIds.ts'
import { addressTable, hashTable, type RowKey, type TableShape } from './tableShapes.ts'

/** Ids that are read at once when a key is checked. */
const idsAtOnce = 10_000

/** Rows of one epoch among which some are lost or altered. */
export interface SuspectRows {
  readonly shape: TableShape
  readonly epoch: Epoch
  /** Their keys begin with bytes from `first` up to, but not including, `end`. */
  readonly first: Uint8Array
  readonly end: Uint8Array
}

/**
 * Finds the rows around damage: of an epoch that is added to, those of the part that the key is in, which are summed up together;
 * else those of the key, and two on each side.
 * @returns absent where the damage names no rows, or its epoch is no more.
 */
export function findSuspectRows(connection: SqliteConnection, damage: Damage): SuspectRows | undefined {
  const shape = [addressTable, hashTable].find(({ part }) => part === damage.part)
  const epoch = createEpochTable(connection)
    .all()
    .find(({ id }) => id === damage.epoch)
  if (shape === undefined || epoch === undefined || damage.key === undefined) return undefined
  const key = Buffer.from(damage.key, 'hex')
  if (epoch.proof === proofs.parts) {
    const part = partOf(key, 0)
    return { shape, epoch, first: startOfPart(part), end: startOfPart(part + 1) }
  }
  const column = shape.fixed[0] ?? ''
  const neighbour = (order: string, direction: string) =>
    connection
      .prepare<{ key: Uint8Array }>(
        `SELECT ${column} AS key FROM ${shape.name} WHERE epoch = ? AND ${column} ${order} ?
         ORDER BY ${column} ${direction} LIMIT 2`
      )
      .all([epoch.id, key])
      .at(-1)?.key
  const after = neighbour('>', 'ASC')
  return {
    ...{ shape, epoch, first: neighbour('<', 'DESC') ?? new Uint8Array(0) },
    end: after === undefined ? Buffer.alloc(33, 0xff) : Buffer.concat([after, Buffer.alloc(1)])
  }
}

/**
 * Reads all rows of a damaged key again.
 * @returns the damage as it is now; absent: the rows are what was written.
 * @throws {IndexDamagedError} worse damage, such as that of the file.
 */
export function checkKey(connection: SqliteConnection, damage: Damage): Damage | undefined {
  const shape = [addressTable, hashTable].find(({ part }) => part === damage.part)
  if (shape === undefined || damage.key === undefined) return damage
  const { chainId } = createCursor(connection).meta().identity
  const epochs = createEpochTable(connection).all()
  const cursor = createProvenIds(
    connection,
    shape,
    chainId
  )({ epochs, rollbacks: 0, counted: new CountedParts() }, Buffer.from(damage.key, 'hex'))
  try {
    while (cursor.next(idsAtOnce).length === idsAtOnce);
    return undefined
  } catch (error) {
    if (error instanceof IndexDamagedError && error.damage.part === shape.part) return error.damage
    throw error
  }
}

/** The first block after an epoch. */
export function endOfEpoch(connection: SqliteConnection, { firstBlock }: Epoch): number {
  const next = createEpochTable(connection)
    .all()
    .find(epoch => epoch.firstBlock > firstBlock)
  return next?.firstBlock ?? (createCursor(connection).head()?.number ?? firstBlock) + 1
}

/** Lists the blocks that suspect rows claim, after the one of the row that the sums name if one alone is lost. */
export function claimedBlocks(connection: SqliteConnection, suspects: SuspectRows): readonly number[] {
  const { shape, epoch } = suspects
  const claimed = connection
    .prepare<{ number: number }>(
      `SELECT DISTINCT ${shape.number} / ${maxTransactionsPerBlock} AS number ${rowsOf(suspects)} LIMIT 1000`
    )
    .all(bounds(suspects))
    .map(({ number }) => number)
  const lost = shape === addressTable && epoch.proof === proofs.parts ? namedBlock(connection, suspects) : []
  return [...new Set([...lost, ...claimed])]
}

function namedBlock(connection: SqliteConnection, { epoch, first }: SuspectRows): readonly number[] {
  const part = partOf(first, 0)
  const { page, offset } = placeOfPart(part, addressTable.rows)
  const rec = createSumPages(connection, addressTable).read(epoch.id, page)
  if (!rec) return []
  const rows = createPartSums(connection, addressTable).rows(epoch.id, part)
  const anyone = `0x${'00'.repeat(20)}` as const
  const { missing, ofOther } = compareChecksums(readPartChecksum(rec, offset), nameRows(rows).sums, anyone)
  return [...missing, ...(ofOther === undefined ? [] : [ofOther.position])].map(
    ({ blockNumber }) => blockNumber
  )
}

/** Removes the suspect rows with ids from `firstId` up to, but not including, `endId`. */
export function removeSuspects(
  connection: SqliteConnection,
  suspects: SuspectRows,
  firstId: number,
  endId: number
): void {
  const { number } = suspects.shape
  connection
    .prepare(`DELETE ${rowsOf(suspects)} AND ${number} >= ? AND ${number} < ?`)
    .run([...bounds(suspects), firstId, endId])
}

/**
 * Takes suspect rows for what has to be there, once every block of their epoch has been put back: rows that claim other blocks are
 * removed, and the sums are written anew. Runs inside the caller's transaction.
 * @param endBlock - the epoch has only blocks below this one.
 */
export function acceptRows(
  connection: SqliteConnection,
  chainId: number,
  suspects: SuspectRows,
  endBlock: number
): void {
  const { shape, epoch, first } = suspects
  removeSuspects(connection, suspects, 0, firstTransactionId(epoch.firstBlock))
  removeSuspects(connection, suspects, firstTransactionId(endBlock), Number.MAX_SAFE_INTEGER)
  if (epoch.proof === proofs.rows) {
    const [column = ''] = shape.fixed
    const rows = connection
      .prepare<{ key: Uint8Array; id: number }>(
        `SELECT ${column} AS key, ${shape.number} AS id ${rowsOf(suspects)} ORDER BY 1, 2`
      )
      .all(bounds(suspects))
    const order = createKeyOrder(connection, shape)
    const next = order.after(epoch.id, [suspects.end, -1])
    const keys = [...rows.map(({ key, id }): RowKey => [key, id]), ...(next === undefined ? [] : [next.key])]
    linkRows(connection, shape, chainId, epoch.id, keys)
    if (next !== undefined) return
    const last = createKeyHash(shape, chainId)(order.upTo(epoch.id, shape.highest))
    createEpochEnds(connection, shape).put(epoch.id, last)
    return
  }
  acceptPart(connection, shape, epoch.id, partOf(first, 0))
}

/** Writes the sums of a part anew, from the rows that are there. */
export function acceptPart(
  connection: SqliteConnection,
  shape: TableShape,
  epoch: number,
  part: number
): void {
  const { page, offset } = placeOfPart(part, shape.rows)
  const rows = createPartSums(connection, shape).rows(epoch, part)
  const lanes = shape.rows.namesRows ? nameRows(rows).sums : [sumOfRows(shape, rows)]
  const pages = createSumPages(connection, shape)
  const rec = Uint8Array.from(pages.read(epoch, page) ?? new Uint8Array(pageBytesOf(shape.rows)))
  const view = new DataView(rec.buffer)
  for (const [lane, sum] of lanes.entries()) view.setUint32(offset + 4 * lane, sum, true)
  pages.put(epoch, page, rec)
}

function rowsOf({ shape: { name, fixed } }: SuspectRows): string {
  return `FROM ${name} WHERE epoch = ? AND ${fixed[0]} >= ? AND ${fixed[0]} < ?`
}

function bounds({ epoch, first, end }: SuspectRows): readonly [number, Uint8Array, Uint8Array] {
  return [epoch.id, first, end]
}
