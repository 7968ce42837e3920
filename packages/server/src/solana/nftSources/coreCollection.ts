import type { RawAccount } from '../../nodes/solana/rpc.ts'
import { CORE_KEYS, openCoreAccount } from './coreAsset.ts'
import { type CorePlugins, readCorePlugins } from './corePlugins.ts'

/** What a collection says about its assets. */
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
