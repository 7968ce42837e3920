import { IndexDamagedError } from '../platform/errors.ts'
import { partCount, partOf } from '../record/rowChecksums.ts'
import { createRowHash, readRowSum, rowSum, rowSumLength, writeRowSum } from '../record/rowSum.ts'
import type { SqliteConnection } from './driver.ts'
import { createEpochEnds, type Proof, proofs } from './epochSums.ts'
import {
  createKeyHash,
  createKeyOrder,
  hashOfRow,
  type KeyedRows,
  keyOf,
  prepareInsert,
  prepareRows,
  variableOf
} from './keyedRows.ts'
import { createPartSums, startOfPart, sumOfRows } from './partSums.ts'
import { compareKeys, type RowKey, type TableShape, tableShapes } from './tableShapes.ts'

/** An epoch that is merged, and how its rows of a table are proven. */
interface Source {
  readonly epoch: number
  readonly proof: Proof
}

/** A table whose rows lie together by epoch, in pieces of bounded size. */
export interface KeyedTable {
  /**
   * Copies the next rows of the sources of a merge after the last one that the target has, and links them by their sums.
   * @param rows - about so many, a few more at most; rows that several sources have become one.
   * @returns whether there may be more.
   * @throws {IndexDamagedError} the rows of a source are not what was written: nothing is copied.
   */
  copy(target: number, sources: readonly Source[], rows: number): boolean
  /** Removes the first `rows` rows of an epoch. @returns whether there may be more. */
  remove(epoch: number, rows: number): boolean
}

/** Prepares all tables that lie by epoch, always in the same order. */
export function createKeyedTables(connection: SqliteConnection, chainId: number): readonly KeyedTable[] {
  return tableShapes.map(shape => createKeyedTable(connection, shape, chainId))
}

/** Rows that a merge has read, in the order of their keys. */
interface Piece {
  readonly rows: KeyedRows
  /** Of each row, bound to nothing yet. */
  readonly hashes: readonly number[]
  /** The last row of the target before them. */
  readonly last: RowKey | undefined
  /** Parts from the first one that has rows in the piece up to, but not including, one that may have more. */
  readonly firstPart: number
  readonly endPart: number
  /** No source has any more. */
  readonly isLast: boolean
}

