import { damaged, maxIntegerBytes } from './recordBytes.ts'

/** Steps over the parts of a record and says where they stand, without making values of them. */
export class PlaceReader {
  #bytes: Uint8Array = new Uint8Array()
  #end = 0
  /** Place of the next byte. */
  at = 0

  /** What follows stands from `at` on and ends before `end`. */
  begin(bytes: Uint8Array, at: number, end: number): void {
    this.#bytes = bytes
    this.at = at
    this.#end = end
  }

  get atEnd(): boolean {
    return this.at >= this.#end
  }

  byte(): number {
    const place = this.skip(1)
    return this.#bytes[place] ?? 0
  }

  /** @returns the place of the first of these bytes. @throws {StoreError} they are not there. */
  skip(length: number): number {
    const start = this.at
    if (length > this.#end - start) throw damaged('it ends too early')
    this.at = start + length
    return start
  }

  varint(): number {
    let value = 0
    for (let scale = 1; scale <= 2 ** 49; scale *= 0x80) {
      const byte = this.byte()
      value += (byte & 0x7f) * scale
      if (byte >= 0x80) continue
      if (!Number.isSafeInteger(value)) break
      return value
    }
    throw damaged('a number is too long')
  }

  /** @returns the place of its length, behind which its bytes stand. */
  integer(): number {
    const place = this.skip(1)
    const length = this.#bytes[place] ?? 0
    if (length > maxIntegerBytes) throw damaged('an amount is too long')
    const first = this.skip(length)
    if (length > 0 && this.#bytes[first] === 0) throw damaged('an amount starts with zeros')
    return place
  }
}
