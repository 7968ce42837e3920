import type { ChainDataError } from '@chain-data/index'
import type { SolanaRpc } from '../../nodes/solana/rpc.ts'
import { openAbortScope } from '../../platform/concurrency/deadline.ts'
import { present } from '../../platform/present.ts'
import type { AssetMetadata } from '../accounts/assetMetadata.ts'
import type { OwnedTokenAccount } from '../accounts/tokenAccount.ts'
import type { UiAmount } from '../accounts/uiAmount.ts'
import { classifyAsset } from './classifyAsset.ts'
import { createMetadataAddresses } from './metadataAddresses.ts'
import type { Asset } from './readAssets.ts'
import { readOwned } from './readOwned.ts'

/** A token account whose asset is neither an NFT nor semi-fungible. */
export interface TokenHolding {
  /** The token account. */
  readonly address: string
  readonly mint: string
  /** Base units, u64. */
  readonly amount: bigint
  readonly decimals: number
  /** Absent when the mint has none, or none that could be read. */
  readonly metadata?: AssetMetadata
  /** Absent where amounts are shown as they are. */
  readonly uiAmount?: UiAmount
}

export interface NftHolding {
  /** The token account; the asset itself where it has none. */
  readonly address: string
  readonly mint: string
  /** Whole units, u64; above 1 only where semi-fungible. */
  readonly amount: bigint
  readonly isSemiFungible: boolean
  readonly metadata: AssetMetadata
}

/** Something that is missing from the answer or only half read. */
export interface IncompleteHolding {
  /** The token account, mint, asset or collection that it concerns; the account itself where a source is missing. */
  readonly address: string
  readonly reason:
    | 'BALANCE_UNREADABLE'
    | 'MINT_UNREADABLE'
    | 'METADATA_UNREADABLE'
    | 'ASSET_UNREADABLE'
    | 'COLLECTION_UNREADABLE'
    | 'MPL_CORE_UNAVAILABLE'
    | 'COMPRESSED_UNAVAILABLE'
    | 'COMPRESSED_CUT_OFF'
}

/** NFTs that have no token account, from a source other than the token programs. */
export interface SourcedNfts {
  readonly nfts: readonly NftHolding[]
  readonly incomplete: readonly IncompleteHolding[]
  /** Nothing of it is older than this slot; absent where the source knows no slots. */
  readonly slot?: number
}

/** NFTs from a source that may fail: with a `failure` there may be more, as `incomplete` says. */
export interface ReadNfts extends SourcedNfts {
  readonly failure?: ChainDataError
}

export interface NftSourceQuery {
  readonly accountAddress: string
  /** Aborts when the caller is gone. */
  readonly signal: AbortSignal
  /** `Date.now()` after which an answer comes too late. */
  readonly deadlineMs: number
}

/**
 * A further source of an account's NFTs. Its failure never takes the rest of the answer with it: it is
 * named under `incomplete`.
 *
 * @throws the signal's reason, and what is a bug.
 */
export type NftSource = (query: NftSourceQuery) => Promise<SourcedNfts>

/** The holdings of a Solana account. Lists are ordered by mint, then by token account. */
export interface SolanaAccountHoldings {
  readonly lamports: bigint
  readonly nfts: readonly NftHolding[]
  readonly tokens: readonly TokenHolding[]
  /** Ordered by address, then by reason. */
  readonly incomplete: readonly IncompleteHolding[]
  /** Nothing in the answer is older than this slot. */
  readonly asOf: { readonly slot: number }
}

interface SolanaHoldingsQuery {
  /** Base58 of 32 bytes: see `parseSolanaAddress`. */
  readonly accountAddress: string
  readonly signal?: AbortSignal | undefined
  /** `Date.now()` after which the read is given up. */
  readonly deadlineMs?: number | undefined
}

export interface SolanaHoldingsReader {
  /**
   * Lamports, tokens and NFTs of one account; nothing for an address never seen.
   *
   * @throws {NodeUnavailableError} no node answered in time (retryable).
   * @throws {NodeRpcError} a node answered an error; one failed program query fails the read.
   * @throws {NodeContradictionError} an answer does not fit its question.
   * @remarks 3 calls for the balance and the token accounts of both programs, at one slot where the cluster lets
   *   them; then one call per 50 mints, none of them older, and one more where some of the 50 keep their metadata
   *   elsewhere ({@link readOwned}). A mint that closes in between is named as incomplete.
   */
  readHoldings(query: SolanaHoldingsQuery): Promise<SolanaAccountHoldings>
}

