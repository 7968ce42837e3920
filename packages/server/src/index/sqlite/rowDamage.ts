import { type Damage, IndexDamagedError } from '../../platform/errors.ts'
import { partCount, partOf } from '../record/rowChecksums.ts'
import { createRowHash, readRowSum, rowSum, rowSumLength } from '../record/rowSum.ts'
import type { SqliteConnection, SqlValue } from './driver.ts'
import { createEpochEnds, proofs } from './epochSums.ts'
import type { Epoch } from './epochs.ts'
import { createKeyHash, hashOfRow, keyOf, prepareRows } from './keyedRows.ts'
import { createPartSums, startOfPart } from './partSums.ts'
import { addressTable, columnsOf, hashTable, type TableShape } from './tableShapes.ts'

/** Rows that are read at once. */
const rowsAtOnce = 4_000

/** Prepares checking rows that are found by key, of some parts of an epoch, against their sums. */
export function prepareRowDamage(connection: SqliteConnection, chainId: number) {
  const tables = [addressTable, hashTable].map(shape => prepareTable(connection, shape, chainId))

  /** @returns damage as it is found; `undefined` after each piece, for a pause. */
  return function* (epoch: Epoch, firstPart: number, endPart: number): Generator<Damage | undefined> {
    // Rows of an old index have no sums yet.
    if (epoch.proof === proofs.none) return
    for (const findDamage of tables) yield* findDamage(epoch, firstPart, endPart)
  }
}

function prepareTable(connection: SqliteConnection, shape: TableShape, chainId: number) {
  const { name, number, keyed, part } = shape
  const { keyLength } = shape.rows
  const [column = ''] = shape.fixed
  const bind = createRowHash(chainId, keyed)
  const partSums = createPartSums(connection, shape)
  const readRows = prepareRows(
    connection,
    shape,
    `WHERE epoch = ? AND (${column}, ${number}) > (?, ?) AND ${column} < ? ORDER BY ${column}, ${number}
     LIMIT ${rowsAtOnce}`
  )
  const selectBefore = connection.prepare(
    `SELECT ${columnsOf(shape).join(', ')} FROM ${name} WHERE epoch = ? AND ${column} < ?
     ORDER BY ${column} DESC, ${number} DESC LIMIT 1`
  )
  const ends = createEpochEnds(connection, shape)
  const hashAt = createKeyHash(shape, chainId)

  return function* (epoch: Epoch, firstPart: number, endPart: number): Generator<Damage | undefined> {
    const isLinked = epoch.proof === proofs.rows
    const damageAt = (key: Uint8Array): Damage => ({
      ...{ part, epoch: epoch.id },
      key: Buffer.concat([key, Buffer.alloc(keyLength)]).toString('hex', 0, keyLength)
    })
    const end = startOfPart(endPart)
    const found = new Map<number, number>()
    let after: readonly SqlValue[] = [startOfPart(firstPart), -1]
    const first = isLinked ? keyOf(shape, selectBefore.get([epoch.id, after[0] ?? null])) : undefined
    let before = hashAt(first)
    for (let isFull = true; isFull; yield undefined) {
      let rows: ReturnType<typeof readRows>
      try {
        rows = readRows([epoch.id, ...after, end])
      } catch (error) {
        if (!(error instanceof IndexDamagedError)) throw error
        yield error.damage.part === part ? damageAt(after[0] as Uint8Array) : error.damage
        return
      }
      for (let row = 0; row < rows.count; row++) {
        const hash = hashOfRow(shape, rows, row)
        if (isLinked) {
          const bound = bind(hash)
          if (readRowSum(rows.sums, row * rowSumLength) !== rowSum(bound, before)) {
            yield damageAt(rows.fixed.subarray(row * keyLength, (row + 1) * keyLength))
          }
          before = bound
        } else {
          const at = partOf(rows.fixed, row * keyLength)
          found.set(at, ((found.get(at) ?? 0) + hash) >>> 0)
        }
      }
      isFull = rows.count === rowsAtOnce
      after = [rows.fixed.slice(-keyLength), rows.numbers.at(-1) ?? 0]
    }
    if (isLinked) {
      if (endPart === partCount && ends.read(epoch.id) !== before) {
        yield damageAt(Buffer.alloc(keyLength, 0xff))
      }
      return
    }
    const written = partSums.written(epoch.id)
    for (let at = firstPart; at < endPart; at++) {
      if ((found.get(at) ?? 0) !== written(at)) yield damageAt(startOfPart(at))
    }
  }
}
