import { type Damage, IndexDamagedError } from '../platform/errors.ts'
import { hashRow, partOf } from '../record/rowChecksums.ts'
import type { SqliteConnection } from './driver.ts'
import { startOfPart } from './partSums.ts'

/** A table whose keys are counted, so that a lost or altered one shows where it is looked for. */
interface CountedTable {
  readonly id: number
  readonly name: string
  readonly key: string
  /** Second column of the key; absent: it has one column. */
  readonly number?: string
  readonly part: Damage['part']
}

export const poolAddresses = {
  ...{ id: 0, name: 'pool_address', key: 'address', number: 'pool_id' },
  part: 'poolEntry'
} as const satisfies CountedTable

export const reorgedHashes = {
  ...{ id: 1, name: 'reorged', key: 'hash' },
  part: 'undo'
} as const satisfies CountedTable

/** Prepares counting the keys of a table, by their first bits. Every call of `change` runs inside the caller's transaction. */
export function createKeyParts(connection: SqliteConnection, { id, name, key, number, part }: CountedTable) {
  const add = connection.prepare(
    `INSERT INTO key_part VALUES (${id}, ?1, ?2, ?3 & 4294967295) ON CONFLICT (keyed, part)
     DO UPDATE SET rows = rows + ?2, total = (total + ?3) & 4294967295`
  )
  const written = connection.prepare<{ rows: number; total: number }>(
    `SELECT rows, total FROM key_part WHERE keyed = ${id} AND part = ?`
  )
  const found = connection.prepare<{ key: Uint8Array; number: number }>(
    `SELECT ${key} AS key, ${number ?? 0} AS number FROM ${name} WHERE ${key} >= ? AND ${key} < ?`
  )
  return {
    /** @param sign - 1: a row with this key is added; -1: it is removed. */
    change(bytes: Uint8Array, ofNumber: number, sign: 1 | -1): void {
      add.run([partOf(bytes, 0), sign, sign * sumOf(bytes, ofNumber)])
    },
    /** @throws {IndexDamagedError} a key that begins like this one is not what was written. */
    prove(bytes: Uint8Array): void {
      const own = partOf(bytes, 0)
      const rows = found.all([startOfPart(own), startOfPart(own + 1)])
      const total = rows.reduce((sum, row) => (sum + sumOf(row.key, row.number)) % 2 ** 32, 0)
      const expected = written.get([own]) ?? { rows: 0, total: 0 }
      if (rows.length === expected.rows && total === expected.total) return
      throw new IndexDamagedError(
        { part },
        `${rows.length} keys of ${name}, expected ${expected.rows} others`
      )
    },
    clear(): void {
      connection.exec(`DELETE FROM key_part WHERE keyed = ${id}`)
    }
  }
}

function sumOf(key: Uint8Array, number: number): number {
  return hashRow(key, 0, key.length, number)
}
