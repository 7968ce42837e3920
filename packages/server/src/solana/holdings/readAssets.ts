import type { SolanaCallOptions } from '../../nodes/solana/nodes.ts'
import type { RawAccount } from '../../nodes/solana/readAnswers.ts'
import { MAX_ACCOUNTS_PER_CALL, type ProgramAccountsOptions, type SolanaRpc } from '../../nodes/solana/rpc.ts'
import { METAPLEX_PROGRAM } from '../../nodes/solana/solanaAddress.ts'
import { chunk, mapConcurrently } from '../../platform/concurrency/permits.ts'
import type { AssetMetadata } from '../accounts/assetMetadata.ts'
import { AccountRefusal, unlessRefused } from '../accounts/borshReader.ts'
import { readMetaplexMetadata } from '../accounts/metaplex.ts'
import { type Mint, readMint } from '../accounts/tokenAccount.ts'
import {
  EXTENSION_TOKEN_METADATA,
  readInterfaceMetadata,
  readMetadataPointer,
  readTokenExtensions,
  readTokenMetadata
} from '../accounts/tokenExtensions.ts'
import { readUiAmount, type UiAmount } from '../accounts/uiAmount.ts'
import type { MetadataAddresses } from './metadataAddresses.ts'

/** A mint to look up, with the token program that must own it. */
export interface MintRef {
  readonly mint: string
  readonly programId: string
}

/** One mint as it was found; absent `metadata` means that there is none, unless `unreadable` names it. */
export interface Asset extends Partial<Mint> {
  readonly metadata?: AssetMetadata
  readonly uiAmount?: UiAmount
  /**
   * `mint`: closed or no mint, so decimals and supply are unknown. `metadata`: the metadata, or how amounts are to be
   * shown, is there, but broken.
   */
  readonly unreadable?: 'mint' | 'metadata'
}

/** A mint with the account that is read along with it, where its metadata should be. */
interface Place extends MintRef {
  readonly metadataAddress: string
  /** Where Metaplex would keep it. */
  readonly metaplexAddress: string
}

/** Owns accounts without a program. */
const SYSTEM_PROGRAM = '11111111111111111111111111111111'

/**
 * Any account may send another a token whose metadata is said to be in an account of 10 MiB. Fifty of them would be more
 * than any answer may be, and would end the call. A whole mint fits in here with the longest metadata there can be.
 */
const dataSlice = { offset: 0, length: 70 * 1024 }

/** A mint and its metadata always travel in one call, so they are of one slot. */
const MINTS_PER_CALL = MAX_ACCOUNTS_PER_CALL / 2

export interface AssetReaderOptions {
  readonly metadataAddresses: MetadataAddresses
  /** Calls in flight at the same time. */
  readonly maxConcurrentCalls: number
}

export interface FoundAssets {
  /** One entry per mint. */
  readonly assets: ReadonlyMap<string, Asset>
  /** Of the answers; 0 without any. */
  readonly newestSlot: number
}

/**
 * Reads mints and the metadata that goes with them.
 *
 * @param refs - each mint once.
 * @returns a single bad account is marked and never fails the others.
 * @throws whatever {@link SolanaRpc} throws: an unread part is an error, never an empty answer.
 * @remarks One `getMultipleAccounts` per 50 mints, at most `maxConcurrentCalls` at a time, and one more for those
 *   50 when some of them point to metadata elsewhere. The addresses of the metadata are derived between the calls,
 *   so that a large account does not hold up the event loop.
 */
