import type { Hex } from '../model/evm.ts'
import { IndexDamagedError, StoreError } from '../platform/errors.ts'
import { toHex } from './hexBytes.ts'

/** Far above any block's gas limit; a larger claim in stored bytes is damage, not data. */
const maxPackedLength = 2 ** 26
/** A shorter run of zeros costs as much as it saves. */
const minZeroRun = 4
/** 512 bits: a product of two 256-bit numbers fits. */
const maxIntegerBytes = 64

/** Up to this length a loop copies faster than a call into the runtime. */
const maxCopied = 48
const noBytes = Buffer.alloc(0)

/** Value of each hex digit by its character code; -1 for all others. */
const digitValues = Int8Array.from({ length: 128 }, (_, code) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase())
)

/** Writes into a growing buffer; all integers are unsigned. */
export class ByteWriter {
  #buffer: Buffer
  #length = 0
  /** Scratch buffer of `packedHex`. */
  #unpacked = noBytes

  constructor(expectedLength: number) {
    this.#buffer = Buffer.allocUnsafe(expectedLength)
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#buffer[this.#length++] = value
  }

  /** 7 bits a byte, lowest first; up to 2^53-1. */
  varint(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0) throw unwritable('a whole number from 0 to 2^53-1', value)
    this.#reserve(8)
    let rest = value
    while (rest >= 0x80) {
      this.#buffer[this.#length++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#buffer[this.#length++] = rest
  }

  /** Its length in bytes, then big-endian without leading zeros; 0 is a length of 0. */
  integer(value: bigint): void {
    // Exact up to 2^53, more than is asked below.
    const small = Number(value)
    if (small < 0) throw unwritable('an amount of at least 0', value)
    if (small < 2 ** 48) {
      this.#smallInteger(small)
      return
    }
    const hex = value.toString(16)
    const length = Math.ceil(hex.length / 2)
    if (length > maxIntegerBytes) throw unwritable(`an amount of at most ${maxIntegerBytes * 8} bits`, value)
    this.byte(length)
    this.fixed(`0x${hex.padStart(length * 2, '0')}`, length)
  }

