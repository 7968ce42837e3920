import { IndexDamagedError } from '../platform/errors.ts'
import { hashRow } from '../record/rowChecksums.ts'
import { beforeFirstRow, createRowHash, readRowSum, rowSum, rowSumLength } from '../record/rowSum.ts'
import type { SqliteConnection } from './driver.ts'
import { createEpochEnds, proofs } from './epochSums.ts'
import type { Epoch } from './epochs.ts'
import type { TableShape } from './tableShapes.ts'

/** Ids of one key in one epoch. */
export interface EpochIds {
  readonly epoch: Epoch
  /** Newest first. */
  readonly ids: readonly number[]
}

interface EpochColumns {
  /** The row after those asked for: key, sum, id. */
  readonly above: Uint8Array | null
  /** Those asked for, newest first: of each its sum and its id. */
  readonly own: Uint8Array | null
  /** The row before all of the key: key, id. */
  readonly below: Uint8Array | null
}

/**
 * Prepares reading the ids of a key in epochs that are not added to any more. Where rows have sums, they are compared along with
 * the rows next to them, so that nothing between them can be missing or altered.
 */
export function createLinkedRows(connection: SqliteConnection, shape: TableShape, chainId: number) {
  const { name, number, keyed, part } = shape
  const { keyLength } = shape.rows
  const [column] = shape.fixed
  const bind = createRowHash(chainId, keyed)
  const sum = "ifnull(CAST(sum AS TEXT), '   ')"
  const select = connection.prepare<EpochColumns>(
    `SELECT
       (SELECT CAST(CAST(${column} AS TEXT) || ${sum} || ${number} AS BLOB) FROM ${name}
        WHERE epoch = asked.value AND (${column}, ${number}) >= (?2, ?3) ORDER BY ${column}, ${number} LIMIT 1) AS above,
       (SELECT CAST(group_concat(row) AS BLOB) FROM (SELECT ${sum} || ${number} AS row FROM ${name}
        WHERE epoch = asked.value AND ${column} = ?2 AND ${number} < ?3 ORDER BY ${number} DESC LIMIT ?4 + 0)) AS own,
       (SELECT CAST(CAST(${column} AS TEXT) || ${number} AS BLOB) FROM ${name}
        WHERE epoch = asked.value AND ${column} < ?2 ORDER BY ${column} DESC, ${number} DESC LIMIT 1) AS below
     FROM json_each(?1) AS asked`
  )
  const ends = createEpochEnds(connection, shape)
  const hashOf = (key: Uint8Array, id: number) => bind(hashRow(key, 0, keyLength, id))

  /** @param before - all ids are below this one. */
  const check = (
    epoch: number,
    row: EpochColumns,
    own: Own,
    key: Uint8Array,
    before: number,
    limit: number
  ) => {
    const { above, below } = row
    const refuse = (detail: string): never => {
      throw new IndexDamagedError({ part, epoch, key: Buffer.from(key).toString('hex') }, detail)
    }
    const { ids, sums } = own
    // What the sum of the row above says of the row below it.
    let expected: number
    if (above === null) {
      expected = ends.read(epoch) ?? -1
    } else {
      const id = readNumber(above, keyLength + rowSumLength).value
      const order = Buffer.compare(above.subarray(0, keyLength), key)
      if (order < 0 || (order === 0 && id < before)) refuse('rows are out of order')
      expected = rowSum(hashOf(above, id), readRowSum(above, keyLength))
    }
    let last = before
    for (const [i, id] of ids.entries()) {
      const hash = hashOf(key, id)
      if (hash !== expected || id >= last) refuse('a row does not follow the one before it')
      expected = rowSum(hash, sums[i] ?? 0)
      last = id
    }
    if (ids.length === limit) return
    if (below !== null && Buffer.compare(below.subarray(0, keyLength), key) >= 0)
      refuse('rows are out of order')
    const hash = below === null ? beforeFirstRow : hashOf(below, readNumber(below, keyLength).value)
    if (hash !== expected) refuse('a row does not follow the one before it')
  }

  /**
   * Reads the newest ids of a key below `before`.
   * @param limit - at most so many of each epoch.
   * @throws {IndexDamagedError} they are not what was written.
   */
  return (epochs: readonly Epoch[], key: Uint8Array, before: number, limit: number): readonly EpochIds[] => {
    const rows = select.all([JSON.stringify(epochs.map(({ id }) => id)), key, before, limit])
    return rows.map((row, i) => {
      const epoch = epochs[i] as Epoch
      const own = toOwn(row.own)
      if (epoch.proof === proofs.rows) check(epoch.id, row, own, key, before, limit)
      return { epoch, ids: own.ids }
    })
  }
}

/** Ids, and the sum of each. */
interface Own {
  readonly ids: readonly number[]
  readonly sums: readonly number[]
}

function toOwn(bytes: Uint8Array | null): Own {
  const ids: number[] = []
  const sums: number[] = []
  for (let at = 0; bytes !== null && at < bytes.length; ) {
    sums.push(readRowSum(bytes, at))
    const { value, end } = readNumber(bytes, at + rowSumLength)
    ids.push(value)
    at = end + 1
  }
  return { ids, sums }
}

/** Reads digits. @returns also the position after them. */
function readNumber(bytes: Uint8Array, at: number): { readonly value: number; readonly end: number } {
  let value = 0
  let end = at
  for (; end < bytes.length; end++) {
    const digit = (bytes[end] ?? 0) - 48
    if (digit < 0 || digit > 9) break
    value = value * 10 + digit
  }
  return { value, end }
}
