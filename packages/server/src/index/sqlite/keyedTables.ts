import type { SqliteConnection, SqlRow, SqlValue } from './driver.ts'

/** The columns of a row after the epoch; all of them are its key. */
type RowKey = readonly SqlValue[]

/** A table whose rows lie together by epoch, in pieces of bounded size. */
export interface KeyedTable {
  /**
   * Copies the next rows of the sources of a merge after the last one that the target has.
   * @param rows - about so many, a few more at most; rows that several sources have become one.
   * @returns whether there may be more.
   */
  copy(target: number, sources: readonly number[], rows: number): boolean
  /** Removes the first `rows` rows of an epoch. @returns whether there may be more. */
  remove(epoch: number, rows: number): boolean
}

interface TableShape {
  readonly name: string
  readonly columns: readonly string[]
  /** Several epochs may have the same key; they become one row. */
  readonly mayRepeat: boolean
  /** Sort before and after every key. */
  readonly lowest: RowKey
  readonly highest: RowKey
}

const nothing = Buffer.alloc(0)
/** Longer than any key that begins with the same bytes. */
const everything = Buffer.alloc(33, 0xff)

const shapes: readonly TableShape[] = [
  {
    name: 'address_tx',
    columns: ['address', 'tx_id'],
    mayRepeat: false,
    lowest: [nothing, -1],
    highest: [everything, 0]
  },
  {
    name: 'tx_hash',
    columns: ['key', 'tx_id'],
    mayRepeat: false,
    lowest: [nothing, -1],
    highest: [everything, 0]
  },
  {
    name: 'holding',
    columns: ['owner', 'contract', 'token_id', 'standard'],
    mayRepeat: true,
    lowest: [nothing, nothing, nothing, -1],
    highest: [everything, nothing, nothing, 0]
  }
]

/** Prepares all tables that lie by epoch, always in the same order. */
export function createKeyedTables(connection: SqliteConnection): readonly KeyedTable[] {
  return shapes.map(shape => createKeyedTable(connection, shape))
}

function createKeyedTable(
  connection: SqliteConnection,
  { name, columns, mayRepeat, lowest, highest }: TableShape
): KeyedTable {
  const list = columns.join(', ')
  const key = `(${list})`
  const values = `(${columns.map(() => '?').join(', ')})`
  const descending = columns.map(column => `${column} DESC`).join(', ')
  const selectLast = connection.prepare(
    `SELECT ${list} FROM ${name} WHERE epoch = ? ORDER BY ${descending} LIMIT 1`
  )
  const selectNth = connection.prepare(
    `SELECT ${list} FROM ${name} WHERE epoch = ? AND ${key} > ${values} ORDER BY ${list} LIMIT 1 OFFSET ?`
  )
  const copyRange = connection.prepare(
    `INSERT ${mayRepeat ? 'OR IGNORE ' : ''}INTO ${name} SELECT ?, ${list} FROM ${name}
     WHERE epoch IN (SELECT epoch FROM merge_source) AND ${key} > ${values} AND ${key} <= ${values} ORDER BY ${list}`
  )
  const removeRange = connection.prepare(`DELETE FROM ${name} WHERE epoch = ? AND ${key} <= ${values}`)
  const keyOf = (row: SqlRow | undefined): RowKey | undefined =>
    row && columns.map(column => row[column] ?? null)

  return {
    copy(target, sources, rows) {
      const after = keyOf(selectLast.get([target])) ?? lowest
      // Each source has at most so many rows up to the lowest of these keys.
      const share = Math.max(1, Math.floor(rows / sources.length))
      const ends = sources.flatMap(source => {
        const end = keyOf(selectNth.get([source, ...after, share - 1]))
        return end === undefined ? [] : [end]
      })
      copyRange.run([target, ...after, ...(ends.sort(compareKeys)[0] ?? highest)])
      return ends.length > 0
    },
    remove(epoch, rows) {
      const end = keyOf(selectNth.get([epoch, ...lowest, rows - 1]))
      removeRange.run([epoch, ...(end ?? highest)])
      return end !== undefined
    }
  }
}

function compareKeys(a: RowKey, b: RowKey): number {
  for (const [i, left] of a.entries()) {
    const right = b[i]
    const order =
      left instanceof Uint8Array && right instanceof Uint8Array
        ? Buffer.compare(left, right)
        : Number(left) - Number(right)
    if (order !== 0) return order
  }
  return 0
}
