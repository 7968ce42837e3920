/**
 * Everything that was put on a Solana node, written down from intent, not read back.
 *
 * Addresses are base58, amounts are bigints in base units (lamports for SOL).
 */
export interface SolanaWorld {
  /** The chain id the service knows this cluster by. */
  chainId: number
  /** Wallets by name. */
  owners: Record<string, SolanaOwner>
  /** Mints by label. */
  mints: Record<string, SolanaMint>
  /** In the order of their creation; those that were closed stay listed. */
  tokenAccounts: SolanaTokenAccount[]
  /** Every transaction that was sent, failed ones included, oldest first. */
  transactions: SolanaTransaction[]
  /** What a metadata URI leads to, by URI; no entry means a 404. */
  documents: Map<string, SolanaMetadataDocument>
}

/** A wallet. Another account pays the fees of most transactions; where a wallet pays, the transaction says so. */
export interface SolanaOwner {
  name: string
  address: string
  /** 64 bytes, for more transactions. */
  secretKey: Uint8Array
  /** May exceed 2^53. */
  lamports: bigint
}

/** How a mint is to be classified: a plain token, an NFT, or an NFT of which there are several. */
export type SolanaKind = 'token' | 'nft' | 'semiFungible'

/** A mint and everything that is known about it. */
export interface SolanaMint {
  label: string
  address: string
  program: 'spl-token' | 'token-2022'
  decimals: number
  supply: bigint
  kind: SolanaKind
  /** What its Metaplex metadata account holds. */
  metaplex?: MetaplexMetadata
  /**
   * Size in bytes of that account: 679 as the program wrote it for years, 607 as it does now; less for one so old
   * that it ends before the younger fields.
   */
  metaplexSize?: number
  /** What its Token-2022 metadata extension holds, or the account of another program that it points to. */
  extension?: TokenMetadataExtension
  /** That other account. */
  extensionAt?: string
  /** Which of the two counts where there are both; default `metaplex`. */
  describedBy?: 'metaplex' | 'extension'
  /** How its amounts are to be shown, by its Token-2022 extensions. */
  uiAmount?: SolanaUiAmount
  /** What is withheld from a transfer: hundredths of a percent, rounded up, and at most so many base units. */
  transferFee?: { basisPoints: number; maximum: bigint }
  /** What no reader can read: the mint itself, or its metadata only. */
  damage?: 'mint' | 'metadata'
}

/** Members as in the document of the service; times in Unix seconds, rates in hundredths of a percent a year. */
export interface SolanaUiAmount {
  scaledUiAmount?: { multiplier: number; newMultiplier: number; newMultiplierEffectiveTimestamp: number }
  interestBearing?: {
    initializationTimestamp: number
    preUpdateAverageRate: number
    lastUpdateTimestamp: number
    currentRate: number
  }
}

/** A token account. */
export interface SolanaTokenAccount {
  address: string
  /** Label of the mint. */
  mint: string
  /** Name of the owner. */
  owner: string
  amount: bigint
  state: 'initialized' | 'frozen'
  /** Whether it stands at the associated address of owner and mint. */
  isAssociated: boolean
  /** Its bytes are no token account of their program: nobody can tell what it holds. */
  isDamaged?: true
  /** Closed: it holds nothing, and the node does not know it any more. */
  isClosed?: true
  /** Names of those who owned it before `owner`, oldest first. */
  formerOwners?: string[]
}

/** One transaction, as it was meant when it was sent. */
export interface SolanaTransaction {
  signature: string
  /** What it is for; unique in the history story, absent elsewhere. */
  label?: string
  status: 'success' | 'failed'
  version: 'legacy' | 0
  /** Address. */
  feePayer: string
  /** In lamports. */
  fee: bigint
  memo?: string
  /** Every address that it names, those from a lookup table included. */
  addresses: string[]
  /** Addresses of `addresses` that only a lookup table names. */
  loaded: string[]
  /** Wallets of the world among `addresses`, by name. */
  lamports: Record<string, { pre: bigint; post: bigint }>
  /** Token accounts of the world among `addresses`, those included that it left as they were. */
  tokens: SolanaTokenChange[]
}

/** A token account before and after one transaction. */
export interface SolanaTokenChange {
  account: string
  /** Label of the mint. */
  mint: string
  /** Names of the owners before and after; absent where there was no such account. */
  preOwner?: string
  postOwner?: string
  /** Base units; 0 where there was no such account. */
  pre: bigint
  post: bigint
}

/** Metaplex `TokenStandard`. */
export const tokenStandards = {
  nonFungible: 0,
  fungibleAsset: 1,
  fungible: 2,
  nonFungibleEdition: 3,
  programmableNonFungible: 4,
  programmableNonFungibleEdition: 5
} as const

/** Contents of a Metaplex metadata account, strings without padding. Absent members are `None`. */
export interface MetaplexMetadata {
  updateAuthority: string
  mint: string
  name: string
  symbol: string
  uri: string
  sellerFeeBasisPoints: number
  creators?: { address: string; verified: boolean; share: number }[]
  primarySaleHappened: boolean
  isMutable: boolean
  editionNonce?: number
  /** One of {@link tokenStandards}; accounts with other numbers exist. */
  tokenStandard?: number
  collection?: { verified: boolean; key: string }
  uses?: { useMethod: number; remaining: bigint; total: bigint }
  /** Number of items of a sized collection. */
  collectionSize?: bigint
  /** Programmable NFTs; `ruleSet` may be absent. */
  programmableConfig?: { ruleSet?: string }
}

/** Contents of a Token-2022 metadata extension. */
export interface TokenMetadataExtension {
  /** Absent when nobody may change it. */
  updateAuthority?: string
  name: string
  symbol: string
  uri: string
  additionalMetadata: [key: string, value: string][]
}

/** What a document holds when it is read as metadata. */
export interface SolanaMetadataDocument {
  /** Absent where the document is no JSON object. */
  json?: Record<string, unknown>
}
