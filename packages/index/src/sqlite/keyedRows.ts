import { IndexDamagedError } from '../platform/errors.ts'
import { hashRow } from '../record/rowChecksums.ts'
import { beforeFirstRow, createRowHash, readRowSum, rowSumLength } from '../record/rowSum.ts'
import type { SqliteConnection, SqliteStatement, SqlRow, SqlValue } from './driver.ts'
import { columnsOf, holdingNumber, type RowKey, type TableShape } from './tableShapes.ts'

/** Rows of one table that one statement has read, each part of them as one buffer or list: single rows cost several times as much. */
export interface KeyedRows {
  readonly count: number
  /** Empty: not asked for. */
  readonly epochs: readonly number[]
  /** The columns of fixed length of each row. */
  readonly fixed: Uint8Array
  readonly numbers: readonly number[]
  /** The columns of variable length, and where each ends. */
  readonly variable: Uint8Array
  readonly variableEnds: readonly number[]
  /** Empty: not asked for. */
  readonly sums: Uint8Array
}

interface RowColumns {
  readonly epochs: Uint8Array | null
  readonly fixed: Uint8Array | null
  readonly numbers: Uint8Array | null
  readonly lengths: Uint8Array | null
  readonly variable: Uint8Array | null
  readonly sums: Uint8Array | null
}

/**
 * Prepares a statement that reads the rows that `where`, which follows the name of the table, says.
 * @param besides - what is read besides the keys.
 */
export function prepareRows(
  connection: SqliteConnection,
  shape: TableShape,
  where: string,
  besides: readonly ('epochs' | 'sums')[] = []
): (parameters: readonly SqlValue[]) => KeyedRows {
  const { name, fixed, variable, number, rows, part } = shape
  const bytes = (column: string) => `CAST(${column} AS TEXT)`
  const joined = (column: string) => `CAST(group_concat(${column}, '') AS BLOB)`
  const listed = (column: string) => `CAST(group_concat(${column}) AS BLOB)`
  const [hasEpochs, hasSums] = [besides.includes('epochs'), besides.includes('sums')]
  const select: SqliteStatement<RowColumns> = connection.prepare(
    `SELECT ${hasEpochs ? listed('epoch') : 'NULL'} AS epochs, ${joined('fixed')} AS fixed, ${listed('number')} AS numbers,
       ${variable === undefined ? 'NULL' : listed('length(variable)')} AS lengths,
       ${variable === undefined ? 'NULL' : joined(bytes('variable'))} AS variable, ${hasSums ? joined('sum') : 'NULL'} AS sums
     FROM (SELECT epoch, ${fixed.map(bytes).join(' || ')} AS fixed, ${number} AS number,
       ${variable ?? 'NULL'} AS variable, ifnull(${bytes('sum')}, '   ') AS sum FROM ${name} ${where})`
  )
  return parameters => {
    const row = select.get(parameters)
    const numbers = toNumbers(row?.numbers)
    const found = {
      count: numbers.length,
      epochs: toNumbers(row?.epochs),
      fixed: row?.fixed ?? nothing,
      numbers,
      variable: row?.variable ?? nothing,
      variableEnds: toEnds(toNumbers(row?.lengths)),
      sums: row?.sums ?? nothing
    }
    const isWhole =
      found.fixed.length === rows.keyLength * found.count &&
      (!hasSums || found.sums.length === rowSumLength * found.count)
    if (!isWhole)
      throw new IndexDamagedError({ part }, 'the columns of a row have other lengths than were written')
    return found
  }
}

/** The hash of row i of such rows, not bound to its chain yet. */
export function hashOfRow({ rows, variable }: TableShape, found: KeyedRows, row: number): number {
  const number = found.numbers[row] ?? 0
  return hashRow(
    found.fixed,
    row * rows.keyLength,
    rows.keyLength,
    variable === undefined ? number : holdingNumber(variableOf(found, row), number)
  )
}

/** Makes the function that hashes a row by its key, bound to its chain and table; absent: there is no row before the first one. */
export function createKeyHash(shape: TableShape, chainId: number): (key: RowKey | undefined) => number {
  const bind = createRowHash(chainId, shape.keyed)
  return key => (key === undefined ? beforeFirstRow : bind(hashOfKey(shape, key)))
}

