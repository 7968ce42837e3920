import { crc32 } from 'node:zlib'
import { type Damage, IndexDamagedError } from '../platform/errors.ts'

/** A row by the names of its columns, in the order of the table. */
type SummedRow = Readonly<Record<string, string | number | Uint8Array | null>>

/**
 * Computes the checksum of a row: CRC-32 over its chain, its table, and the names and values of its columns, as a signed number
 * of 32 bits. Its column `sum` is left out, and so are empty columns: a later version may add some.
 */
export function sumOfRow(chainId: number, table: string, row: object): number {
  let text = `${chainId} ${table}`
  for (const [name, value] of Object.entries(row as SummedRow)) {
    if (name === 'sum' || value === null) continue
    text += `\n${name} ${value instanceof Uint8Array ? toText(value) : value}`
  }
  return crc32(text) | 0
}

/** Checks the checksum of a row. @throws {IndexDamagedError} it differs, or is missing. */
export function checkRow<T extends { readonly sum: number | null }>(
  chainId: number,
  table: string,
  row: T,
  damage: Damage
): T {
  if (row.sum === sumOfRow(chainId, table, row)) return row
  throw new IndexDamagedError(damage, row.sum === null ? 'it has no checksum' : 'its checksum differs')
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}
