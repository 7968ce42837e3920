import type { Hash } from '../src/model/evm.ts'
import { addressBytes, hashKey } from '../src/record/hexBytes.ts'
import { type TransactionPosition, toTransactionId } from '../src/record/transactionId.ts'
import type { SqliteDriver, SqlValue } from '../src/sqlite/driver.ts'
import { loadSqliteDriver } from '../src/sqlite/loadDriver.ts'
import { chainFiles } from '../src/sqlite/open.ts'
import type { StoredRow } from './store.contract.ts'

/** Also what only SQLite keeps in rows. */
export type SqliteRow =
  | StoredRow
  | { readonly table: 'tx_hash'; readonly hash: Hash; readonly position: TransactionPosition }

/** Deletes one row of the index of one chain past its writer. @returns puts it back. */
export function loseSqliteRow(
  folder: string,
  chainId: number,
  row: SqliteRow,
  driver: SqliteDriver = loadSqliteDriver()
): () => void {
  const path = chainFiles(folder, chainId).database
  const withFile = <T>(work: (connection: ReturnType<SqliteDriver['open']>) => T): T => {
    const connection = driver.open(path, { busyTimeoutMs: 5000 })
    try {
      return work(connection)
    } finally {
      connection.close()
    }
  }
  const [where, key] = keyOf(row)
  const lost = withFile(connection => {
    const rows = connection.prepare(`SELECT * FROM ${row.table} WHERE ${where}`).all(key)
    connection.prepare(`DELETE FROM ${row.table} WHERE ${where}`).run(key)
    return rows
  })
  const [values, another] = lost.map(found => Object.values(found))
  if (values === undefined || another !== undefined) {
    throw new Error(`${lost.length} rows are like ${JSON.stringify(row)}, expected 1`)
  }
  const places = values.map(() => '?').join(', ')
  return () =>
    withFile(connection => {
      connection.prepare(`INSERT INTO ${row.table} VALUES (${places})`).run(values)
    })
}

/** Of epochs that are still being merged, or removed, nobody reads the rows. */
function keyOf(row: SqliteRow): readonly [where: string, values: readonly SqlValue[]] {
  if (row.table === 'block') return ['number = ?', [row.number]]
  const id = toTransactionId(row.position)
  if (row.table === 'tx') return ['id = ?', [id]]
  const [column, key] =
    row.table === 'tx_hash' ? ['key', hashKey(row.hash)] : ['address', addressBytes(row.address)]
  return [`epoch IN (SELECT id FROM epoch) AND ${column} = ? AND tx_id = ?`, [key, id]]
}
