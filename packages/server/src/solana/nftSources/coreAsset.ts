import type { RawAccount } from '../../nodes/solana/readAnswers.ts'
import { AccountRefusal, BorshReader } from '../accounts/borshReader.ts'
import { type CorePlugins, readCorePlugins } from './corePlugins.ts'

/** Metaplex Core: NFTs that are one account each, without mint and token account. */
export const MPL_CORE_PROGRAM = 'CoREENxT6tW1HoK8ypY1SxRMZTcVPm7R94rH4PZNhX7d'

/** First byte of an account of the program. */
export const CORE_KEYS = { uninitialized: 0, asset: 1, collection: 5 } as const

/** An asset as its account has it; plugins of its collection are not mixed in. */
export interface CoreAsset {
  readonly owner: string
  /** Who may change it: no address, one address, or the one that may change the collection. */
  readonly updateAuthority:
    | { readonly kind: 'none' }
    | { readonly kind: 'address' | 'collection'; readonly address: string }
  readonly name: string
  readonly uri: string
  readonly plugins: CorePlugins
}

/**
 * Reads an AssetV1 account of Metaplex Core.
 *
 * @throws {AccountRefusal} it is something else (a burnt asset is one zero byte), or a part of it is broken.
 * @see Metaplex Core `state::AssetV1`
 */
export function readCoreAsset(account: RawAccount): CoreAsset {
  const reader = openCoreAccount(account, CORE_KEYS.asset)
  const owner = reader.address()
  const updateAuthority = readUpdateAuthority(reader)
  const name = reader.string()
  const uri = reader.string()
  // Counts changes of an asset that is prepared for compression.
  reader.option(() => reader.u64())
  const plugins = readCorePlugins(account.data, account.data.length - reader.remaining)
  return { owner, updateAuthority, name, uri, plugins }
}

/**
 * Opens a reader after the key of an account of the program.
 * @throws {AccountRefusal} another program's account, or another kind than `key`.
 */
function openCoreAccount({ owner, data }: RawAccount, key: number): BorshReader {
  if (owner !== MPL_CORE_PROGRAM) throw new AccountRefusal('WRONG_OWNER', `owned by ${owner}`)
  const reader = new BorshReader(data)
  const found = reader.remaining === 0 ? CORE_KEYS.uninitialized : reader.u8()
  if (found === CORE_KEYS.uninitialized) throw new AccountRefusal('UNINITIALIZED', 'Core account')
  if (found !== key) throw new AccountRefusal('WRONG_KIND', `key ${found}`)
  return reader
}

function readUpdateAuthority(reader: BorshReader): CoreAsset['updateAuthority'] {
  const kind = reader.u8()
  if (kind > 2) throw new AccountRefusal('MALFORMED', `update authority ${kind}`)
  if (kind === 0) return { kind: 'none' }
  return { kind: kind === 1 ? 'address' : 'collection', address: reader.address() }
}

/** The facts of a collection that count for its assets. */
export interface CoreCollection {
  readonly updateAuthority: string
  /** Each counts for the assets that have no such plugin of their own. */
  readonly plugins: CorePlugins
}

/**
 * Reads a CollectionV1 account of Metaplex Core.
 *
 * @throws {AccountRefusal} it is something else, or a part of it is broken.
 * @see Metaplex Core `state::CollectionV1`
 */
export function readCoreCollection(account: RawAccount): CoreCollection {
  const reader = openCoreAccount(account, CORE_KEYS.collection)
  const updateAuthority = reader.address()
  // Its own name and URI, then how many assets were made and how many there are.
  reader.string()
  reader.string()
  reader.u32()
  reader.u32()
  return {
    updateAuthority,
    plugins: readCorePlugins(account.data, account.data.length - reader.remaining)
  }
}
