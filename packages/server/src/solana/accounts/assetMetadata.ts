/** One creator as Metaplex metadata lists it. */
export interface Creator {
  readonly address: string
  /** The creator has signed. */
  readonly verified: boolean
  /** Percent of the royalties. */
  readonly share: number
}

interface DescribedAsset {
  readonly mint: string
  /** `""` when the metadata has none; so for `symbol` and `uri`. */
  readonly name: string
  readonly symbol: string
  readonly uri: string
  /** Hundredths of a percent. */
  readonly sellerFeeBasisPoints: number
  readonly creators: readonly Creator[]
  readonly isMutable: boolean
}

/** The content of a Metaplex metadata account. Absent keys: None on chain, or an account older than the field. */
export interface MetaplexMetadata extends DescribedAsset {
  readonly kind: 'metaplex'
  /** Always 4, MetadataV1: other accounts are refused. */
  readonly key: 4
  readonly updateAuthority: string
  readonly primarySaleHappened: boolean
  /** Bump seed of the (master) edition account. */
  readonly editionNonce?: number
  readonly tokenStandard?: TokenStandard
}

/** The metadata extension of a Token-2022 mint, which knows neither royalties nor creators. */
export interface EmbeddedMetadata extends DescribedAsset {
  readonly kind: 'token2022'
  /** Absent: it cannot be changed any more. */
  readonly updateAuthority?: string
}

/** The content of a Metaplex Core asset: `mint` is the asset itself, and there is no symbol. */
export interface CoreMetadata extends DescribedAsset {
  readonly kind: 'mplCore'
  /** That of the collection, where the asset leaves it to it. Absent: there is none, or the collection is unreadable. */
  readonly updateAuthority?: string
}

/** An indexer's description of a compressed NFT: `mint` is the asset id. */
interface CompressedMetadata extends DescribedAsset {
  readonly kind: 'compressed'
  readonly updateAuthority?: string
  readonly primarySaleHappened?: boolean
}

export type AssetMetadata = MetaplexMetadata | EmbeddedMetadata | CoreMetadata | CompressedMetadata

/** Metaplex `TokenStandard` in the order of its byte. */
export const TOKEN_STANDARDS = [
  'NonFungible',
  'FungibleAsset',
  'Fungible',
  'NonFungibleEdition',
  'ProgrammableNonFungible',
  'ProgrammableNonFungibleEdition'
] as const
type TokenStandard = (typeof TOKEN_STANDARDS)[number]
