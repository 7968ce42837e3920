import type { EmbeddedMetadata } from './assetMetadata.ts'
import { AccountRefusal, BorshReader } from './borshReader.ts'

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