function createKeyedTable(connection: SqliteConnection, shape: TableShape, chainId: number): KeyedTable {
  const { name, lowest, highest, keyed, part } = shape
  const { list, upTo, ...sql } = createKeyOrder(connection, shape)
  const [key, values] = [`(${list})`, `(${sql.values})`]
  const bind = createRowHash(chainId, keyed)
  const selectNth = connection.prepare(
    `SELECT ${list} FROM ${name} WHERE epoch = ? AND ${key} > ${values} ORDER BY ${list} LIMIT 1 OFFSET ?`
  )
  const readRange = prepareRows(
    connection,
    shape,
    `WHERE epoch IN (SELECT epoch FROM merge_source) AND ${key} > ${values} AND ${key} <= ${values} ORDER BY ${list}`,
    ['epochs', 'sums']
  )
  const insert = prepareInsert(connection, shape)
  const removeRange = connection.prepare(`DELETE FROM ${name} WHERE epoch = ? AND ${key} <= ${values}`)
  const partSums = createPartSums(connection, shape)
  const ends = createEpochEnds(connection, shape)
  const hashAt = createKeyHash(shape, chainId)

  const refuse = (epoch: number, key: Uint8Array, detail: string) => {
    throw new IndexDamagedError({ part, epoch, key: Buffer.from(key).toString('hex') }, detail)
  }

  const keyAt = ({ fixed }: KeyedRows, row: number) =>
    fixed.subarray(Math.max(0, row) * shape.rows.keyLength, (Math.max(0, row) + 1) * shape.rows.keyLength)

  /** Compares the rows of a source with the sums of its rows. */
  const checkRows = (epoch: number, { rows, hashes, last, isLast }: Piece) => {
    let before = hashAt(last && upTo(epoch, last))
    for (const [row, of] of rows.epochs.entries()) {
      if (of !== epoch) continue
      const hash = bind(hashes[row] ?? 0)
      if (readRowSum(rows.sums, row * rowSumLength) !== rowSum(hash, before))
        refuse(epoch, keyAt(rows, row), 'a row does not follow the one before it')
      before = hash
    }
    if (isLast && ends.read(epoch) !== before)
      refuse(epoch, keyAt(rows, rows.count - 1), 'the last row of an epoch is another one')
  }

  /** Compares the parts of a source that are complete with their sums. */
  const checkParts = (epoch: number, { rows, hashes, firstPart, endPart }: Piece) => {
    const sums = new Map<number, number>()
    for (const [row, of] of rows.epochs.entries()) {
      if (of !== epoch) continue
      const at = partOf(rows.fixed, row * shape.rows.keyLength)
      sums.set(at, ((sums.get(at) ?? 0) + (hashes[row] ?? 0)) >>> 0)
    }
    const written = partSums.written(epoch)
    for (let at = firstPart; at < endPart; at++) {
      // Some rows of the first one may have been copied before.
      const found = at === firstPart ? sumOfRows(shape, partSums.rows(epoch, at)) : (sums.get(at) ?? 0)
      if (found !== written(at)) {
        refuse(epoch, startOfPart(at), `rows of part ${at} of an epoch differ from their sum`)
      }
    }
  }

  const link = (target: number, { rows, hashes, last }: Piece) => {
    const picked: number[] = []
    const sums = new Uint8Array(rows.count * rowSumLength)
    let before = hashAt(last)
    for (let row = 0; row < rows.count; row++) {
      if (row > 0 && isSameRow(shape, rows, row)) continue
      const hash = bind(hashes[row] ?? 0)
      writeRowSum(sums, picked.length * rowSumLength, rowSum(hash, before))
      before = hash
      picked.push(row)
    }
    insert(target, rows, picked, sums)
  }

  return {
    copy(target, sources, share) {
      const last = upTo(target, highest)
      const after = last ?? lowest
      // Each source has at most so many rows up to the lowest of these keys.
      const each = Math.max(1, Math.floor(share / sources.length))
      const bounds = sources.flatMap(({ epoch }) => {
        const end = keyOf(shape, selectNth.get([epoch, ...after, each - 1]))
        return end === undefined ? [] : [end]
      })
      const end = bounds.sort(compareKeys)[0]
      const rows = readRange([...after, ...(end ?? highest)])
      const piece: Piece = {
        rows,
        hashes: Array.from({ length: rows.count }, (_, row) => hashOfRow(shape, rows, row)),
        last,
        firstPart: last === undefined ? 0 : partOf(last[0] as Uint8Array, 0),
        endPart: end === undefined ? partCount : partOf(end[0] as Uint8Array, 0),
        isLast: end === undefined
      }
      for (const { epoch, proof } of sources) {
        if (proof === proofs.rows) checkRows(epoch, piece)
        if (proof === proofs.parts) checkParts(epoch, piece)
      }
      link(target, piece)
      if (end !== undefined) return true
      ends.put(target, hashAt(upTo(target, highest)))
      return false
    },
    remove(epoch, rows) {
      const end = keyOf(shape, selectNth.get([epoch, ...lowest, rows - 1]))
      removeRange.run([epoch, ...(end ?? highest)])
      return end !== undefined
    }
  }
}

/** Compares a row with the one before it. */
function isSameRow({ rows: { keyLength } }: TableShape, rows: KeyedRows, row: number): boolean {
  const at = row * keyLength
  for (let i = at; i < at + keyLength; i++) if (rows.fixed[i] !== rows.fixed[i - keyLength]) return false
  return (
    rows.numbers[row] === rows.numbers[row - 1] &&
    Buffer.compare(variableOf(rows, row), variableOf(rows, row - 1)) === 0
  )
}
