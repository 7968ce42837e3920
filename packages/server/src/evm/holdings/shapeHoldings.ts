import type { Address } from '@chain-data/index'
import type { EvmHoldings as EvmHoldingsOnWire, EvmIncomplete, EvmNft, EvmToken } from '@chain-data/protocol'
import type { FormatAddress } from '../../platform/addressFormat.ts'
import { displayText } from '../../platform/displayText.ts'
import { present } from '../../platform/present.ts'
import type { HeldNft, HeldToken } from './heldAssets.ts'
import type { EvmHoldingsAtBlock } from './holdings.ts'
import type { SpamJudge } from './spam/createSpamJudge.ts'

/** The part of an NFT that comes from its metadata. */
interface NftMetadata {
  /** Verbatim. */
  readonly data: Readonly<Record<string, unknown>>
  /** Ready to be shown; "" when there is none. */
  readonly image: string
}

/** The entry of token lists for one ERC-20 contract; "" for what they do not have. */
export interface ListedLabel {
  readonly name: string
  readonly symbol: string
  readonly image: string
}

export interface HoldingsExtras {
  /** Metadata of `nfts`, by their indexes; absent where it is not available. */
  readonly metadata: readonly (NftMetadata | undefined)[]
  /** Absent for a contract that no token list knows. */
  readonly listed: (address: string) => ListedLabel | undefined
  readonly judge: SpamJudge
  readonly formatAddress: FormatAddress
  /** Absent where the host names no prices. */
  readonly prices?: HeldPrices
}

/** The host's prices of what is held. */
interface HeldPrices {
  /** Absent where none could be read. */
  readonly quote?: { readonly currency: string; readonly timestampSeconds: number }
  /** Returns the price of a token by its contract in lower case, or of the native currency; absent where there is none. */
  readonly priceOf: (address?: string) => string | undefined
  /** False where a price may be missing that the host knows. */
  readonly isComplete: boolean
  /** Whose holdings they are. */
  readonly account: Address
}

/**
 * Shapes holdings for the wire: checksummed addresses, decimal strings, metadata, and verdicts on spam. Token lists give
 * logos, and a name or symbol only where the contract has none.
 *
 * An NFT whose metadata is not available although it has a URI is listed with `data: {}` and named in `incomplete`
 * (METADATA_UNAVAILABLE). Prices that could not be read are named there once, with the account (PRICES_UNAVAILABLE).
 * @see spec/openrpc.json EvmHoldings
 */
export function shapeHoldings(
  { asOf, nativeWei, name, tokens, nfts, incomplete }: EvmHoldingsAtBlock,
  extras: HoldingsExtras
): EvmHoldingsOnWire {
  const { metadata, listed, prices, formatAddress } = extras
  const withoutMetadata = nfts
    .filter(({ tokenUri }, i) => tokenUri !== '' && metadata[i] === undefined)
    .map(({ address, tokenId }) => ({ address, tokenId, reason: 'METADATA_UNAVAILABLE' }))
  const withoutPrices =
    prices === undefined || prices.isComplete
      ? []
      : [{ address: prices.account, reason: 'PRICES_UNAVAILABLE' }]
  const missing = [...incomplete, ...withoutMetadata, ...withoutPrices].map(item =>
    shapeIncomplete(item, formatAddress)
  )
  return {
    native: nativeWei.toString(),
    ...present({ name }),
    tokens: tokens.map(token => shapeToken(token, listed(token.address), extras)),
    nfts: nfts.map((nft, i) => shapeNft(nft, metadata[i], extras)),
    asOf: { blockNumber: asOf.number, blockHash: asOf.hash, timestamp: asOf.timestampSeconds },
    ...shapePrices(prices),
    ...(missing.length > 0 && { incomplete: missing })
  }
}

function shapePrices(prices: HeldPrices | undefined): Pick<EvmHoldingsOnWire, 'prices'> {
  if (prices?.quote === undefined) return {}
  const { currency, timestampSeconds } = prices.quote
  const native = prices.priceOf()
  return { prices: { currency, timestamp: timestampSeconds, ...(native !== undefined && { native }) } }
}

function shapeToken(
  token: HeldToken,
  label: ListedLabel | undefined,
  { judge, prices, formatAddress }: HoldingsExtras
): EvmToken {
  const spam = judge(token)
  const price = prices?.priceOf(token.address)
  return {
    decimals: token.decimals,
    amount: token.amount.toString(),
    address: formatAddress(token.address),
    name: token.name || (label?.name ?? ''),
    symbol: token.symbol || (label?.symbol ?? ''),
    image: label?.image ?? '',
    ...(spam !== undefined && { spam }),
    ...(price !== undefined && { price })
  }
}

function shapeNft(
  nft: HeldNft,
  metadata: NftMetadata | undefined,
  { judge, formatAddress }: HoldingsExtras
): EvmNft {
  const title = titleIn(metadata)
  const spam = judge({ ...nft, title })
  return {
    address: formatAddress(nft.address),
    isSemiFungible: nft.standard === 'erc1155',
    tokenId: nft.tokenId.toString(),
    tokenBalance: nft.balance.toString(),
    tokenURI: nft.tokenUri,
    name: displayText(title) || nft.name,
    symbol: nft.symbol,
    image: metadata?.image ?? '',
    data: metadata?.data ?? {},
    ...(spam !== undefined && { spam })
  }
}

/** Far more than is shown. */
const maxTitleCharacters = 2_048

/** The name in the metadata as its author wrote it, cut; "" where there is none. */
function titleIn(metadata: NftMetadata | undefined): string {
  const name = metadata !== undefined && Object.hasOwn(metadata.data, 'name') ? metadata.data.name : undefined
  return typeof name === 'string' ? name.slice(0, maxTitleCharacters) : ''
}

function shapeIncomplete(
  item: { readonly address: Address; readonly tokenId?: bigint; readonly reason: string },
  formatAddress: FormatAddress
): EvmIncomplete {
  const { address, tokenId, reason } = item
  return {
    address: formatAddress(address),
    ...(tokenId !== undefined && { tokenId: tokenId.toString() }),
    reason
  }
}
