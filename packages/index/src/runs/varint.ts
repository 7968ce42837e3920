/*
 * Whole numbers from 0 to 2^53 - 1 in as few bytes as they need: 7 bits a byte, lowest first, the eighth bit set in all but the
 * last byte.
 */

/** Bytes of the longest number. */
export const maxVarintLength = 8

/** Writes a number. @returns the offset after it. */
export function writeVarint(bytes: Uint8Array, at: number, value: number): number {
  let rest = value
  // Bit operations are exact up to 2^31 only.
  while (rest >= 2 ** 31) {
    bytes[at++] = (rest % 0x80) | 0x80
    rest = Math.floor(rest / 0x80)
  }
  while (rest >= 0x80) {
    bytes[at++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  bytes[at++] = rest
  return at
}

/** Reads numbers one after the other. Reading past the end gives 0. */
export class VarintReader {
  bytes: Uint8Array = new Uint8Array(0)
  /** Offset of the next number. */
  at = 0

  /** Reads one byte. */
  byte(): number {
    return this.bytes[this.at++] ?? 0
  }

  next(): number {
    const bytes = this.bytes
    let byte = bytes[this.at++] ?? 0
    if (byte < 0x80) return byte
    let value = byte & 0x7f
    for (let scale = 0x80; ; scale *= 0x80) {
      byte = bytes[this.at++] ?? 0
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
  }
}
