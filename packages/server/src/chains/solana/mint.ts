import type { EmbeddedMetadata } from './assetMetadata.ts'
import { AccountRefusal, BorshReader } from './borshReader.ts'
import type { RawAccount } from './rpc.ts'
import { formatSolanaAddress, TOKEN_2022_PROGRAM } from './solanaAddress.ts'

export interface Mint {
  readonly decimals: number
  /** u64, base units. */
  readonly supply: bigint
}

/** What the Token-2022 extensions of a mint say about its metadata; both absent on a plain mint. */
export interface MintMetadataExtensions {
  /** The account that holds the metadata: the mint itself, a Metaplex account, or any other program's. */
  readonly pointsTo?: string
  /** Metadata kept inside the mint. */
  readonly embedded?: EmbeddedMetadata
}

const BASE_SIZE = 82
/** Token-2022 pads mints to the size of a token account, so that the account type is always at one place. */
const ACCOUNT_TYPE_AT = 165
const MULTISIG_SIZE = 355
const ACCOUNT_TYPE_MINT = 1

const EXTENSION_NONE = 0
const EXTENSION_METADATA_POINTER = 18
const EXTENSION_TOKEN_METADATA = 19

/**
 * Reads the part of a mint that both token programs share.
 *
 * @param programId - the token program that must own the mint.
 * @throws {AccountRefusal}
 * @see SPL Token `state::Mint`, Token-2022 `extension::AccountType`
 */
export function readMint(account: RawAccount, programId: string): Mint {
  if (account.owner !== programId) throw new AccountRefusal('WRONG_OWNER', `owned by ${account.owner}`)
  const { data } = account
  if (data.length < BASE_SIZE) throw new AccountRefusal('TRUNCATED', `${data.length} bytes`)
  if (data.length > BASE_SIZE) {
    const extended = programId === TOKEN_2022_PROGRAM && data.length !== MULTISIG_SIZE
    if (!extended || data[ACCOUNT_TYPE_AT] !== ACCOUNT_TYPE_MINT) {
      throw new AccountRefusal('WRONG_KIND', `${data.length} bytes, account type ${data[ACCOUNT_TYPE_AT]}`)
    }
  }
  // Mint authority (a 4-byte option and 32 bytes) comes first.
  const reader = new BorshReader(data, 36)
  const supply = reader.u64()
  const decimals = reader.u8()
  if (!reader.bool()) throw new AccountRefusal('UNINITIALIZED', 'mint')
  return { decimals, supply }
}

/**
 * Reads the metadata pointer and the embedded metadata of a Token-2022 mint; other extensions are stepped over.
 * Apart from {@link readMint}, so that broken metadata does not cost the decimals.
 *
 * @param mintAddress - must be the mint that the embedded metadata names.
 * @throws {AccountRefusal}
 * @see Token-2022 `extension` (type u16, length u16, value), SPL `token_metadata_interface::state::TokenMetadata`
 */
export function readMintMetadataExtensions(data: Uint8Array, mintAddress: string): MintMetadataExtensions {
  const reader = new BorshReader(data, ACCOUNT_TYPE_AT + 1)
  let pointsTo: string | undefined
  let embedded: EmbeddedMetadata | undefined
  // Fewer than four bytes cannot hold another header: the program leaves such a rest unused.
  while (reader.remaining >= 4) {
    const type = reader.u16()
    if (type === EXTENSION_NONE) break
    const value = reader.bytes(reader.u16())
    if (type === EXTENSION_METADATA_POINTER) pointsTo = readMetadataPointer(value)
    else if (type === EXTENSION_TOKEN_METADATA) embedded = readTokenMetadata(value, mintAddress)
  }
  return {
    ...(pointsTo === undefined ? {} : { pointsTo }),
    ...(embedded === undefined ? {} : { embedded })
  }
}

function readMetadataPointer(value: Uint8Array): string | undefined {
  const reader = new BorshReader(value)
  reader.bytes(32)
  return optionalAddress(reader)
}

function readTokenMetadata(value: Uint8Array, mintAddress: string): EmbeddedMetadata {
  const reader = new BorshReader(value)
  const updateAuthority = optionalAddress(reader)
  const mint = reader.address()
  if (mint !== mintAddress) throw new AccountRefusal('WRONG_MINT', `metadata names ${mint}`)
  return {
    kind: 'token2022',
    ...(updateAuthority === undefined ? {} : { updateAuthority }),
    mint,
    name: reader.string(),
    symbol: reader.string(),
    uri: reader.string(),
    sellerFeeBasisPoints: 0,
    creators: [],
    isMutable: updateAuthority !== undefined
  }
}

/** `OptionalNonZeroPubkey`: 32 zero bytes mean nobody. */
function optionalAddress(reader: BorshReader): string | undefined {
  const bytes = reader.bytes(32)
  return bytes.some(byte => byte !== 0) ? formatSolanaAddress(bytes) : undefined
}
