import { sumOfRow } from '../shared/rowSums.ts'
import type { SqliteConnection, SqlValue } from './driver.ts'

/**
 * Prepares writing rows of a table together with their checksums.
 * @param columns - all but `sum`, in the order of the table.
 * @param verb - says what happens to a row with the same key.
 */
export function prepareSealed(
  connection: SqliteConnection,
  chainId: number,
  table: string,
  columns: readonly string[],
  verb: 'INSERT' | 'INSERT OR REPLACE' = 'INSERT'
): (values: readonly SqlValue[]) => void {
  const statement = connection.prepare(
    `${verb} INTO ${table} (${columns.join(', ')}, sum) VALUES (${'?, '.repeat(columns.length)}?)`
  )
  return values => {
    const row = Object.fromEntries(columns.map((column, place) => [column, values[place] ?? null]))
    statement.run([...values, sumOfRow(chainId, table, row)])
  }
}
