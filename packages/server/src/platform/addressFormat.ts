import type { Address } from '@chain-data/index'
import { createKeccakState, permuteKeccak } from './permuteKeccak.gen.ts'

/** Writes an address as the wire has it: EIP-55 checksummed. */
export type FormatAddress = (address: Address) => Address

/** Formats single addresses, of which the last 4,096 are remembered. */
export function createAddressFormat(): FormatAddress {
  const write = createAddressWriter(4_096)
  const bytes = Buffer.alloc(addressLength)
  const text = Buffer.from(`0x${'0'.repeat(textLength)}`)
  return address => {
    bytes.write(address.slice(2), 'hex')
    write(bytes, 0, text, 2)
    return text.toString('latin1') as Address
  }
}

/**
 * Writes the address that begins at `start` of `bytes` to `out`, from `at` on: 40 characters of hex, EIP-55 checksummed,
 * without `0x`.
 */
export type WriteAddress = (bytes: Uint8Array, start: number, out: Uint8Array, at: number) => void

const addressLength = 20
const textLength = 40
const lowerDigits = Uint8Array.from(Buffer.from('0123456789abcdef'))
/** Distance of a lower-case letter from its upper case. */
const toUpper = 0x20
/** Bytes of one block of the hash's input; the last one takes the end of the padding. */
const blockWords = 34

/**
 * Creates a writer that keeps the last addresses: a checksum costs a hash, and histories name the same few addresses again and again.
 *
 * @param slots - how many it keeps, a power of two; 60 bytes each. Each address has one slot, so that a look-up is a comparison.
 */
export function createAddressWriter(slots = 32_768): WriteAddress {
  const known = new Uint8Array(slots * addressLength)
  const texts = new Uint8Array(slots * textLength)
  // The slot of the zero address holds it from the beginning: zeros, like slots that were never used.
  texts.fill(0x30)
  const state = createKeccakState()

  return (bytes, start, out, at) => {
    const slot = slotOf(bytes, start) & (slots - 1)
    const from = slot * addressLength
    const text = slot * textLength
    let i = 0
    while (i < addressLength && known[from + i] === bytes[start + i]) i++
    if (i < addressLength) {
      for (i = 0; i < addressLength; i++) known[from + i] = bytes[start + i] ?? 0
      writeChecksummed(known, from, texts, text)
    }
    for (i = 0; i < textLength; i++) out[at + i] = texts[text + i] ?? 0
  }

  function writeChecksummed(address: Uint8Array, from: number, out: Uint8Array, at: number): void {
    state.fill(0)
    for (let i = 0; i < addressLength; i++) {
      const byte = address[from + i] ?? 0
      const high = lowerDigits[byte >>> 4] ?? 0
      const low = lowerDigits[byte & 15] ?? 0
      out[at + 2 * i] = high
      out[at + 2 * i + 1] = low
      state[i >>> 1] = (state[i >>> 1] ?? 0) | ((high | (low << 8)) << (16 * (i & 1)))
    }
    state[textLength / 4] = 1
    state[blockWords - 1] = 0x8000_0000
    permuteKeccak(state)
    for (let i = 0; i < textLength; i++) {
      const character = out[at + i] ?? 0
      const hashByte = (state[i >>> 3] ?? 0) >>> (8 * ((i >>> 1) & 3))
      const nibble = i & 1 ? hashByte & 15 : (hashByte >>> 4) & 15
      if (nibble >= 8 && character > 0x60) out[at + i] = character - toUpper
    }
  }
}

/** Hashes the first and last bytes: those in between matter only for addresses that were made to share a slot. */
function slotOf(bytes: Uint8Array, start: number): number {
  const mixed = wordAt(bytes, start) ^ Math.imul(wordAt(bytes, start + addressLength - 4), 0x9e37_79b1)
  return (mixed ^ (mixed >>> 15)) >>> 0
}

function wordAt(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] ?? 0) |
    ((bytes[at + 1] ?? 0) << 8) |
    ((bytes[at + 2] ?? 0) << 16) |
    ((bytes[at + 3] ?? 0) << 24)
  )
}
