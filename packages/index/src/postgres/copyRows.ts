import { toHex } from '../record/hexBytes.ts'
import type { Chunk } from '../runs/chunk.ts'
import type { Value } from '../runs/Transaction.ts'
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
  const rows = new BinaryRows(ids.length * (2 + 2 * 4 + 8) + records.length)
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
  const rows = new BinaryRows(chunks.length * (2 + 5 * 4 + 8 + 4 + 2) + bytes)
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

/** The signature, no flags, no extension. */
const head = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)])
/** Bytes of a value that is copied in a loop. */
const longestLoop = 100

/** Rows in the binary format of `COPY`. Values follow in the order of the columns. */
class BinaryRows {
  readonly #bytes: Buffer
  #at: number

  /** @param rowBytes - bytes of all rows, or more; every value takes 4 bytes beside its own, every row 2. */
  constructor(rowBytes: number) {
    this.#bytes = Buffer.allocUnsafe(head.length + rowBytes + 2)
    this.#at = head.copy(this.#bytes)
  }

  begin(values: number): void {
    this.#at = this.#bytes.writeInt16BE(values, this.#at)
  }

  bigint(value: number): void {
    const at = this.#bytes.writeInt32BE(8, this.#at)
    const high = Math.floor(value / 2 ** 32)
    this.#bytes.writeInt32BE(high, at)
    this.#at = this.#bytes.writeUInt32BE(value - high * 2 ** 32, at + 4)
  }

  integer(value: number): void {
    this.#at = this.#bytes.writeInt32BE(value, this.#bytes.writeInt32BE(4, this.#at))
  }

  smallint(value: number): void {
    this.#at = this.#bytes.writeInt16BE(value, this.#bytes.writeInt32BE(2, this.#at))
  }

  bytes(source: Uint8Array, start = 0, end = source.length): void {
    const at = this.#bytes.writeInt32BE(end - start, this.#at)
    // For short values a loop is quicker than a copy through a view.
    if (end - start > longestLoop) this.#bytes.set(source.subarray(start, end), at)
    else for (let i = start; i < end; i++) this.#bytes[at + i - start] = source[i] as number
    this.#at = at + end - start
  }

  finish(): Buffer {
    this.#at = this.#bytes.writeInt16BE(-1, this.#at)
    return this.#bytes.subarray(0, this.#at)
  }
}
