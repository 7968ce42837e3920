import type { WriteAddress } from '../../platform/addressFormat.ts'

/** Size of the buffer that the next text begins with, even where the last one needed more. */
const keptBytes = 2 ** 20
const zero = 0x30
/** Longer stretches are written by the runtime's own function; for shorter ones the call costs more than it saves. */
const longStretch = 48
/** A quotient of two such bytes and the rest of the product stay exact as numbers. */
const mostFactorBytes = 5

const highDigits = new Uint8Array(256)
const lowDigits = new Uint8Array(256)
for (let byte = 0; byte < 256; byte++) {
  const text = Buffer.from(byte.toString(16).padStart(2, '0'))
  highDigits[byte] = text[0] ?? 0
  lowDigits[byte] = text[1] ?? 0
}

/**
 * Writes text of ASCII characters from parts of stored records, into one buffer that all texts share: `begin`, any number of
 * writes, `finish`. A caller reserves room before, because the writes themselves do not check it.
 *
 * Integers and packed bytes begin at the offsets that `RecordParts` has of them.
 */
export class AsciiWriter {
  readonly #writeAddress: WriteAddress
  #out = Buffer.allocUnsafeSlow(keptBytes)
  #at = 0
  /** Bytes of a product, lowest first; 64 and 5 of them are the longest factors. */
  readonly #product = new Uint8Array(80)

  constructor(writeAddress: WriteAddress) {
    this.#writeAddress = writeAddress
  }

  begin(): void {
    this.#at = 0
    if (this.#out.length > keptBytes) this.#out = Buffer.allocUnsafeSlow(keptBytes)
  }

  /** Returns the text written since `begin`; the next one is written over it. */
  finish(): Buffer {
    return this.#out.subarray(0, this.#at)
  }

  /** Makes room for so many more characters. */
  reserve(characters: number): void {
    const needed = this.#at + characters
    if (needed <= this.#out.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#out.length * 2))
    this.#out.copy(grown, 0, 0, this.#at)
    this.#out = grown
  }

  text(characters: Uint8Array): void {
    const out = this.#out
    const at = this.#at
    for (let i = 0; i < characters.length; i++) out[at + i] = characters[i] ?? 0
    this.#at = at + characters.length
  }

  /** Writes characters, and reserves room for them. */
  string(characters: string): void {
    this.reserve(characters.length)
    this.#at += this.#out.write(characters, this.#at, 'latin1')
  }

  /** Writes two digits for each byte. */
  hex(bytes: Uint8Array, start: number, length: number): void {
    const out = this.#out
    let at = this.#at
    for (let i = start; i < start + length; i++) {
      const byte = bytes[i] ?? 0
      out[at++] = highDigits[byte] ?? 0
      out[at++] = lowDigits[byte] ?? 0
    }
    this.#at = at
  }

  /** Writes 40 digits, checksummed. */
  address(bytes: Uint8Array, start: number): void {
    this.#writeAddress(bytes, start, this.#out, this.#at)
    this.#at += 40
  }

  /** Writes the packed bytes that begin here as hex, unpacked. */
  packedHex(bytes: Uint8Array, start: number): void {
    let at = start
    const varint = () => {
      let value = 0
      for (let scale = 1, byte = 0x80; byte >= 0x80; scale *= 0x80) {
        byte = bytes[at++] ?? 0
        value += (byte & 0x7f) * scale
      }
      return value
    }
    for (let left = varint(); left > 0; ) {
      const count = varint()
      if (count >= longStretch)
        this.string(Buffer.from(bytes.buffer, bytes.byteOffset + at, count).toString('hex'))
      else this.hex(bytes, at, count)
      at += count
      left -= count
      if (left === 0) return
      const zeros = varint()
      this.#zeros(2 * zeros)
      left -= zeros
    }
  }

  #zeros(count: number): void {
    const end = this.#at + count
    if (count >= 2 * longStretch) this.#out.fill(zero, this.#at, end)
    else for (let at = this.#at; at < end; at++) this.#out[at] = zero
    this.#at = end
  }

  /** Writes an integer as hex without leading zeros (EIP-1474), without `0x`. */
  quantity(bytes: Uint8Array, offset: number): void {
    this.#minimalHex(bytes, offset + 1, bytes[offset] ?? 0)
  }

  /** Writes an integer in decimal, every digit of it. */
  integer(bytes: Uint8Array, offset: number): void {
    const length = bytes[offset] ?? 0
    if (length > 6) {
      const digits = Buffer.from(bytes.buffer, bytes.byteOffset + offset + 1, length).toString('hex')
      this.string(BigInt(`0x${digits}`).toString())
      return
    }
    let value = 0
    for (let i = offset + 1; i <= offset + length; i++) value = value * 256 + (bytes[i] ?? 0)
    this.number(value)
  }

  /** Writes a whole number up to 2^53-1 in decimal. */
  number(value: number): void {
    const out = this.#out
    let digits = 1
    for (let bound = 10; bound <= value; bound *= 10) digits++
    let rest = value
    for (let at = this.#at + digits - 1; at >= this.#at; at--) {
      // Most are small, for which an integer division will do.
      const quotient = rest < 2 ** 31 ? (rest / 10) | 0 : Math.floor(rest / 10)
      out[at] = zero + (rest - quotient * 10)
      rest = quotient
    }
    this.#at += digits
  }

  /** Writes the product of two integers as `quantity` does. */
  product(bytes: Uint8Array, oneOffset: number, otherOffset: number): void {
    const oneLength = bytes[oneOffset] ?? 0
    const otherLength = bytes[otherOffset] ?? 0
    if (oneLength === 0 || otherLength === 0) {
      this.#out[this.#at++] = zero
      return
    }
    const [offset, length, factorOffset, factorLength] =
      oneLength >= otherLength
        ? [oneOffset, oneLength, otherOffset, otherLength]
        : [otherOffset, otherLength, oneOffset, oneLength]
    if (factorLength > mostFactorBytes) {
      const read = (at: number, count: number) =>
        BigInt(`0x${Buffer.from(bytes.buffer, bytes.byteOffset + at + 1, count).toString('hex')}`)
      this.string((read(offset, length) * read(factorOffset, factorLength)).toString(16))
      return
    }
    let factor = 0
    for (let i = factorOffset + 1; i <= factorOffset + factorLength; i++)
      factor = factor * 256 + (bytes[i] ?? 0)
    const product = this.#product
    // From the end, so that it is laid out as integers are.
    let at = product.length
    let carry = 0
    for (let i = offset + length; i > offset || carry > 0; i--) {
      carry += i > offset ? (bytes[i] ?? 0) * factor : 0
      const rest = Math.floor(carry / 256)
      product[--at] = carry - rest * 256
      carry = rest
    }
    this.#minimalHex(product, at, product.length - at)
  }

  /** Writes bytes that have no leading zero byte. */
  #minimalHex(bytes: Uint8Array, start: number, length: number): void {
    const first = bytes[start] ?? 0
    if (length === 0) {
      this.#out[this.#at++] = zero
      return
    }
    if (first > 15) {
      this.hex(bytes, start, length)
      return
    }
    this.#out[this.#at++] = lowDigits[first] ?? 0
    this.hex(bytes, start + 1, length - 1)
  }
}