  /** Up to 48 bits. */
  #smallInteger(value: number): void {
    this.#reserve(7)
    let length = 0
    for (let bound = 1; bound <= value; bound *= 256) length++
    this.#buffer[this.#length++] = length
    let rest = value
    for (let at = this.#length + length - 1; at >= this.#length; at--) {
      this.#buffer[at] = rest
      rest = Math.floor(rest / 256)
    }
    this.#length += length
  }

  /** Writes exactly `length` bytes of hex, without a length. For so few bytes a loop is faster than a call of Buffer's. */
  fixed(hex: Hex, length: number): void {
    this.#reserve(length)
    const buffer = this.#buffer
    let all = hex.length === 2 + length * 2 ? 0 : -1
    for (let i = 2, at = this.#length; i < hex.length && all >= 0; i += 2) {
      const upper = digitValues[hex.charCodeAt(i)] ?? -1
      const lower = digitValues[hex.charCodeAt(i + 1)] ?? -1
      all |= upper | lower
      buffer[at++] = (upper << 4) | lower
    }
    if (all < 0) throw unwritable(`${length} bytes of hex`, hex)
    this.#length += length
  }

  /** Writes the bytes from `start` to `end`. */
  bytes(bytes: Uint8Array, start = 0, end = bytes.length): void {
    this.#reserve(end - start)
    if (end - start > maxCopied) this.#buffer.set(bytes.subarray(start, end), this.#length)
    else for (let i = start, at = this.#length; i < end; i++) this.#buffer[at++] = bytes[i] ?? 0
    this.#length += end - start
  }

  /** Writes the characters of a text, one byte each. */
  latin1(text: string): void {
    this.#reserve(text.length)
    for (let i = 0; i < text.length; i++) this.#buffer[this.#length++] = text.charCodeAt(i)
  }

  /** Writes the length of what `write` writes, then that. */
  counted(write: () => void): void {
    const start = this.#length
    this.byte(0)
    write()
    const length = this.#length - start - 1
    if (length < 0x80) {
      this.#buffer[start] = length
      return
    }
    const bytes = Uint8Array.from(this.#buffer.subarray(start + 1, this.#length))
    this.#length = start
    this.varint(length)
    this.bytes(bytes)
  }

  /** Writes the bytes of 0x-hex as `packed` does. */
  packedHex(hex: Hex): void {
    if (hex.length === 2) {
      this.byte(0)
      return
    }
    const length = hex.length / 2 - 1
    if (length > this.#unpacked.length) this.#unpacked = Buffer.allocUnsafe(2 * Math.ceil(length))
    const written = this.#unpacked.write(hex.slice(2), 'hex')
    if (written !== length) throw unwritable('whole bytes of hex', hex)
    this.packed(this.#unpacked.subarray(0, length))
  }

  /**
   * Writes any bytes, with runs of zeros (most of ABI-encoded calldata) as counts: the whole length, then by turns a number of
   * literal bytes, those bytes, and a number of zeros, until the whole length is reached.
   */
  packed(bytes: Uint8Array): void {
    if (bytes.length > maxPackedLength) throw unwritable(`at most ${maxPackedLength} bytes`, bytes.length)
    this.varint(bytes.length)
    let done = 0
    while (done < bytes.length) {
      const run = nextZeroRun(bytes, done)
      this.varint(run.start - done)
      this.bytes(bytes, done, run.start)
      if (run.start < bytes.length) this.varint(run.end - run.start)
      done = run.end
    }
  }

  get length(): number {
    return this.#length
  }

  /** Returns what was written as text, one character a byte, and starts over. */
  takeLatin1(): string {
    const text = this.#buffer.toString('latin1', 0, this.#length)
    this.#length = 0
    return text
  }

  finish(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  #reserve(extra: number): void {
    const needed = this.#length + extra
    if (needed <= this.#buffer.length) return
    const grown = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2))
    this.#buffer.copy(grown, 0, 0, this.#length)
    this.#buffer = grown
  }
}

/** Finds the next run of `minZeroRun` zeros or more, at or after `from`; without one, `start` is the end of the bytes. */
function nextZeroRun(bytes: Uint8Array, from: number): { readonly start: number; readonly end: number } {
  for (let end = from; end < bytes.length; ) {
    let start = end
    while (start < bytes.length && bytes[start] !== 0) start++
    end = start
    while (bytes[end] === 0) end++
    if (end - start >= minZeroRun) return { start, end }
  }
  return { start: bytes.length, end: bytes.length }
}

/**
 * Reads what `ByteWriter` wrote. Most methods skip a value and return its offset; `hexAt`, `integerAt` and `unpackAt` decode
 * it. Damaged bytes that point beyond the end throw a `StoreError`.
 */
export class ByteReader {
  #bytes: Uint8Array
  #end: number
  /** Offset of the next byte. */
  at = 0

  constructor(bytes: Uint8Array = new Uint8Array()) {
    this.#bytes = bytes
    this.#end = bytes.length
  }

  /** Starts over with other bytes, from `at` to `end`. */
  begin(bytes: Uint8Array, at: number, end: number): void {
    this.#bytes = bytes
    this.at = at
    this.#end = end
  }

  get atEnd(): boolean {
    return this.at >= this.#end
  }

  /** @returns the value. */
  byte(): number {
    return this.#bytes[this.skip(1)] ?? 0
  }

  /** @returns the value. */
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

  /** @returns the offset of the first skipped byte. @throws {StoreError} fewer bytes are left. */
  skip(length: number): number {
    const start = this.at
    if (length > this.#end - start) throw damaged('it ends too early')
    this.at = start + length
    return start
  }

  /** @returns the offset of an integer, which begins with its length. */
  integer(): number {
    const start = this.skip(1)
    const length = this.#bytes[start] ?? 0
    if (length > maxIntegerBytes) throw damaged('an amount is too long')
    const first = this.skip(length)
    if (length > 0 && this.#bytes[first] === 0) throw damaged('an amount starts with zeros')
    return start
  }

  /** @returns the offset of packed bytes, which begin with their whole length. */
  packed(): number {
    const start = this.at
    const total = this.varint()
    if (total > maxPackedLength) throw damaged('its data are too long')
    for (let done = 0; done < total; ) {
      const literal = this.varint()
      if (literal > total - done) throw damaged('its data are longer than announced')
      this.skip(literal)
      done += literal
      if (done === total) break
      const zeros = this.varint()
      if (zeros < minZeroRun || zeros > total - done) throw damaged('a run of zeros has a wrong length')
      done += zeros
    }
    return start
  }

  /** Reads a count and so many values. A wild count ends at the end of the bytes. */
  many<T>(read: () => T): readonly T[] {
    const values: T[] = []
    for (let left = this.varint(); left > 0; left--) values.push(read())
    return values
  }

  /** @throws {StoreError} bytes are left over, so the writer stored more than was read. */
  finish(): void {
    if (!this.atEnd) throw damaged('it has bytes left over')
  }
}

/** Returns `length` bytes as 0x-hex. */
export function hexAt(bytes: Uint8Array, at: number, length: number): Hex {
  return toHex(bytes.subarray(at, at + length))
}

/** Decodes the integer at an offset. */
export function integerAt(bytes: Uint8Array, at: number): bigint {
  const length = bytes[at] ?? 0
  if (length > 6) return BigInt(hexAt(bytes, at + 1, length))
  let value = 0
  for (let i = at + 1; i <= at + length; i++) value = value * 256 + (bytes[i] ?? 0)
  return BigInt(value)
}

/** Decodes the varint at an offset. */
export function varintAt(bytes: Uint8Array, at: number): number {
  let value = 0
  let scale = 1
  for (let i = at; ; i++, scale *= 0x80) {
    const byte = bytes[i] ?? 0
    value += (byte & 0x7f) * scale
    if (byte < 0x80) return value
  }
}

/**
 * Unpacks the bytes at an offset. A `ByteReader` has skipped them before, so they are sound.
 * @param out - receives as many bytes as fit into it.
 */
export function unpackAt(
  bytes: Uint8Array,
  at: number,
  out: Uint8Array = Buffer.alloc(varintAt(bytes, at))
): Uint8Array {
  const reader = new ByteReader(bytes)
  reader.at = at
  const length = Math.min(reader.varint(), out.length)
  out.fill(0)
  for (let done = 0; done < length; ) {
    const literal = reader.varint()
    const start = reader.skip(literal)
    for (let i = 0; i < literal && done + i < length; i++) out[done + i] = bytes[start + i] ?? 0
    done += literal
    if (done < length) done += reader.varint()
  }
  return out
}

/** Creates the error for stored bytes that no version has written. */
export function damaged(detail: string): IndexDamagedError {
  return new IndexDamagedError({ part: 'record' }, detail)
}

/** Creates the error for a value that has no room in the format; storing it would change it. */
export function unwritable(expected: string, value: unknown): StoreError {
  return new StoreError(`cannot be stored: expected ${expected}, got ${String(value).slice(0, 80)}`)
}
