import { base58btc } from 'multiformats/bases/base58'

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

/** Writes bytes, such as those of a public key, in base58: leading zero bytes are leading `1`s. */
export function formatSolanaAddress(bytes: Uint8Array): string {
  return base58btc.baseEncode(bytes)
}

/**
 * Reads an address that a caller gave. Base58 text of the right length may still name 31 or 33 bytes, which no
 * pattern can tell; so the method asks here and turns `undefined` into INVALID_PARAMS.
 *
 * @returns the 32 bytes, or `undefined` when the text is not base58 of exactly 32 bytes.
 */
export function parseSolanaAddress(text: string): Uint8Array | undefined {
  // 32 bytes never need more than 44 digits.
  const bytes = text.length <= 44 ? decodeBase58(text) : undefined
  return bytes?.length === ADDRESS_BYTES ? bytes : undefined
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
  try {
    return base58btc.baseDecode(text)
  } catch {
    return undefined
  }
}
