import { toTransactionId } from '../src/record/transactionId.ts'
import type { SqliteDriver } from '../src/sqlite/driver.ts'
import { loadSqliteDriver } from '../src/sqlite/loadDriver.ts'
import { openSqliteByHand } from './sqliteByHand.ts'
import type { StoredRow } from './store.contract.ts'

/** Deletes one row of the index of one chain past its writer. @returns puts it back. */
export function loseSqliteRow(
  folder: string,
  chainId: number,
  row: StoredRow,
  driver: SqliteDriver = loadSqliteDriver()
): () => void {
  const { withFile } = openSqliteByHand(folder, chainId, driver)
  const [column, key] = row.table === 'block' ? ['number', row.number] : ['id', toTransactionId(row.position)]
  const values = withFile(connection => {
    const [lost] = connection.prepare(`SELECT * FROM ${row.table} WHERE ${column} = ?`).all([key])
    if (lost === undefined) throw new Error(`there is no row ${JSON.stringify(row)}`)
    connection.prepare(`DELETE FROM ${row.table} WHERE ${column} = ?`).run([key])
    return Object.values(lost)
  })
  const places = values.map(() => '?').join(', ')
  return () =>
    withFile(connection => {
      connection.prepare(`INSERT INTO ${row.table} VALUES (${places})`).run(values)
    })
}
