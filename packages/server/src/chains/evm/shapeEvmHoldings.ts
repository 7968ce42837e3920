import type { EvmHoldings as EvmHoldingsOnWire, EvmIncomplete, EvmNft, EvmToken } from '@chain-data/protocol'
import { getAddress } from 'ethers'
import { displayText } from '../../platform/displayText.ts'
import type { HeldNft, HeldToken } from './heldAssets.ts'
import type { EvmHoldingsAtBlock } from './holdings.ts'

/** What the metadata of one NFT adds. */
export interface NftMetadata {
  /** Verbatim. */
  readonly data: Readonly<Record<string, unknown>>
  /** Ready to be shown; "" when there is none. */
  readonly image: string
}

export interface HoldingsExtras {
  /** Metadata of `nfts`, place by place; absent where it is not available. */
  readonly metadata: readonly (NftMetadata | undefined)[]
  /** Logo of an ERC-20 contract; "" when there is none. */
  readonly tokenImage: (address: string) => string
}

/**
 * Holdings as the wire has them: checksummed addresses, decimal strings, metadata put in its places.
 *
 * An NFT whose metadata is not available although it has a URI is listed with `data: {}` and named in `incomplete`
 * (METADATA_UNAVAILABLE).
 * @see spec/openrpc.json EvmHoldings
 */
export function shapeEvmHoldings(
  { asOf, nativeWei, tokens, nfts, incomplete }: EvmHoldingsAtBlock,
  { metadata, tokenImage }: HoldingsExtras
): EvmHoldingsOnWire {
  const withoutMetadata = nfts
    .filter(({ tokenUri }, i) => tokenUri !== '' && metadata[i] === undefined)
    .map(({ address, tokenId }) => ({ address, tokenId, reason: 'METADATA_UNAVAILABLE' }))
  const missing = [...incomplete, ...withoutMetadata].map(shapeIncomplete)
  return {
    native: nativeWei.toString(),
    tokens: tokens.map(token => shapeToken(token, tokenImage)),
    nfts: nfts.map((nft, i) => shapeNft(nft, metadata[i])),
    asOf: { blockNumber: asOf.number, blockHash: asOf.hash, timestamp: asOf.timestampSeconds },
    ...(missing.length > 0 && { incomplete: missing })
  }
}

function shapeToken(
  { address, amount, decimals, name, symbol }: HeldToken,
  tokenImage: HoldingsExtras['tokenImage']
): EvmToken {
  return {
    decimals,
    amount: amount.toString(),
    address: getAddress(address),
    name,
    symbol,
    image: tokenImage(address)
  }
}

function shapeNft(nft: HeldNft, metadata: NftMetadata | undefined): EvmNft {
  return {
    address: getAddress(nft.address),
    isSemiFungible: nft.standard === 'erc1155',
    tokenId: nft.tokenId.toString(),
    tokenBalance: nft.balance.toString(),
    tokenURI: nft.tokenUri,
    name: nameIn(metadata) || nft.name,
    symbol: nft.symbol,
    image: metadata?.image ?? '',
    data: metadata?.data ?? {}
  }
}

/** A display copy; the name as written is in `data`. */
function nameIn(metadata: NftMetadata | undefined): string {
  const name = metadata !== undefined && Object.hasOwn(metadata.data, 'name') ? metadata.data.name : undefined
  return typeof name === 'string' ? displayText(name) : ''
}

function shapeIncomplete(item: {
  readonly address: string
  readonly tokenId?: bigint
  readonly reason: string
}): EvmIncomplete {
  const { address, tokenId, reason } = item
  return {
    address: getAddress(address),
    ...(tokenId !== undefined && { tokenId: tokenId.toString() }),
    reason
  }
}
