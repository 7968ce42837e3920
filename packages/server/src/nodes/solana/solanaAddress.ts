const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const DIGIT_OF = new Map([...ALPHABET].map((character, digit) => [character, digit]))
const ADDRESS_BYTES = 32

/** SPL Token program. */
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
/** Token-2022 program (token extensions). */
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
/** Metaplex Token Metadata program. */
export const METAPLEX_PROGRAM = 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s'

/** Mints of wrapped SOL, of either token program. */
export const NATIVE_MINTS: ReadonlySet<string> = new Set([
  'So11111111111111111111111111111111111111112',
  '9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXej9'
])

/**
 * A 32-byte public key in the base58 everybody writes: leading zero bytes are leading `1`s.
 */
export function formatSolanaAddress(bytes: Uint8Array): string {
  let leadingZeros = 0
  while (leadingZeros < bytes.length && bytes[leadingZeros] === 0) leadingZeros++
  const digits: number[] = []
  for (let at = leadingZeros; at < bytes.length; at++) {
    let carry = bytes[at] ?? 0
    for (let place = 0; place < digits.length; place++) {
      carry += (digits[place] ?? 0) * 256
      digits[place] = carry % 58
      carry = Math.floor(carry / 58)
    }
    for (; carry > 0; carry = Math.floor(carry / 58)) digits.push(carry % 58)
  }
  let text = '1'.repeat(leadingZeros)
  for (let place = digits.length - 1; place >= 0; place--) text += ALPHABET[digits[place] ?? 0]
  return text
}

/**
 * Reads an address that a caller gave. Base58 text of the right length may still name 31 or 33 bytes, which no
 * pattern can tell; so the method asks here and turns `undefined` into INVALID_PARAMS.
 *
 * @returns the 32 bytes, or `undefined` when the text is not base58 of exactly 32 bytes.
 */
export function parseSolanaAddress(text: string): Uint8Array | undefined {
  // 32 bytes never need more than 44 digits; the bound keeps the quadratic loop below small.
  if (text.length < ADDRESS_BYTES || text.length > 44) return undefined
  const bytes = new Uint8Array(ADDRESS_BYTES)
  for (const character of text) {
    let carry = DIGIT_OF.get(character)
    if (carry === undefined) return undefined
    for (let at = ADDRESS_BYTES - 1; at >= 0; at--) {
      carry += (bytes[at] ?? 0) * 58
      bytes[at] = carry & 255
      carry >>= 8
    }
    if (carry > 0) return undefined
  }
  // Each leading `1` is one zero byte: text with too few or too many of them names another length.
  return formatSolanaAddress(bytes) === text ? bytes : undefined
}

/** @returns the 32 bytes. @throws {RangeError} `text` is no address. */
export function requireAddress(text: string): Uint8Array {
  const bytes = parseSolanaAddress(text)
  if (bytes === undefined) throw new RangeError('not an address')
  return bytes
}

/** Longest text that is decoded: some 1,500 bytes, more than a whole transaction has. */
const maxDecodedCharacters = 2_048

/** The bytes of a base58 text of any length, `undefined` where it is none or too long. Quadratic in its length. */
export function decodeBase58(text: string): Uint8Array | undefined {
  if (text.length > maxDecodedCharacters) return undefined
  const bytes: number[] = []
  for (const character of text) {
    let carry = DIGIT_OF.get(character)
    if (carry === undefined) return undefined
    for (let at = 0; at < bytes.length; at++) {
      carry += (bytes[at] ?? 0) * 58
      bytes[at] = carry & 255
      carry >>= 8
    }
    for (; carry > 0; carry >>= 8) bytes.push(carry & 255)
  }
  for (const character of text) {
    if (character !== '1') break
    bytes.push(0)
  }
  return Uint8Array.from(bytes.reverse())
}