interface SolanaHoldingsOptions {
  readonly rpc: SolanaRpc
  /** Sources of NFTs without token accounts; they are read along with the rest. Default none. */
  readonly nftSources?: readonly NftSource[]
  /** Calls for mints that one read keeps in flight. Default 4. */
  readonly maxConcurrentCalls?: number
}

/** Reads holdings live from a plain node; keeps nothing between two reads but the addresses of metadata accounts. */
export function createSolanaHoldings(options: SolanaHoldingsOptions): SolanaHoldingsReader {
  const { rpc, nftSources = [], maxConcurrentCalls = 4 } = options
  const ownedOptions = { rpc, maxConcurrentCalls, metadataAddresses: createMetadataAddresses() }
  return {
    async readHoldings({ accountAddress, signal, deadlineMs }) {
      // Calls that still run when one of them has failed are of no use.
      const over = openAbortScope([signal])
      const callOptions = { signal: over.signal, deadlineMs }
      try {
        const sourced = Promise.all(
          nftSources.map(read =>
            read({
              accountAddress,
              signal: callOptions.signal,
              deadlineMs: deadlineMs ?? Number.POSITIVE_INFINITY
            })
          )
        )
        // It is awaited later; the empty catch prevents an unhandled rejection until then.
        sourced.catch(() => {})
        const owned = await readOwned(ownedOptions, accountAddress, callOptions)
        const { lamports, assets, refused, oldestSlot } = owned
        const accounts = [...owned.accounts].sort(byMintAndAddress)
        const further = await sourced
        const { nfts, tokens } = sortOut(accounts, assets)
        return {
          lamports,
          tokens,
          ...mergeSourced(nfts, listIncomplete(refused, assets), further, assets),
          asOf: { slot: Math.min(oldestSlot, ...further.map(part => part.slot ?? oldestSlot)) }
        }
      } finally {
        over.end()
      }
    }
  }
}

function sortOut(accounts: readonly OwnedTokenAccount[], assets: ReadonlyMap<string, Asset>) {
  const nfts: NftHolding[] = []
  const tokens: TokenHolding[] = []
  for (const { address, mint, amount } of accounts) {
    const { decimals, supply, metadata, uiAmount } = assets.get(mint) ?? {}
    // Without decimals the amount means nothing: the mint is named as incomplete instead.
    if (decimals === undefined || supply === undefined) continue
    const kind = classifyAsset({ decimals, supply }, metadata)
    if (kind === 'token' || metadata === undefined) {
      tokens.push({ address, mint, amount, decimals, ...present({ metadata, uiAmount }) })
    } else {
      nfts.push({ address, mint, amount, isSemiFungible: kind === 'semiFungible', metadata })
    }
  }
  return { nfts, tokens }
}

function listIncomplete(refused: readonly string[], assets: ReadonlyMap<string, Asset>) {
  const incomplete: IncompleteHolding[] = refused.map(address => ({ address, reason: 'BALANCE_UNREADABLE' }))
  for (const [mint, { unreadable }] of assets) {
    if (unreadable === 'mint') incomplete.push({ address: mint, reason: 'MINT_UNREADABLE' })
    if (unreadable === 'metadata') incomplete.push({ address: mint, reason: 'METADATA_UNREADABLE' })
  }
  return incomplete
}

/**
 * Prefers what the chain shows: an indexer that lags still calls an NFT compressed that has just been given a mint of
 * the same address, and may not know what to make of one that is listed here.
 */
function mergeSourced(
  nfts: readonly NftHolding[],
  incomplete: readonly IncompleteHolding[],
  further: readonly SourcedNfts[],
  mints: ReadonlyMap<string, unknown>
) {
  const others = further.flatMap(part => part.nfts).filter(({ mint }) => !mints.has(mint))
  const listed = new Set([...mints.keys(), ...others.map(({ mint }) => mint)])
  const missing = further.flatMap(part => part.incomplete).filter(({ address }) => !listed.has(address))
  return {
    nfts: [...nfts, ...others].sort(byMintAndAddress),
    incomplete: [...incomplete, ...missing].sort(
      (a, b) => compareText(a.address, b.address) || compareText(a.reason, b.reason)
    )
  }
}

type Placed = { readonly mint: string; readonly address: string }

function byMintAndAddress(a: Placed, b: Placed): number {
  return compareText(a.mint, b.mint) || compareText(a.address, b.address)
}

/** By code unit: the same order on every machine. */
function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
