import { sumOfRow } from '../shared/rowSums.ts'
import type { SqliteConnection, SqlRow } from './driver.ts'
import { createKeyParts, poolAddresses, reorgedHashes } from './keyParts.ts'

/** The step of the schema that brought checksums and counted keys. */
const sealedVersion = 7

/** Tables whose rows are given checksums at once, and their keys: they are short. The large ones stay as they are. */
const shortTables = { writer_report: 'id', undo: 'block', reorged: 'hash', pool: 'id', first_seen: 'hash' }

/**
 * Gives the rows of an older program their checksums, and the row of `meta` its own again after any step: a step may have
 * changed its columns. Runs in the transaction of the step.
 */
export function sealOldRows(connection: SqliteConnection, version: number): void {
  const chainId = Number(connection.prepare<SqlRow>('SELECT * FROM meta').get([])?.chain_id ?? 0)
  if (version < sealedVersion || chainId === 0) return
  if (version === sealedVersion) {
    connection.exec('UPDATE meta SET head = (SELECT max(number) FROM block)')
    for (const [table, key] of Object.entries(shortTables)) {
      const put = connection.prepare(`UPDATE ${table} SET sum = ? WHERE ${key} = ?`)
      for (const row of connection.prepare<SqlRow>(`SELECT * FROM ${table}`).all([])) {
        put.run([sumOfRow(chainId, table, row), row[key] ?? null])
      }
    }
    for (const table of [poolAddresses, reorgedHashes]) {
      const parts = createKeyParts(connection, table)
      const number = 'number' in table ? table.number : 0
      const keys = connection.prepare<{ key: Uint8Array; number: number }>(
        `SELECT ${table.key} AS key, ${number} AS number FROM ${table.name}`
      )
      for (const row of keys.all([])) parts.change(row.key, row.number, 1)
    }
  }
  sealMeta(connection)
}

/** Writes the checksum of the row of `meta`, once all that changes it has been done. */
export function sealMeta(connection: SqliteConnection): void {
  const row = connection.prepare<SqlRow>('SELECT * FROM meta').get([])
  if (row === undefined) return
  connection.prepare('UPDATE meta SET sum = ?').run([sumOfRow(Number(row.chain_id), 'meta', row)])
}
