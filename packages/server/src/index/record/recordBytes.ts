import type { Hex } from '../../model/evm.ts'
import { StoreError } from '../../platform/errors.ts'

/** Far above any block's gas limit; a larger claim in stored bytes is damage, not data. */
export const maxPackedLength = 2 ** 26
/** A shorter run of zeros costs as much as it saves. */
export const minZeroRun = 4
/** 512 bits: a product of two 256-bit numbers fits. */
export const maxIntegerBytes = 64

/** Grows as it is written to; all integers are unsigned. */
export class ByteWriter {
  #buffer: Buffer
  #length = 0

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
    if (value < 0n) throw unwritable('an amount of at least 0', value)
    if (value <= 0xffff_ffff_ffffn) {
      const small = Number(value)
      let length = 0
      for (let rest = small; rest > 0; rest = Math.floor(rest / 256)) length++
      this.#reserve(7)
      this.#buffer[this.#length++] = length
      if (length > 0) this.#length = this.#buffer.writeUIntBE(small, this.#length, length)
      return
    }
    if (value <= 0xffff_ffff_ffff_ffffn) {
      const high = Number(value >> 32n)
      const length = 4 + Math.ceil((32 - Math.clz32(high)) / 8)
      this.#reserve(9)
      this.#buffer[this.#length++] = length
      this.#length = this.#buffer.writeUIntBE(high, this.#length, length - 4)
      this.#length = this.#buffer.writeUInt32BE(Number(value & 0xffff_ffffn), this.#length)
      return
    }
    const hex = value.toString(16)
    const length = Math.ceil(hex.length / 2)
    if (length > maxIntegerBytes) throw unwritable(`an amount of at most ${maxIntegerBytes * 8} bits`, value)
    this.byte(length)
    this.#reserve(length)
    this.#length += this.#buffer.write(hex.padStart(length * 2, '0'), this.#length, 'hex')
  }

  /** Exactly `length` bytes, without any mark of it. */
  fixed(hex: Hex, length: number): void {
    this.#reserve(length)
    const written = hex.length === 2 + length * 2 ? this.#buffer.write(hex.slice(2), this.#length, 'hex') : -1
    if (written !== length) throw unwritable(`${length} bytes of hex`, hex)
    this.#length += length
  }

  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#buffer.set(bytes, this.#length)
    this.#length += bytes.length
  }

  /**
   * Any bytes, with runs of zeros (most of ABI-encoded calldata) as a count: the whole length, then in turn
   * a length of literal bytes, these bytes, a count of zeros, until the whole length is reached.
   */
  packed(bytes: Uint8Array): void {
    if (bytes.length > maxPackedLength) throw unwritable(`at most ${maxPackedLength} bytes`, bytes.length)
    this.varint(bytes.length)
    let done = 0
    while (done < bytes.length) {
      const run = nextZeroRun(bytes, done)
      this.varint(run.start - done)
      this.bytes(bytes.subarray(done, run.start))
      if (run.start < bytes.length) this.varint(run.end - run.start)
      done = run.end
    }
  }

  get length(): number {
    return this.#length
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

/** Next run worth counting at or after `from`; `start` is the end of the bytes when there is none. */
function nextZeroRun(bytes: Uint8Array, from: number): { readonly start: number; readonly end: number } {
  let start = bytes.indexOf(0, from)
  while (start !== -1) {
    let end = start + 1
    while (bytes[end] === 0) end++
    if (end - start >= minZeroRun) return { start, end }
    start = bytes.indexOf(0, end)
  }
  return { start: bytes.length, end: bytes.length }
}

/** Reads what `ByteWriter` wrote. Never reads beyond the end: damage ends in a `StoreError`. */
export class ByteReader {
  readonly #buffer: Buffer
  #offset = 0

  constructor(bytes: Uint8Array) {
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  byte(): number {
    const value = this.#buffer[this.#offset]
    if (value === undefined) throw damaged('it ends too early')
    this.#offset++
    return value
  }

  varint(): number {
    let value = 0
    for (let scale = 1; scale <= 2 ** 49; scale *= 0x80) {
      const byte = this.byte()
      value += (byte & 0x7f) * scale
      if (byte < 0x80) {
        if (!Number.isSafeInteger(value)) break
        return value
      }
    }
    throw damaged('a number is too long')
  }

  integer(): bigint {
    const length = this.byte()
    if (length === 0) return 0n
    if (length > maxIntegerBytes) throw damaged('an amount is too long')
    const start = this.#skip(length)
    if (this.#buffer[start] === 0) throw damaged('an amount starts with zeros')
    if (length <= 6) return BigInt(this.#buffer.readUIntBE(start, length))
    return BigInt(`0x${this.#buffer.toString('hex', start, this.#offset)}`)
  }

  fixed(length: number): Hex {
    const start = this.#skip(length)
    return `0x${this.#buffer.toString('hex', start, this.#offset)}`
  }

  packed(): Buffer {
    const total = this.varint()
    if (total > maxPackedLength) throw damaged('its data are too long')
    const bytes = Buffer.alloc(total)
    let done = 0
    while (done < total) {
      const literal = this.varint()
      if (literal > total - done) throw damaged('its data are longer than announced')
      const start = this.#skip(literal)
      this.#buffer.copy(bytes, done, start, this.#offset)
      done += literal
      if (done === total) break
      const zeros = this.varint()
      if (zeros < minZeroRun || zeros > total - done) throw damaged('a run of zeros has a wrong length')
      done += zeros
    }
    return bytes
  }

  get atEnd(): boolean {
    return this.#offset === this.#buffer.length
  }

  /** Passes over so many bytes. */
  skip(length: number): void {
    this.#skip(length)
  }

  /** @throws {StoreError} something is left: whoever wrote this meant more than was read. */
  finish(): void {
    if (!this.atEnd) throw damaged('it has bytes left over')
  }

  #skip(length: number): number {
    const start = this.#offset
    if (length > this.#buffer.length - start) throw damaged('it ends too early')
    this.#offset = start + length
    return start
  }
}

/** The bytes of a stored record cannot be what was once written. */
export function damaged(detail: string): StoreError {
  return new StoreError(`a stored record is damaged: ${detail}`)
}

/** A value that the format has no place for; storing it would change it. */
export function unwritable(expected: string, value: unknown): StoreError {
  return new StoreError(`cannot be stored: expected ${expected}, got ${String(value).slice(0, 80)}`)
}
