import { type Damage, IndexDamagedError } from '../platform/errors.ts'
import { partOf, startOfPart, sumOfKey } from '../record/keyParts.ts'
import type { ReadTransaction, WriteTransaction } from '../runs/Transaction.ts'
import { rowLists } from './sets.ts'

/** A table whose keys are counted by their first bits, so that a lost or altered one shows where it is looked for. */
interface CountedTable {
  readonly id: number
  readonly name: string
  readonly key: string
  /** SQL for the number that belongs to the key. */
  readonly number: string
  readonly part: Damage['part']
}

export const poolAddresses: CountedTable = {
  ...{ id: 0, name: 'pool_address', key: 'address', number: 'pool_id' },
  part: 'poolEntry'
}

export const reorgedHashes: CountedTable = {
  ...{ id: 1, name: 'reorged', key: 'prefix', number: '0' },
  part: 'undo'
}

/** A key and its number. */
export type CountedKey = readonly [key: Uint8Array, number: number]

/** Counts keys of a table. @param sign - 1: rows with these keys are added; -1: they are removed. */
export async function countKeys(
  transaction: WriteTransaction,
  { id }: CountedTable,
  counted: readonly CountedKey[],
  sign: 1 | -1
): Promise<void> {
  const parts = new Map<number, readonly [keys: number, total: number]>()
  for (const each of counted) {
    const part = partOf(each[0])
    const [keys, total] = parts.get(part) ?? [0, 0]
    parts.set(part, [keys + sign, (total + sign * sumOfKey(...each)) >>> 0])
  }
  for (const list of rowLists([...parts])) {
    await transaction.run(
      `INSERT INTO key_part (keyed, part, keys, total) VALUES ${list.map(() => '(?, ?, ?, ?)').join(', ')}
       ON CONFLICT (keyed, part) DO UPDATE
       SET keys = key_part.keys + excluded.keys, total = (key_part.total + excluded.total) & 4294967295`,
      list.flatMap(([part, change]) => [id, part, ...change])
    )
  }
}

/** Deletes the rows of a table with their counts. */
export async function deleteCounted(
  transaction: WriteTransaction,
  { id, name }: CountedTable
): Promise<void> {
  await transaction.run(`DELETE FROM ${name}`)
  await transaction.run('DELETE FROM key_part WHERE keyed = ?', [id])
}

/**
 * Reads the numbers of the rows with a key.
 * @throws {IndexDamagedError} keys that begin like this one are not those that were written.
 */
export async function provenNumbers(
  transaction: ReadTransaction,
  { id, name, key: column, number, part }: CountedTable,
  key: Uint8Array
): Promise<readonly number[]> {
  const own = partOf(key)
  const rows = await transaction.all<{ key: Uint8Array | null; number: number; total: number | null }>(
    `SELECT ${column} AS key, ${number} AS number, NULL AS total FROM ${name} WHERE ${column} >= ? AND ${column} < ?
     UNION ALL SELECT NULL, keys, total FROM key_part WHERE keyed = ? AND part = ?`,
    [startOfPart(own), startOfPart(own + 1), id, own]
  )
  const found = rows.flatMap((row): CountedKey[] => (row.key === null ? [] : [[row.key, row.number]]))
  const written = rows.find(row => row.key === null) ?? { number: 0, total: 0 }
  const total = found.reduce((sum, each) => (sum + sumOfKey(...each)) >>> 0, 0)
  if (found.length !== written.number || total !== written.total) {
    const detail = `${found.length} keys of ${name}, expected ${written.number} others`
    throw new IndexDamagedError({ part }, detail)
  }
  return found.flatMap(([each, its]) => (Buffer.compare(each, key) === 0 ? its : []))
}
