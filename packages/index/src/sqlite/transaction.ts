import type {
  FoundRecords,
  ReadTransaction,
  Row,
  Value,
  WritableStore,
  WriteTransaction
} from '../runs/Transaction.ts'
import { prepareChunkReads, prepareChunkWrites } from './chunks.ts'
import { rollBack, type SqliteConnection, type SqliteStatement } from './driver.ts'

/** Number of records that one statement inserts. */
const recordsAtOnce = 200

/** Prepares the reads of a connection. They see what its transaction sees. */
export function createReadTransaction(connection: SqliteConnection): ReadTransaction {
  const prepare = createStatements(connection)
  /**
   * Records as one row, because each row costs several times what reading its record does: one after the other. As text they are joined
   * byte for byte. Outer join, so that a missing record shows.
   */
  const records = connection.prepare<{
    missing: number | null
    lengths: string | null
    bytes: Uint8Array | null
  }>(
    `SELECT max(iif(rec IS NULL, wanted.value, NULL)) AS missing, group_concat(length(rec)) AS lengths,
       CAST(group_concat(CAST(rec AS TEXT), '') AS BLOB) AS bytes
     FROM json_each(?) AS wanted LEFT JOIN tx ON tx.id = wanted.value`
  )
  return {
    ...prepareChunkReads(connection),
    // A page of the usual size. More would be no quicker, but be collected late as garbage, and make other requests wait longer.
    recordsAtOnce: 128,
    all: async <R extends object = Row>(text: string, values: readonly Value[] = []) =>
      prepare(text).all(values) as unknown as readonly R[],
    async recordsOf(ids): Promise<FoundRecords | { readonly missing: number }> {
      if (ids.length === 0) return { bytes: new Uint8Array(0), lengths: [] }
      const { missing, lengths, bytes } = records.get([JSON.stringify(ids)]) ?? {}
      if (typeof missing === 'number') return { missing }
      return { bytes: bytes ?? new Uint8Array(0), lengths: (lengths ?? '').split(',').map(Number) }
    }
  }
}

/** Prepares the writes of a connection, for its transactions. */
function createWriteTransaction(connection: SqliteConnection): WriteTransaction {
  const prepare = createStatements(connection)
  const chunks = prepareChunkWrites(connection)
  const insertRecord = connection.prepare('INSERT INTO tx VALUES (?, ?)')
  const insertRecords = connection.prepare(
    `INSERT INTO tx VALUES ${Array.from({ length: recordsAtOnce }, () => '(?, ?)').join(', ')}`
  )
  return {
    ...createReadTransaction(connection),
    run: async (text, values = []) => void prepare(text).run(values),
    async insert(table, columns, rows) {
      const statement = prepare(
        `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
      )
      for (const row of rows) statement.run(row)
    },
    async putRecords(ids, records, ends) {
      const recordAt = (row: number) => records.subarray(ends[row - 1] ?? 0, ends[row])
      let row = 0
      // One call of a statement costs as much as its row.
      for (; row + recordsAtOnce <= ids.length; row += recordsAtOnce) {
        const values: Value[] = []
        for (let i = row; i < row + recordsAtOnce; i++) values.push(ids[i] ?? 0, recordAt(i))
        insertRecords.run(values)
      }
      for (; row < ids.length; row++) insertRecord.run([ids[row] ?? 0, recordAt(row)])
    },
    putChunks: async written => chunks.put(written),
    runAfter: async number => chunks.runAfter(number),
    dropChunks: async (run, most) => chunks.drop(run, most)
  }
}

/**
 * Creates the writer's store over a connection.
 * @param onClose - called once the connection is closed.
 */
export function createWritableStore(connection: SqliteConnection, onClose = () => {}): WritableStore {
  const transaction = createWriteTransaction(connection)
  let isOpen = false
  return {
    reads: transaction,
    async write(work) {
      // Its failure would take the other one back.
      if (isOpen) throw new Error('a transaction of this store is open; expected one at a time')
      isOpen = true
      try {
        // Inside: one that fails may have begun the transaction.
        connection.exec('BEGIN IMMEDIATE')
        connection.guard?.()
        const result = await work(transaction)
        connection.exec('COMMIT')
        return result
      } catch (error) {
        rollBack(connection)
        // A lost file is the true reason for whatever SQLite says of it.
        connection.guard?.()
        throw error
      } finally {
        isOpen = false
      }
    },
    async close() {
      try {
        connection.close()
      } finally {
        onClose()
      }
    }
  }
}

function createStatements(connection: SqliteConnection): (text: string) => SqliteStatement {
  const prepared = new Map<string, SqliteStatement>()
  return text => {
    let statement = prepared.get(text)
    if (statement === undefined) {
      statement = connection.prepare(text)
      prepared.set(text, statement)
    }
    return statement
  }
}
