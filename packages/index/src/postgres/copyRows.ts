import { toHex } from '../record/hexBytes.ts'
import type { Chunk } from '../runs/chunk.ts'
import type { Value } from '../runs/Transaction.ts'
import { CopyBuffer } from './copyBuffer.ts'
import { integerText } from './literals.ts'

/** Returns rows for `COPY .. FROM STDIN`, as text: the server knows the types of the columns. */
export function copyRows(rows: readonly (readonly Value[])[]): Buffer {
  return Buffer.from(rows.map(row => `${row.map(field).join('\t')}\n`).join(''))
}

function field(value: Value): string {
  if (value === null) return '\\N'
  if (typeof value === 'number') return integerText(value)
  if (typeof value !== 'string') return `\\\\x${toHex(value).slice(2)}`
  return value.replace(/[\\\t\n\r]/g, character => escapes[character] ?? character)
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

/** Returns rows of `tx (id, rec)` for `COPY .. FROM STDIN (FORMAT binary)`. @param ends - where each record ends. */
export function copyRecords(ids: Float64Array, records: Uint8Array, ends: Uint32Array): Buffer {
  const rows = new CopyBuffer(ids.length * (2 + 2 * 4 + 8) + records.length)
  let start = 0
  for (let i = 0; i < ids.length; i++) {
    const end = ends[i] ?? start
    rows.begin(2)
    rows.bigint(ids[i] ?? 0)
    rows.bytes(records, start, end)
    start = end
  }
  return rows.finish()
}

/** Returns rows of `chunk (run, number, section, lower, bytes)` for `COPY .. FROM STDIN (FORMAT binary)`. */
export function copyChunks(chunks: readonly Chunk[]): Buffer {
  const bytes = chunks.reduce((sum, { lower, bytes }) => sum + lower.length + bytes.length, 0)
  const rows = new CopyBuffer(chunks.length * (2 + 5 * 4 + 8 + 4 + 2) + bytes)
  for (const { run, number, section, lower, bytes } of chunks) {
    rows.begin(5)
    rows.bigint(run)
    rows.integer(number)
    rows.smallint(section)
    rows.bytes(lower)
    rows.bytes(bytes)
  }
  return rows.finish()
}