/** The hash of a row that is given by its key. */
function hashOfKey({ rows, fixed, variable }: TableShape, key: RowKey): number {
  const bytes = Buffer.concat(key.slice(0, fixed.length) as Uint8Array[])
  const number = Number(key.at(-1))
  // A damaged key may be longer or shorter: its hash then differs.
  return hashRow(
    bytes,
    0,
    rows.keyLength,
    variable === undefined ? number : holdingNumber(key[fixed.length] as Uint8Array, number)
  )
}

/** The key of a row that was read by itself. */
export function keyOf(shape: TableShape, row: SqlRow | undefined): RowKey | undefined {
  return row && columnsOf(shape).map(column => row[column] ?? null)
}

/** Prepares reading single rows by their positions in the order of a table's keys, and has the parts of SQL for others. */
export function createKeyOrder(connection: SqliteConnection, shape: TableShape) {
  const columns = columnsOf(shape)
  const list = columns.join(', ')
  const values = columns.map(() => '?').join(', ')
  const select = (comparison: string, direction: string) =>
    connection.prepare(
      `SELECT ${list}, sum FROM ${shape.name} WHERE epoch = ? AND (${list}) ${comparison} (${values})
       ORDER BY ${columns.map(column => `${column} ${direction}`).join(', ')} LIMIT 1`
    )
  const [before, upTo, after] = [select('<', 'DESC'), select('<=', 'DESC'), select('>', 'ASC')]
  return {
    ...{ list, values },
    before: (epoch: number, key: RowKey) => keyOf(shape, before.get([epoch, ...key])),
    /** The row with a key, or the one before it. */
    upTo: (epoch: number, key: RowKey) => keyOf(shape, upTo.get([epoch, ...key])),
    after(epoch: number, key: RowKey) {
      const row = after.get([epoch, ...key])
      const found = keyOf(shape, row)
      return found && { key: found, sum: row?.sum instanceof Uint8Array ? readRowSum(row.sum, 0) : undefined }
    }
  }
}

export function variableOf({ variable, variableEnds }: KeyedRows, row: number): Uint8Array {
  return variable.subarray(variableEnds[row - 1] ?? 0, variableEnds[row] ?? 0)
}

const nothing = new Uint8Array(0)

/** Reads a list of numbers, which are digits in the bytes. */
function toNumbers(text: Uint8Array | null | undefined): readonly number[] {
  const numbers: number[] = []
  if (text == null || text.length === 0) return numbers
  let sign = 1
  let value = 0
  for (const digit of text) {
    if (digit === comma) {
      numbers.push(sign * value)
      sign = 1
      value = 0
    } else if (digit === minus) sign = -1
    else value = value * 10 + digit - zero
  }
  numbers.push(sign * value)
  return numbers
}
const [comma, minus, zero] = [0x2c, 0x2d, 0x30]

function toEnds(lengths: readonly number[]): readonly number[] {
  let end = 0
  return lengths.map(length => {
    end += length
    return end
  })
}

/** Prepares inserting rows with their sums into one epoch. */
export function prepareInsert(
  connection: SqliteConnection,
  { name, fixed, variable, rows }: TableShape
): (epoch: number, found: KeyedRows, picked: readonly number[], sums: Uint8Array) => void {
  const { keyLength } = rows
  const width = keyLength / fixed.length
  const columns = fixed.map((_, i) => `substr(?2, ${1 + i * width} + key * ${keyLength}, ${width})`)
  const rest =
    variable === undefined
      ? 'value'
      : "ifnull(substr(?5, 1 + (value >> 16), (value >> 8) & 255), x''), value & 255"
  const insert = connection.prepare(
    `INSERT INTO ${name} SELECT ?1, ${columns.join(', ')}, ${rest}, substr(?3, 1 + key * ${rowSumLength}, ${rowSumLength})
     FROM json_each(?4)${variable === undefined ? ' WHERE ?5 IS NULL OR ?5 IS NOT NULL' : ''}`
  )
  return (epoch, found, picked, sums) => {
    if (picked.length === 0) return
    const isAll = picked.length === found.count
    const keys = isAll
      ? found.fixed
      : Buffer.concat(picked.map(row => found.fixed.subarray(row * keyLength, (row + 1) * keyLength)))
    const numbers = picked.map(row => {
      const number = found.numbers[row] ?? 0
      if (variable === undefined) return number
      const length = variableOf(found, row).length
      return ((found.variableEnds[row] ?? 0) - length) * 65_536 + length * 256 + number
    })
    insert.run([epoch, keys, sums, `[${numbers.join(',')}]`, found.variable])
  }
}