export async function readAssets(
  rpc: SolanaRpc,
  refs: readonly MintRef[],
  { metadataAddresses, maxConcurrentCalls }: AssetReaderOptions,
  options: SolanaCallOptions
): Promise<FoundAssets> {
  const assets = new Map<string, Asset>()
  let newestSlot = 0

  /** @returns the accounts to read instead. Until then the assets count as unread. */
  async function readPlaces(
    places: readonly Place[],
    callOptions: ProgramAccountsOptions
  ): Promise<readonly Place[]> {
    const keys = places.flatMap(({ mint, metadataAddress }) => [mint, metadataAddress])
    const { slot, value } = await rpc.getMultipleAccounts(keys, callOptions)
    newestSlot = Math.max(newestSlot, slot)
    const elsewhere: Place[] = []
    places.forEach((place, at) => {
      const { pointsTo, ...asset } = readAsset(place, value[2 * at], value[2 * at + 1])
      assets.set(place.mint, asset)
      if (pointsTo !== undefined) elsewhere.push({ ...place, metadataAddress: pointsTo })
    })
    return elsewhere
  }

  await mapConcurrently(chunk(refs, MINTS_PER_CALL), maxConcurrentCalls, async portion => {
    const addresses = await metadataAddresses.find(portion.map(({ mint }) => mint))
    const elsewhere = await readPlaces(
      portion.map((ref, at) => {
        const metaplexAddress = addresses[at] ?? ''
        return { ...ref, metaplexAddress, metadataAddress: metaplexAddress }
      }),
      options
    )
    // A pointer that moves between the two calls is not followed again: the asset stays named as unread.
    if (elsewhere.length > 0) await readPlaces(elsewhere, { ...options, dataSlice })
  })
  return { assets, newestSlot }
}

/** An asset, and where its metadata is when that is not the account that was read along with it. */
type FoundAsset = Asset & { readonly pointsTo?: string }

function readAsset(
  place: Place,
  mintAccount: RawAccount | undefined,
  metadataAccount: RawAccount | undefined
): FoundAsset {
  if (mintAccount === undefined) return { unreadable: 'mint' }
  const mint = unlessRefused(() => readMint(mintAccount, place.programId))
  if (mint === undefined) return { unreadable: 'mint' }
  const extensions = unlessRefused(() => readTokenExtensions(mintAccount.data))
  if (extensions === undefined) return { ...mint, unreadable: 'metadata' }
  const uiAmount = unlessRefused(() => readUiAmount(extensions))
  const described = unlessRefused(() => readMetadata(place, extensions, metadataAccount))
  return {
    ...mint,
    ...described,
    ...(uiAmount === undefined || Object.keys(uiAmount).length === 0 ? {} : { uiAmount }),
    ...(uiAmount && described && described.pointsTo === undefined ? {} : { unreadable: 'metadata' })
  }
}

/**
 * The pointer of a Token-2022 mint decides which of several metadata is meant: any account may have made the others.
 * Without one, what the mint itself holds comes before what Metaplex does.
 */
function readMetadata(
  { mint, metadataAddress, metaplexAddress }: Place,
  extensions: ReadonlyMap<number, Uint8Array>,
  account: RawAccount | undefined
): Pick<FoundAsset, 'metadata' | 'pointsTo'> {
  const embedded = extensions.get(EXTENSION_TOKEN_METADATA)
  const pointsTo = readMetadataPointer(extensions) ?? (embedded ? mint : metaplexAddress)
  if (pointsTo === mint) return embedded ? { metadata: readTokenMetadata(embedded, mint) } : {}
  if (pointsTo !== metadataAddress) return { pointsTo }
  const metadata = account && readMetadataAccount(account, mint)
  return metadata ? { metadata } : {}
}

/**
 * An account that belongs to no program, because it only received lamports, or that Metaplex has closed is
 * the same as none; one that is meant to be metadata and cannot be read is not.
 */
function readMetadataAccount(account: RawAccount, mint: string): AssetMetadata | undefined {
  if (account.owner === SYSTEM_PROGRAM) return undefined
  if (account.owner !== METAPLEX_PROGRAM) return readInterfaceMetadata(account.data, mint)
  try {
    return readMetaplexMetadata(account, mint)
  } catch (error) {
    if (error instanceof AccountRefusal && error.reason === 'UNINITIALIZED') return undefined
    throw error
  }
}
