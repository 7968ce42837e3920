import { partCount, placeOfPart, RowSums, readHashSum } from '../record/rowChecksums.ts'
import type { SqliteConnection } from './driver.ts'
import { createSumPages } from './epochSums.ts'
import { hashOfRow, type KeyedRows, prepareRows } from './keyedRows.ts'
import { addressTable, columnsOf, type TableShape } from './tableShapes.ts'

/** Sums of the rows of parts of an epoch. */
export interface PartSumsReader {
  /** What was written, with a view on one state of the epoch. */
  written(epoch: number): (part: number) => number
  /** The rows that are there, in order. */
  rows(epoch: number, part: number): KeyedRows
}

/** Prepares the reads of the parts of one table. */
export function createPartSums(connection: SqliteConnection, shape: TableShape): PartSumsReader {
  const { fixed } = shape
  const [first] = fixed
  const pages = createSumPages(connection, shape)
  const readPart = prepareRows(
    connection,
    shape,
    `WHERE epoch = ? AND ${first} >= ? AND ${first} < ? ORDER BY ${columnsOf(shape).join(', ')}`
  )
  const rows = (epoch: number, part: number) => readPart([epoch, startOfPart(part), startOfPart(part + 1)])
  return {
    written: epoch => {
      let read: { readonly page: number; readonly rec: Uint8Array | null | undefined } | undefined
      return part => {
        const { page, offset } = placeOfPart(part, shape.rows)
        if (read?.page !== page) read = { page, rec: pages.read(epoch, page) }
        return read.rec === undefined ? 0 : readHashSum(read.rec, offset, shape.rows)
      }
    },
    rows
  }
}

/** Sums up the hashes of rows. */
export function sumOfRows(shape: TableShape, rows: KeyedRows): number {
  let sum = 0
  for (let row = 0; row < rows.count; row++) sum = (sum + hashOfRow(shape, rows, row)) >>> 0
  return sum
}

/** Sums up rows of the address index, so that a single lost one is named. */
export function nameRows({ fixed, numbers }: KeyedRows, sums = new RowSums()): RowSums {
  for (const [row, id] of numbers.entries()) sums.add(fixed, row * addressTable.rows.keyLength, id)
  return sums
}

/** Sorts before the keys of a part, and after those of the one before. */
export function startOfPart(part: number): Uint8Array {
  // After the last part.
  if (part >= partCount) return Buffer.alloc(33, 0xff)
  return Buffer.from([part >> 4, (part & 15) << 4])
}
