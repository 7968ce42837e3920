import type { SolanaCallOptions } from '../../nodes/solana/nodes.ts'
import type { RawAccount } from '../../nodes/solana/readAnswers.ts'
import { MAX_ACCOUNTS_PER_CALL, type SolanaRpc } from '../../nodes/solana/rpc.ts'
import { formatSolanaAddress } from '../../nodes/solana/solanaAddress.ts'
import { createYielder } from '../../platform/concurrency/pause.ts'
import { chunk, mapConcurrently } from '../../platform/concurrency/permits.ts'
import { NodeContradictionError } from '../../platform/errors.ts'
import type { CoreMetadata } from '../accounts/assetMetadata.ts'
import { unlessRefused } from '../accounts/borshReader.ts'
import type { IncompleteHolding, NftHolding, NftSourceQuery, SourcedNfts } from '../holdings/holdings.ts'
import {
  CORE_KEYS,
  type CoreAsset,
  type CoreCollection,
  MPL_CORE_PROGRAM,
  readCoreAsset,
  readCoreCollection
} from './coreAsset.ts'

/** The offsets of the key and the owner of an AssetV1. */
const KEY_AT = 0
const OWNER_AT = 1
const CALLS_AT_ONCE = 4

/**
 * The Metaplex Core assets of an account. Burnt ones are not among them; frozen ones are still owned.
 *
 * @throws whatever {@link SolanaRpc} throws; many nodes refuse `getProgramAccounts` altogether.
 * @throws {NodeContradictionError} an asset of another account, or one asset twice.
 * @remarks One `getProgramAccounts`, which costs the node a scan of the program's accounts unless it has an index,
 *   then one `getMultipleAccounts` per 100 collections.
 */
export async function readCoreNfts(rpc: SolanaRpc, query: NftSourceQuery): Promise<SourcedNfts> {
  const { accountAddress, ...callOptions } = query
  const { slot, value } = await rpc.getProgramAccounts(
    MPL_CORE_PROGRAM,
    [
      { offset: KEY_AT, bytes: formatSolanaAddress(Uint8Array.of(CORE_KEYS.asset)) },
      { offset: OWNER_AT, bytes: accountAddress }
    ],
    callOptions
  )
  const assets = new Map<string, CoreAsset>()
  const incomplete: IncompleteHolding[] = []
  const checkYield = createYielder()
  for (const account of value) {
    await checkYield()
    const { address } = account
    const asset = unlessRefused(() => readCoreAsset(account))
    if (asset === undefined) {
      incomplete.push({ address, reason: 'ASSET_UNREADABLE' })
      continue
    }
    if (asset.owner !== accountAddress) {
      throw new NodeContradictionError(`Core asset ${address} has another owner than was asked for`)
    }
    if (assets.has(address)) throw new NodeContradictionError(`Core asset ${address} came twice`)
    assets.set(address, asset)
  }
  const collections = await readCollections(rpc, [...assets.values()], {
    ...callOptions,
    minContextSlot: slot
  })
  for (const [address, collection] of collections) {
    if (collection === undefined) incomplete.push({ address, reason: 'COLLECTION_UNREADABLE' })
  }
  return {
    slot,
    incomplete,
    nfts: [...assets].map(([address, asset]) => toHolding(address, asset, collections))
  }
}

type Collections = ReadonlyMap<string, CoreCollection | undefined>

/** Reads each collection once; `undefined` for one that is closed or broken. */
async function readCollections(
  rpc: SolanaRpc,
  assets: readonly CoreAsset[],
  options: SolanaCallOptions
): Promise<Collections> {
  const named = assets.flatMap(({ updateAuthority }) =>
    updateAuthority.kind === 'collection' ? [updateAuthority.address] : []
  )
  const addresses = [...new Set(named)]
  const collections = new Map<string, CoreCollection | undefined>()
  await mapConcurrently(chunk(addresses, MAX_ACCOUNTS_PER_CALL), CALLS_AT_ONCE, async portion => {
    const { value } = await rpc.getMultipleAccounts(portion, options)
    for (const [at, address] of portion.entries()) collections.set(address, readIfAny(value[at]))
  })
  return collections
}

function readIfAny(account: RawAccount | undefined): CoreCollection | undefined {
  return account && unlessRefused(() => readCoreCollection(account))
}

/** An asset without a plugin has that of its collection, as the program decides it. */
function toHolding(address: string, asset: CoreAsset, collections: Collections): NftHolding {
  const { updateAuthority: authority, name, uri } = asset
  const collection = authority.kind === 'collection' ? collections.get(authority.address) : undefined
  const plugins = { ...collection?.plugins, ...asset.plugins }
  const { royalties, verifiedCreators } = plugins
  const updateAuthority = authority.kind === 'address' ? authority.address : collection?.updateAuthority
  const metadata: CoreMetadata = {
    kind: 'mplCore',
    ...(updateAuthority === undefined ? {} : { updateAuthority }),
    mint: address,
    name,
    symbol: '',
    uri,
    sellerFeeBasisPoints: royalties?.basisPoints ?? 0,
    creators: (royalties?.creators ?? []).map(creator => ({
      address: creator.address,
      verified: verifiedCreators?.has(creator.address) ?? false,
      share: creator.percentage
    })),
    isMutable: authority.kind !== 'none' && plugins.immutableMetadata !== true
  }
  return { address, mint: address, amount: 1n, isSemiFungible: false, metadata }
}
