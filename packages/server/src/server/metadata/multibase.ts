const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const base36 = '0123456789abcdefghijklmnopqrstuvwxyz'
const base32 = 'abcdefghijklmnopqrstuvwxyz234567'
const base64url = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/**
 * Bytes of a text whose first character names its base. Case counts in bases 58 and 64 only, as in IPFS itself.
 * @returns absent for another base than 16, 32, 36, 58 and 64url, a wrong digit, or bits left over.
 * @see https://github.com/multiformats/multibase
 */
export function fromMultibase(text: string): Uint8Array | undefined {
  const digits = text.slice(1)
  switch (text[0]) {
    case 'f':
    case 'F':
      return /^([0-9a-f]{2})+$/i.test(digits) ? Buffer.from(digits, 'hex') : undefined
    case 'b':
    case 'B':
      return readBits(digits.toLowerCase(), base32, 5)
    case 'k':
    case 'K':
      return readNumber(digits.toLowerCase(), base36)
    case 'z':
      return readNumber(digits, base58)
    case 'u':
      return readBits(digits, base64url, 6)
    default:
      return undefined
  }
}

/** Bytes of a base58 text without a prefix; absent where a digit is none. */
export function readBase58(text: string): Uint8Array | undefined {
  return readNumber(text, base58)
}

/** Bases whose digits hold whole bits; unpadded. */
function readBits(digits: string, alphabet: string, bitsPerDigit: number): Uint8Array | undefined {
  const bytes: number[] = []
  let bits = 0
  let held = 0
  for (const digit of digits) {
    const value = alphabet.indexOf(digit)
    if (value < 0) return undefined
    held = ((held << bitsPerDigit) | value) & 0x3fff
    bits += bitsPerDigit
    if (bits >= 8) {
      bits -= 8
      bytes.push((held >> bits) & 0xff)
    }
  }
  const leftOver = held & ((1 << bits) - 1)
  return bits < bitsPerDigit && leftOver === 0 ? Uint8Array.from(bytes) : undefined
}

/** Big-number bases: each leading zero digit stands for one zero byte. */
function readNumber(digits: string, alphabet: string): Uint8Array | undefined {
  let value = 0n
  for (const digit of digits) {
    const index = alphabet.indexOf(digit)
    if (index < 0) return undefined
    value = value * BigInt(alphabet.length) + BigInt(index)
  }
  const bytes: number[] = []
  for (; value > 0n; value >>= 8n) bytes.unshift(Number(value & 0xffn))
  for (const digit of digits) {
    if (digit !== alphabet[0]) break
    bytes.unshift(0)
  }
  return Uint8Array.from(bytes)
}
