import { AccountRefusal, BorshReader } from './borshReader.ts'

/** Numbers of the Token-2022 extensions that are read here; all others are stepped over. */
export const EXTENSION_INTEREST_BEARING = 10
export const EXTENSION_METADATA_POINTER = 18
export const EXTENSION_TOKEN_METADATA = 19
export const EXTENSION_SCALED_UI_AMOUNT = 25

/** Stands where no extension has been written yet. */
const EXTENSION_NONE = 0

/** Token-2022 pads mints to the size of a token account, so that the account type is always at one place. */
export const ACCOUNT_TYPE_AT = 165

/**
 * The extensions of a Token-2022 account by their number, known or not; of several with one number the first, which
 * is the one that the program itself finds.
 *
 * @param data - the whole account, sound up to the account type. Empty without extensions.
 * @throws {AccountRefusal} `TRUNCATED` when one of them ends behind the account: then no other one is trusted either.
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

/** Where a mint says that its metadata is; `undefined` without the extension and when it points nowhere. */
export function readMetadataPointer(extensions: ReadonlyMap<number, Uint8Array>): string | undefined {
  const value = extensions.get(EXTENSION_METADATA_POINTER)
  if (value === undefined) return undefined
  // The authority that may move the pointer comes first.
  if (value.length < 64) throw new AccountRefusal('TRUNCATED', `metadata pointer of ${value.length} bytes`)
  return new BorshReader(value, 32).optionalAddress()
}
