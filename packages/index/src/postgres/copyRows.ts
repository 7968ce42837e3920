import type { Value } from '../runs/Transaction.ts'
import { requireInteger } from './literals.ts'

/** The signature, no flags, no extension. */
const head = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)])
/** Bytes of `bigint`. */
const bigintWidth = 8

/**
 * Returns rows for `COPY .. FROM STDIN (FORMAT binary)`: the server takes values as they are.
 * @param widths - bytes of the integers in each column, where they are no `bigint`.
 * @see https://www.postgresql.org/docs/current/sql-copy.html
 */
export function copyRows(rows: readonly (readonly Value[])[], widths: readonly number[] = []): Buffer {
  const size = rows.reduce(
    (sum, row) => row.reduce((bytes: number, value) => bytes + sizeOf(value), sum + 2),
    0
  )
  const copied = Buffer.allocUnsafe(head.length + size + 2)
  let at = head.copy(copied)
  for (const row of rows) {
    at = copied.writeInt16BE(row.length, at)
    for (let i = 0; i < row.length; i++) at = put(copied, at, row[i] ?? null, widths[i] ?? bigintWidth)
  }
  return copied.subarray(0, copied.writeInt16BE(-1, at))
}

/** Bytes of a value and of its length; an integer may need fewer. */
function sizeOf(value: Value): number {
  if (value === null) return 4
  if (typeof value === 'number') return 4 + bigintWidth
  return 4 + (typeof value === 'string' ? Buffer.byteLength(value) : value.length)
}

/** @returns where it ends. */
function put(copied: Buffer, start: number, value: Value, width: number): number {
  if (value === null) return copied.writeInt32BE(-1, start)
  const at = start + 4
  if (typeof value === 'number') {
    const integer = requireInteger(value)
    copied.writeInt32BE(width, start)
    if (width < bigintWidth) return copied.writeIntBE(integer, at, width)
    const high = Math.floor(integer / 2 ** 32)
    return copied.writeUInt32BE(integer - high * 2 ** 32, copied.writeInt32BE(high, at))
  }
  if (typeof value === 'string') {
    const length = copied.write(value, at)
    return copied.writeInt32BE(length, start) + length
  }
  copied.set(value, at)
  return copied.writeInt32BE(value.length, start) + value.length
}
