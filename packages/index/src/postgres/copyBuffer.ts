const signature = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1')
/** The signature, no flags, no extension. */
const headLength = signature.length + 8
const endLength = 2
/** Bytes of a value that is copied in a loop. */
const longestLoop = 100

/** Writes rows in the binary format of `COPY`. Values follow in the order of the columns. */
export class CopyBuffer {
  readonly #bytes: Buffer
  #at = headLength

  /** @param rowBytes - bytes of all rows, or more; every value takes 4 bytes beside its own, every row 2. */
  constructor(rowBytes: number) {
    this.#bytes = Buffer.allocUnsafe(headLength + rowBytes + endLength)
    signature.copy(this.#bytes)
    this.#bytes.fill(0, signature.length, headLength)
  }

  /** Begins a row of so many values. */
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
    const at = this.#bytes.writeInt32BE(4, this.#at)
    this.#at = this.#bytes.writeInt32BE(value, at)
  }

  smallint(value: number): void {
    const at = this.#bytes.writeInt32BE(2, this.#at)
    this.#at = this.#bytes.writeInt16BE(value, at)
  }

  bytes(source: Uint8Array, start = 0, end = source.length): void {
    const at = this.#bytes.writeInt32BE(end - start, this.#at)
    // For short values a loop is quicker than a copy through a view.
    if (end - start > longestLoop) this.#bytes.set(source.subarray(start, end), at)
    else for (let i = start; i < end; i++) this.#bytes[at + i - start] = source[i] as number
    this.#at = at + end - start
  }

  /** The rows, complete. */
  finish(): Buffer {
    this.#at = this.#bytes.writeInt16BE(-1, this.#at)
    return this.#bytes.subarray(0, this.#at)
  }
}
