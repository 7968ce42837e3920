import type { SolanaHoldings, SolanaNft, SolanaNftMetadata, SolanaToken } from '@chain-data/protocol'
import { displayText } from '../../platform/displayText.ts'
import { present } from '../../platform/present.ts'
import type { AssetMetadata } from '../accounts/assetMetadata.ts'
import type { NftHolding, SolanaAccountHoldings, TokenHolding } from './holdings.ts'

/** The document that a metadata URI led to. */
interface FetchedUri {
  /** The JSON object that the URI leads to, verbatim. */
  readonly data: Readonly<Record<string, unknown>>
  /** An https or `data:image/` URL, or `""`. */
  readonly image: string
}

/** Fetched metadata by URI as on chain; a URI that could not be fetched is missing or `undefined`. */
export type FetchedUris = ReadonlyMap<string, FetchedUri | undefined>

/** The metadata URIs worth fetching for an answer, each once, those of NFTs first. */
export function listMetadataUris({ nfts, tokens }: SolanaAccountHoldings): readonly string[] {
  const uris = [...nfts, ...tokens].map(({ metadata }) => metadata?.uri ?? '')
  return [...new Set(uris)].filter(uri => uri !== '')
}

/**
 * Puts holdings into the shape of `enhancedGetTokensAndNFTs`.
 *
 * @param fetched - empty unless the caller asked for `parseMetadataUri`.
 * An item's `name` and `symbol` are display copies without characters that one cannot see; `metadata.data` keeps the
 * strings of the chain.
 *
 * @returns `lamports` and `amount` as bigint, so that the JSON can have every digit.
 * @see spec/openrpc.json SolanaHoldings
 */
export function shapeHoldings(holdings: SolanaAccountHoldings, fetched: FetchedUris): SolanaHoldings<bigint> {
  const { lamports, nfts, tokens, incomplete, asOf } = holdings
  return {
    lamports,
    lamportsString: lamports.toString(),
    nfts: nfts.map(nft => shapeNft(nft, fetched.get(nft.metadata.uri))),
    tokens: tokens.map(token => shapeToken(token, fetched.get(token.metadata?.uri ?? ''))),
    asOf: { slot: asOf.slot },
    ...(incomplete.length === 0 ? {} : { incomplete: incomplete.map(entry => ({ ...entry })) })
  }
}

function shapeNft(nft: NftHolding, fetched: FetchedUri | undefined): SolanaNft {
  const { mint, address, isSemiFungible, amount, metadata } = nft
  return {
    mint,
    address,
    isSemiFungible,
    // Of the others everybody knows: there is one.
    ...(isSemiFungible ? { amountString: amount.toString() } : {}),
    ...assetStandardOf(metadata),
    name: displayText(metadata.name),
    symbol: displayText(metadata.symbol),
    image: fetched?.image ?? '',
    sellerFeeBasisPoints: metadata.sellerFeeBasisPoints,
    metadata: shapeMetadata(metadata, fetched)
  }
}

/** Only what has no token account is marked. */
function assetStandardOf({ kind }: AssetMetadata): Pick<SolanaNft, 'assetStandard'> {
  if (kind === 'mplCore') return { assetStandard: 'MplCore' }
  return kind === 'compressed' ? { assetStandard: 'Compressed' } : {}
}

function shapeToken(token: TokenHolding, fetched: FetchedUri | undefined): SolanaToken<bigint> {
  const { decimals, amount, address, mint, metadata, uiAmount } = token
  return {
    decimals,
    amount,
    amountString: amount.toString(),
    address,
    mint,
    name: displayText(metadata?.name ?? ''),
    symbol: displayText(metadata?.symbol ?? ''),
    image: fetched?.image ?? '',
    ...uiAmount
  }
}

function shapeMetadata(metadata: AssetMetadata, fetched: FetchedUri | undefined): SolanaNftMetadata {
  const { updateAuthority, mint, name, symbol, uri, sellerFeeBasisPoints, creators, isMutable } = metadata
  return {
    ...present({ key: metadata.kind === 'metaplex' ? metadata.key : undefined, updateAuthority }),
    mint,
    data: {
      name,
      symbol,
      uri,
      sellerFeeBasisPoints,
      creators: creators.map(creator => ({ ...creator })),
      ...present({ uriData: fetched?.data })
    },
    ...('primarySaleHappened' in metadata ? { primarySaleHappened: metadata.primarySaleHappened } : {}),
    isMutable,
    ...present({ editionNonce: metadata.kind === 'metaplex' ? metadata.editionNonce : undefined })
  }
}
