import type { RawAccount } from '../../nodes/solana/readAnswers.ts'
import { METAPLEX_PROGRAM } from '../../nodes/solana/solanaAddress.ts'
import { present } from '../../platform/present.ts'
import { type Creator, type MetaplexMetadata, TOKEN_STANDARDS } from './assetMetadata.ts'
import { AccountRefusal, BorshReader, unlessRefused } from './borshReader.ts'

const KEY_UNINITIALIZED = 0
const KEY_METADATA_V1 = 4
const MAX_CREATORS = 5
const USE_METHODS = ['Burn', 'Multiple', 'Single']

/**
 * Reads a Metaplex metadata account of any age: 679 bytes, 607 since the program shrinks them, or shorter ones that
 * end before the younger fields. The fields up to `isMutable` must be whole and lawful. After them the program
 * itself is lenient, since old accounts carry leftovers there, and so is this reader: what cannot be read is unset.
 *
 * @param mintAddress - must be the mint that the metadata names.
 * @throws {AccountRefusal}
 * @see Metaplex Token Metadata `state::Metadata` and its `safe_deserialize`
 */
export function readMetaplexMetadata(account: RawAccount, mintAddress: string): MetaplexMetadata {
  if (account.owner !== METAPLEX_PROGRAM) {
    throw new AccountRefusal('WRONG_OWNER', `owned by ${account.owner}`)
  }
  const reader = new BorshReader(account.data)
  if (reader.remaining === 0) throw new AccountRefusal('UNINITIALIZED', 'no data')
  const key = reader.u8()
  if (key === KEY_UNINITIALIZED) throw new AccountRefusal('UNINITIALIZED', 'metadata')
  if (key !== KEY_METADATA_V1) throw new AccountRefusal('WRONG_KIND', `key ${key}`)
  const updateAuthority = reader.address()
  const mint = reader.address()
  if (mint !== mintAddress) throw new AccountRefusal('WRONG_MINT', `metadata names ${mint}`)
  return {
    kind: 'metaplex',
    key,
    updateAuthority,
    mint,
    name: reader.string(),
    symbol: reader.string(),
    uri: reader.string(),
    sellerFeeBasisPoints: reader.u16(),
    creators: reader.option(() => readCreators(reader)) ?? [],
    primarySaleHappened: reader.bool(),
    isMutable: reader.bool(),
    ...readYoungerFields(reader)
  }
}

function readCreators(reader: BorshReader): readonly Creator[] {
  const count = reader.u32()
  if (count > MAX_CREATORS) throw new AccountRefusal('MALFORMED', `${count} creators`)
  return Array.from({ length: count }, () => ({
    address: reader.address(),
    verified: reader.bool(),
    share: reader.u8()
  }))
}

/**
 * Token standard, collection and uses stand or fall together, as in the program: one that cannot be read means that
 * its neighbours may be leftovers that only look lawful. Nothing after an unreadable field is trusted either.
 */
function readYoungerFields(reader: BorshReader): Pick<MetaplexMetadata, 'editionNonce' | 'tokenStandard'> {
  const nonce = unlessRefused(() => ({ editionNonce: reader.option(() => reader.u8()) }))
  const standard = nonce && unlessRefused(() => ({ tokenStandard: readTokenStandard(reader) }))
  return present({ ...nonce, ...standard })
}

function readTokenStandard(reader: BorshReader): MetaplexMetadata['tokenStandard'] {
  const standard = reader.option(() => oneOf(TOKEN_STANDARDS, reader.u8()))
  // Its collection, and how often it may be used: not shown, but they must be lawful.
  reader.option(() => [reader.bool(), reader.bytes(32)])
  reader.option(() => [oneOf(USE_METHODS, reader.u8()), reader.u64(), reader.u64()])
  return standard
}

function oneOf<T>(variants: readonly T[], byte: number): T {
  const variant = variants[byte]
  if (variant === undefined) throw new AccountRefusal('MALFORMED', `variant ${byte} of ${variants.length}`)
  return variant
}
