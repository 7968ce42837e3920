import type { EmbeddedMetadata } from './assetMetadata.ts'
import { AccountRefusal, BorshReader } from './borshReader.ts'

/** Numbers of the Token-2022 extensions that are read here; all others are stepped over. */
export const EXTENSION_INTEREST_BEARING = 10
const EXTENSION_METADATA_POINTER = 18
export const EXTENSION_TOKEN_METADATA = 19
export const EXTENSION_SCALED_UI_AMOUNT = 25

/** Stands where no extension has been written yet. */
const EXTENSION_NONE = 0

/** Token-2022 pads mints to the size of a token account, so that the account type is always at one offset. */
export const ACCOUNT_TYPE_AT = 165

/**
 * The extensions of a Token-2022 account by their number, known or not; of several with one number the first, which
 * is the one that the program itself finds.
 *
 * @param data - the whole account, sound up to the account type. Empty without extensions.
 * @throws {AccountRefusal} `TRUNCATED` when one of them ends outside the account: then no other one is trusted either.
 * @see Token-2022 `extension` (type u16, length u16, value)
 */
export function readTokenExtensions(data: Uint8Array): ReadonlyMap<number, Uint8Array> {
  const extensions = new Map<number, Uint8Array>()
  const reader = new BorshReader(data, ACCOUNT_TYPE_AT + 1)
  // Fewer than four bytes cannot hold another header: the program leaves such a rest unused.
  while (reader.remaining >= 4) {
    const type = reader.u16()
    if (type === EXTENSION_NONE) break
    const value = reader.bytes(reader.u16())
    if (!extensions.has(type)) extensions.set(type, value)
  }
  return extensions
}

/** Reads the address at which a mint says that its metadata is; `undefined` without the extension and when it points nowhere. */
export function readMetadataPointer(extensions: ReadonlyMap<number, Uint8Array>): string | undefined {
  const value = extensions.get(EXTENSION_METADATA_POINTER)
  if (value === undefined) return undefined
  // The authority that may move the pointer comes first.
  if (value.length < 64) throw new AccountRefusal('TRUNCATED', `metadata pointer of ${value.length} bytes`)
  return new BorshReader(value, 32).optionalAddress()
}

/** First bytes of SHA-256 of `spl_token_metadata_interface:token_metadata`. */
const DISCRIMINATOR = [112, 132, 90, 90, 11, 88, 157, 87]
const HEADER_SIZE = DISCRIMINATOR.length + 4

/**
 * Reads metadata as the token metadata interface lays it out: what Token-2022 keeps inside a mint, and other programs
 * in accounts of their own.
 *
 * @param mint - must be the mint that the metadata names.
 * @throws {AccountRefusal} also when the additional fields, which are not kept, do not fit.
 * @see SPL `token_metadata_interface::state::TokenMetadata`
 */
export function readTokenMetadata(value: Uint8Array, mint: string): EmbeddedMetadata {
  const reader = new BorshReader(value)
  const updateAuthority = reader.optionalAddress()
  const named = reader.address()
  if (named !== mint) throw new AccountRefusal('WRONG_MINT', `metadata names ${named}`)
  const [name, symbol, uri] = [reader.string(), reader.string(), reader.string()]
  for (let fields = reader.u32(); fields > 0; fields--) {
    for (const _ of ['key', 'value']) reader.bytes(reader.u32())
  }
  return {
    kind: 'token2022',
    ...(updateAuthority === undefined ? {} : { updateAuthority }),
    ...{ mint, name, symbol, uri, sellerFeeBasisPoints: 0, creators: [] },
    isMutable: updateAuthority !== undefined
  }
}

/**
 * Reads the account of any program that keeps token metadata by the interface.
 *
 * @param data - the whole account.
 * @throws {AccountRefusal} `WRONG_KIND` when no entry of it is token metadata.
 * @see SPL `type_length_value` (discriminator of 8 bytes, length u32, value)
 */
export function readInterfaceMetadata(data: Uint8Array, mint: string): EmbeddedMetadata {
  const reader = new BorshReader(data)
  while (reader.remaining >= HEADER_SIZE) {
    const discriminator = reader.bytes(DISCRIMINATOR.length)
    if (discriminator.every(byte => byte === 0)) break
    const value = reader.bytes(reader.u32())
    if (DISCRIMINATOR.every((byte, at) => byte === discriminator[at])) return readTokenMetadata(value, mint)
  }
  throw new AccountRefusal('WRONG_KIND', `${data.length} bytes without token metadata`)
}
