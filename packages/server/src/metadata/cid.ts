/**
 * Whether a text is an IPFS content identifier: a version 0 one (`Qm...`), or a version 1 one in base16, base32,
 * base36 or base58.
 *
 * Checked to the last byte, because it becomes part of a URL and decides that an answer may be kept for ever.
 * @see https://github.com/multiformats/cid
 */
export function isCid(text: string): boolean {
  if (text.length > maxCidLength) return false
  if (/^Qm[1-9A-HJ-NP-Za-km-z]{44}$/.test(text)) {
    const bytes = fromBase(text, base58)
    return bytes?.length === 34 && bytes[0] === 0x12 && bytes[1] === 0x20
  }
  const bytes = fromMultibase(text)
  return bytes !== undefined && isCidV1(bytes)
}

const maxCidLength = 256
const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const base36 = '0123456789abcdefghijklmnopqrstuvwxyz'
const base32 = 'abcdefghijklmnopqrstuvwxyz234567'

function fromMultibase(text: string): number[] | undefined {
  const digits = text.slice(1)
  switch (text[0]) {
    case 'f':
      return /^([0-9a-f]{2})+$/.test(digits) ? [...Buffer.from(digits, 'hex')] : undefined
    case 'b':
      return fromBase32(digits)
    case 'B':
      return digits === digits.toUpperCase() ? fromBase32(digits.toLowerCase()) : undefined
    case 'k':
      return fromBase(digits, base36)
    case 'z':
      return fromBase(digits, base58)
    default:
      return undefined
  }
}

/** Version, codec, hash function, hash length, and exactly so many bytes. */
function isCidV1(bytes: readonly number[]): boolean {
  let at = 0
  const readVarint = (): number => {
    let value = 0
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = bytes[at++]
      if (byte === undefined) return -1
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    return -1
  }
  const version = readVarint()
  const codec = readVarint()
  const hashFunction = readVarint()
  const hashLength = readVarint()
  return (
    version === 1 && codec >= 0 && hashFunction >= 0 && hashLength >= 0 && bytes.length - at === hashLength
  )
}

function fromBase32(digits: string): number[] | undefined {
  const bytes: number[] = []
  let bits = 0
  let held = 0
  for (const digit of digits) {
    const value = base32.indexOf(digit)
    if (value < 0) return undefined
    held = ((held << 5) | value) & 0xfff
    bits += 5
    if (bits >= 8) {
      bits -= 8
      bytes.push((held >> bits) & 0xff)
    }
  }
  const leftOver = held & ((1 << bits) - 1)
  return bits < 5 && leftOver === 0 ? bytes : undefined
}

/** Big-number bases: each leading zero digit stands for one zero byte. */
function fromBase(digits: string, alphabet: string): number[] | undefined {
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
  return bytes
}
