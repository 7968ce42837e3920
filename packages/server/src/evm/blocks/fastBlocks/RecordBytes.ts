import { maxIntegerBytes, maxPackedLength, minZeroRun } from '../../../index/record/recordBytes.ts'
import { decline } from './decline.ts'
import { decodeHex, digitValues } from './decodeHex.ts'

const word = 32

/**
 * Writes the parts of records (`index/record/record.ts`) from the hex text that nodes send, without a value in between. What
 * is written stays until `reset`; the buffer grows and is used again.
 */
export class RecordBytes {
  #buffer = new Uint8Array(64 * 1024)
  length = 0
  /** Bytes that are put together before they are packed. */
  #plain = new Uint8Array(16 * 1024)
  #plainLength = 0

  reset(): void {
    this.length = 0
    this.#plainLength = 0
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#buffer[this.length++] = value
  }

  varint(value: number): void {
    this.#reserve(8)
    let rest = value
    while (rest >= 0x80) {
      this.#buffer[this.length++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#buffer[this.length++] = rest
  }

  /** The bytes of `count * 2` hex digits. */
  fixed(text: Uint8Array, firstDigit: number, count: number): void {
    this.#reserve(count)
    decodeHex(text, firstDigit, count, this.#buffer, this.length)
    this.length += count
  }

  /** Bytes that were decoded already. */
  bytes(bytes: Uint8Array, from: number, count: number): void {
    this.#reserve(count)
    for (let i = 0; i < count; i++) this.#buffer[this.length + i] = bytes[from + i] ?? 0
    this.length += count
  }

  /** An integer whose hex digits stand from `firstDigit`, which is none of leading zeros, to `end`. */
  integer(text: Uint8Array, firstDigit: number, end: number): void {
    const isOdd = (end - firstDigit) & 1
    const count = (end - firstDigit + isOdd) >> 1
    this.byte(count)
    if (count === 0) return
    this.#reserve(count)
    if (isOdd === 0) {
      decodeHex(text, firstDigit, count, this.#buffer, this.length)
    } else {
      const first = digitValues[text[firstDigit] ?? 0] ?? -1
      if (first < 0) decline()
      this.#buffer[this.length] = first
      decodeHex(text, firstDigit + 1, count - 1, this.#buffer, this.length + 1)
    }
    this.length += count
  }

  /** The same for a number that stands nowhere. */
  value(value: bigint): void {
    const digits = Buffer.from(value === 0n ? '' : value.toString(16))
    if (digits.length > 2 * maxIntegerBytes) decline()
    this.integer(digits, 0, digits.length)
  }

  /** An integer that stands in 32 bytes. */
  word(bytes: Uint8Array, from: number): void {
    let zeros = 0
    while (zeros < word && bytes[from + zeros] === 0) zeros++
    this.byte(word - zeros)
    this.bytes(bytes, from + zeros, word - zeros)
  }

  /** How much others hold, and that. */
  counted(other: RecordBytes): void {
    this.varint(other.length)
    this.bytes(other.#buffer, 0, other.length)
  }

  /** Adds the bytes of hex digits to what the next `pack` packs. */
  plainFixed(text: Uint8Array, firstDigit: number, count: number): void {
    this.#reservePlain(count)
    decodeHex(text, firstDigit, count, this.#plain, this.#plainLength)
    this.#plainLength += count
  }

  plainVarint(value: number): void {
    this.#reservePlain(8)
    let rest = value
    while (rest >= 0x80) {
      this.#plain[this.#plainLength++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#plain[this.#plainLength++] = rest
  }

  /** Writes what was put together, with runs of zeros as counts, as `ByteWriter.packed` does. */
  pack(): void {
    const plain = this.#plain
    const length = this.#plainLength
    if (length > maxPackedLength) decline()
    this.#plainLength = 0
    this.varint(length)
    let done = 0
    while (done < length) {
      let start = done
      let end = done
      do {
        start = end
        while (start < length && plain[start] !== 0) start++
        end = start
        while (end < length && plain[end] === 0) end++
      } while (end < length && end - start < minZeroRun)
      if (end - start < minZeroRun) start = length
      this.varint(start - done)
      this.bytes(plain, done, start - done)
      if (start < length) this.varint(end - start)
      done = start < length ? end : length
    }
  }

  /** A copy of all that is written. */
  copy(): Uint8Array {
    return this.#buffer.slice(0, this.length)
  }

  #reserve(extra: number): void {
    if (this.length + extra > this.#buffer.length) this.#buffer = grown(this.#buffer, this.length + extra)
  }

  #reservePlain(extra: number): void {
    if (this.#plainLength + extra > this.#plain.length)
      this.#plain = grown(this.#plain, this.#plainLength + extra)
  }
}

function grown(buffer: Uint8Array, needed: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(needed, 2 * buffer.length))
  larger.set(buffer)
  return larger
}
