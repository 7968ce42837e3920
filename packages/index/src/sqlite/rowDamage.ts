import { type Damage, IndexDamagedError } from '../platform/errors.ts'
import { partCount, partOf } from '../record/rowChecksums.ts'
import { createRowHash, readRowSum, rowSum, rowSumLength } from '../record/rowSum.ts'
import type { SqliteConnection } from './driver.ts'
import type { EpochList, HoldingEpoch } from './epochList.ts'
import { createEpochEnds, proofs } from './epochSums.ts'
import {
  createKeyHash,
  createKeyOrder,
  hashOfRow,
  type KeyedRows,
  prepareRows,
  variableOf
} from './keyedRows.ts'
import { createPartSums, startOfPart } from './partSums.ts'
import { addressTable, hashTable, holdingTable, type RowKey, type TableShape } from './tableShapes.ts'

/** Rows that are read at once. */
const rowsAtOnce = 4_000

/** Finds damage as it goes; `undefined` after each piece, for a pause. */
type FindDamage = (epoch: HoldingEpoch, firstPart: number, endPart: number) => Generator<Damage | undefined>

/** Prepares checking rows that are found by key, of some parts of all epochs, against their sums. */
export function prepareRowDamage(connection: SqliteConnection, chainId: number) {
  const prepare = (shape: TableShape) => prepareTable(connection, shape, chainId)
  const [addresses, hashes, holdings] = [prepare(addressTable), prepare(hashTable), prepare(holdingTable)]

  /** @returns damage as it is found; `undefined` after each piece, for a pause. */
  return function* (list: EpochList, firstPart: number, endPart: number): Generator<Damage | undefined> {
    for (const epoch of list.epochs) {
      yield* addresses(epoch, firstPart, endPart)
      yield* hashes(epoch, firstPart, endPart)
    }
    for (const epoch of list.holdings) yield* holdings(epoch, firstPart, endPart)
  }
}

/** Prepares finding damage of the candidates of one epoch. */
export function prepareHoldingDamage(
  connection: SqliteConnection,
  chainId: number
): (epoch: HoldingEpoch) => Damage | undefined {
  const findDamage = prepareTable(connection, holdingTable, chainId)
  return epoch => {
    for (const damage of findDamage(epoch, 0, partCount)) if (damage !== undefined) return damage
    return undefined
  }
}

function prepareTable(connection: SqliteConnection, shape: TableShape, chainId: number): FindDamage {
  const { keyed, part } = shape
  const { keyLength } = shape.rows
  const { list, values, upTo } = createKeyOrder(connection, shape)
  const bind = createRowHash(chainId, keyed)
  const partSums = createPartSums(connection, shape)
  const readRows = prepareRows(
    connection,
    shape,
    `WHERE epoch = ? AND (${list}) > (${values}) AND ${shape.fixed[0]} < ? ORDER BY ${list}
     LIMIT ${rowsAtOnce}`,
    ['sums']
  )
  const ends = createEpochEnds(connection, shape)
  const hashAt = createKeyHash(shape, chainId)

  return function* (epoch, firstPart, endPart) {
    // Candidates that were accepted as they were found.
    if (epoch.proof === proofs.none) return
    const isLinked = epoch.proof === proofs.rows
    const damageAt = (key: Uint8Array): Damage => ({
      ...{ part, epoch: epoch.id },
      key: Buffer.concat([key, Buffer.alloc(keyLength)]).toString('hex', 0, keyLength)
    })
    const end = startOfPart(endPart)
    const found = new Map<number, number>()
    let after: RowKey = [startOfPart(firstPart), ...shape.lowest.slice(1)]
    let before = hashAt(isLinked ? upTo(epoch.id, after) : undefined)
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
      after = lastKey(shape, rows)
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

function lastKey({ fixed, variable, rows: { keyLength } }: TableShape, rows: KeyedRows): RowKey {
  const last = rows.count - 1
  const width = keyLength / fixed.length
  const at = last * keyLength
  return [
    ...fixed.map((_, i) => rows.fixed.slice(at + i * width, at + (i + 1) * width)),
    ...(variable === undefined ? [] : [variableOf(rows, last).slice()]),
    rows.numbers[last] ?? 0
  ]
}
