import type { AssetMetadata } from './assetMetadata.ts'
import { AccountRefusal } from './borshReader.ts'
import { readMetaplexMetadata } from './metaplex.ts'
import { type Mint, readMint, readMintMetadataExtensions } from './mint.ts'
import {
  findProgramAddress,
  MAX_ACCOUNTS_PER_CALL,
  type RawAccount,
  type SolanaCallOptions,
  type SolanaRpc
} from './rpc.ts'
import { METAPLEX_PROGRAM, parseSolanaAddress, TOKEN_2022_PROGRAM } from './solanaAddress.ts'

/** A mint to look up, with the token program that must own it. */
export interface MintRef {
  readonly mint: string
  readonly programId: string
}

/** One mint as it was found; absent `metadata` means that there is none, unless `unreadable` names it. */
export interface Asset extends Partial<Mint> {
  readonly metadata?: AssetMetadata
  /** `mint`: closed or no mint, so decimals and supply are unknown. `metadata`: it is there, but broken. */
  readonly unreadable?: 'mint' | 'metadata'
}

/** A mint and its metadata always travel in one call, so they are of one slot. */
const MINTS_PER_CALL = MAX_ACCOUNTS_PER_CALL / 2

const METADATA_SEED = new TextEncoder().encode('metadata')

/**
 * Reads mints and the metadata that goes with them.
 *
 * @param refs - each mint once.
 * @returns one entry per mint. A single bad account is marked and never fails the others.
 * @throws whatever {@link SolanaRpc} throws: an unread part is an error, never an empty answer.
 * @remarks One `getMultipleAccounts` per 50 mints, at most `maxConcurrentCalls` at a time; the addresses of the
 *   metadata are derived between the calls, so that a large account does not hold up the event loop.
 */
export async function readAssets(
  rpc: SolanaRpc,
  refs: readonly MintRef[],
  maxConcurrentCalls: number,
  options: SolanaCallOptions
): Promise<ReadonlyMap<string, Asset>> {
  const assets = new Map<string, Asset>()
  let next = 0
  const readPortions = async () => {
    while (next < refs.length) {
      const portion = refs.slice(next, next + MINTS_PER_CALL)
      next += MINTS_PER_CALL
      const metadataAddresses = portion.map(ref => findMetadataAddress(ref.mint))
      const keys = portion.flatMap((ref, at) => [ref.mint, metadataAddresses[at] ?? ''])
      const { value } = await rpc.getMultipleAccounts(keys, options)
      portion.forEach((ref, at) => {
        const metadataAddress = metadataAddresses[at] ?? ''
        assets.set(ref.mint, readAsset(ref, value[2 * at], metadataAddress, value[2 * at + 1]))
      })
    }
  }
  await Promise.all(Array.from({ length: maxConcurrentCalls }, readPortions))
  return assets
}

/** Where Metaplex keeps the metadata of a mint. */
export function findMetadataAddress(mint: string): string {
  const seeds = [METADATA_SEED, bytesOf(METAPLEX_PROGRAM), bytesOf(mint)]
  return findProgramAddress(seeds, METAPLEX_PROGRAM)
}

function bytesOf(address: string): Uint8Array {
  const bytes = parseSolanaAddress(address)
  if (bytes === undefined) throw new RangeError('not an address')
  return bytes
}

function readAsset(
  ref: MintRef,
  mintAccount: RawAccount | undefined,
  metadataAddress: string,
  metadataAccount: RawAccount | undefined
): Asset {
  if (mintAccount === undefined) return { unreadable: 'mint' }
  let mint: Mint
  try {
    mint = readMint(mintAccount, ref.programId)
  } catch (error) {
    if (error instanceof AccountRefusal) return { unreadable: 'mint' }
    throw error
  }
  try {
    const metadata = readMetadata(ref, mintAccount, metadataAddress, metadataAccount)
    return metadata === undefined ? mint : { ...mint, metadata }
  } catch (error) {
    if (error instanceof AccountRefusal) return { ...mint, unreadable: 'metadata' }
    throw error
  }
}

/**
 * The pointer of a Token-2022 mint decides which of several metadata is meant: anybody may have made the others.
 * One that points to another program's account is not followed yet; the asset then has no metadata.
 */
function readMetadata(
  { mint, programId }: MintRef,
  mintAccount: RawAccount,
  metadataAddress: string,
  metadataAccount: RawAccount | undefined
): AssetMetadata | undefined {
  const metaplex = () => (metadataAccount ? readMetaplexIfAny(metadataAccount, mint) : undefined)
  if (programId !== TOKEN_2022_PROGRAM) return metaplex()
  const { pointsTo, embedded } = readMintMetadataExtensions(mintAccount.data, mint)
  if (pointsTo === mint) return embedded
  if (pointsTo === metadataAddress) return metaplex()
  return pointsTo === undefined ? (embedded ?? metaplex()) : undefined
}

/**
 * An account at the metadata address that is not Metaplex' (somebody sent lamports there) or that the program has
 * closed is the same as none; one that is meant to be metadata and cannot be read is not.
 */
function readMetaplexIfAny(account: RawAccount, mint: string): AssetMetadata | undefined {
  try {
    return readMetaplexMetadata(account, mint)
  } catch (error) {
    if (error instanceof AccountRefusal && ['WRONG_OWNER', 'UNINITIALIZED'].includes(error.reason)) {
      return undefined
    }
    throw error
  }
}
