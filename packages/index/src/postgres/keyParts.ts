import { type Damage, IndexDamagedError } from '../platform/errors.ts'

/*
 * Sums of rows that are found by key, so that a lost or altered one shows where it is looked for. The keys of a table are divided
 * into parts by their first bits. `key_part` has, for each part, the exclusive or of the hashes of its rows: adding a row changes
 * it as removing the row does.
 */

/** A table whose rows are counted. */
interface CountedTable {
  readonly id: number
  readonly name: string
  readonly key: string
  /** First bits of the key that make its part. */
  readonly bits: number
  /** SQL for the hash of a row. */
  readonly hash: string
  readonly part: Damage['part']
}

export const poolAddresses: CountedTable = {
  ...{ id: 0, name: 'pool_address', key: 'address', bits: 12 },
  hash: 'hash_array_extended(ARRAY[address], pool_id)',
  part: 'poolEntry'
}

export const reorgedHashes: CountedTable = {
  ...{ id: 1, name: 'reorged', key: 'hash', bits: 12 },
  hash: 'hash_array_extended(ARRAY[hash], 0)',
  part: 'undo'
}

/** Fewer parts: a commit changes most of them. */
export const candidates: CountedTable = {
  ...{ id: 2, name: 'holding', key: 'owner', bits: 8 },
  hash: 'hash_array_extended(ARRAY[owner, contract, token_id], standard)',
  part: 'candidate'
}

/** The key is the part. */
export const directoryRows: CountedTable = {
  ...{ id: 3, name: 'directory', key: 'bucket', bits: 16 },
  hash: "hash_array_extended(ARRAY[coalesce(prints, '\\x00')], partition)",
  part: 'addressRow'
}

const countedTables = [poolAddresses, reorgedHashes, candidates, directoryRows]

/** Returns a statement that carries out `change`, an INSERT or a DELETE, and counts the rows that it adds or removes. */
export function countedChange(table: CountedTable, change: string): string {
  return `WITH changed AS (${change} RETURNING ${table.name}.*) ${countRows(table, 'changed')}`
}

/** Returns a statement that counts rows of a table in, or out. @param rows - SQL for them, as of FROM. */
export function countRows(table: CountedTable, rows: string): string {
  return `INSERT INTO key_part SELECT ${table.id}, ${partOf(table)}, bit_xor(${table.hash}) FROM ${rows} GROUP BY 2
    ON CONFLICT (keyed, part) DO UPDATE SET total = key_part.total # excluded.total`
}

/** Returns a statement that forgets the sums of a table. @param part - only the one of this part. */
export function forgetSums({ id }: CountedTable, part?: number): string {
  return `DELETE FROM key_part WHERE keyed = ${id}${part === undefined ? '' : ` AND part = ${part}`}`
}

/** Returns statements that take the rows of a part for those that were written. */
export function acceptPart(table: CountedTable, part: number): readonly string[] {
  return [
    forgetSums(table, part),
    countRows(table, `${table.name} WHERE ${inParts(table, String(part), String(part + 1))}`)
  ]
}

/**
 * Returns SQL, as of FROM, for one row that says whether the rows of the part that a key is in are those that were written.
 * @param schema - with its dot. @param found - SQL for a further column, of the same rows.
 */
export function countedPart(table: CountedTable, schema: string, key: string, found?: string): string {
  const part = partOf({ ...table, key })
  const isWhole = `coalesce(bit_xor(${table.hash}), 0) = ${writtenSum(table, schema, part)} AS "isWhole"`
  return `(SELECT ${found === undefined ? isWhole : `${isWhole}, ${found}`}
    FROM ${schema}${table.name} WHERE ${inParts(table, part, `${part} + 1`)}) counted`
}

/** Returns SQL for the sum that was written of a part. @param schema - with its dot. */
export function writtenSum({ id }: CountedTable, schema: string, part: string): string {
  return `coalesce((SELECT total FROM ${schema}key_part WHERE keyed = ${id} AND part = ${part}), 0)`
}

/** Returns SQL for the parts of a table, as `keyed` and `part`, that are not what was written: from one up to, but not with, another. */
export function damagedParts(table: CountedTable, first: string, end: string, schema = ''): string {
  return `SELECT ${table.id} AS keyed, part FROM (
      SELECT ${partOf(table)} AS part, ${table.hash} AS total FROM ${schema}${table.name} WHERE ${inParts(table, first, end)}
      UNION ALL SELECT part, total FROM ${schema}key_part WHERE keyed = ${table.id} AND part >= ${first} AND part < ${end}
    ) summed GROUP BY part HAVING bit_xor(total) <> 0`
}

/** Returns the same of all tables. @param first - number of 12 bits, as `end`. */
export function allDamagedParts(first: string, end: string, schema: string): string {
  const ofBits = (part: string, bits: number) =>
    bits < 12 ? `((${part} + ${2 ** (12 - bits) - 1}) >> ${12 - bits})` : `(${part} << ${bits - 12})`
  return countedTables
    .map(table => damagedParts(table, ofBits(first, table.bits), ofBits(end, table.bits), schema))
    .join(' UNION ALL ')
}

/** What a read by key says besides the row that it finds, also where it finds none. */
export interface CountedRead {
  /** The rows of the part are those that were written. */
  readonly isWhole: boolean
  readonly isFound: boolean
}

/** @throws {IndexDamagedError} a row of the part is lost or altered. */
export function requireWhole<T extends CountedRead>(
  { part, name }: CountedTable,
  rows: readonly T[]
): readonly T[] {
  if (rows[0]?.isWhole) return rows.filter(({ isFound }) => isFound)
  throw new IndexDamagedError({ part }, `keys of ${name} are not those that were written`)
}

export interface DamagedPart {
  readonly keyed: number
  readonly part: number
}

/** Names a part whose rows are damaged: no block is, so its key has one or two bytes alone. */
export function partDamage({ keyed, part }: DamagedPart): Damage {
  const { bits, part: name } = countedTables[keyed] ?? directoryRows
  if (name !== 'candidate' && name !== 'addressRow') return { part: name }
  return { part: name, key: part.toString(16).padStart(bits / 4, '0') }
}

/** Returns the part of a table that damage names. */
export function damagedPart(
  { part: name, bits }: CountedTable,
  { part, key = '' }: Damage
): number | undefined {
  return part === name && key.length === bits / 4 ? Number.parseInt(key, 16) : undefined
}

/** Keys of damaged rows may be too short. */
function partOf({ key, bits }: Pick<CountedTable, 'key' | 'bits'>): string {
  if (key === directoryRows.key) return key
  const byte = (at: number) => `get_byte(${key} || '\\x0000'::bytea, ${at})`
  return bits === 8 ? byte(0) : `((${byte(0)} << 8 | ${byte(1)}) >> ${16 - bits})`
}

function inParts({ key, bits }: CountedTable, first: string, end: string): string {
  const start = (part: string) =>
    key === directoryRows.key
      ? part
      : `CASE WHEN ${part} < ${2 ** bits} THEN rtrim(substring(int4send((${part}) << ${16 - bits}) FROM 3), '\\x00'::bytea) ELSE decode(repeat('ff', 33), 'hex') END`
  return `${key} >= ${start(first)} AND ${key} < ${start(end)}`
}
