import type { SpamVerdict } from '@chain-data/client/fetch'

/** What the page shows of an account, of either family. */
export interface HoldingsView {
  /** Base units of the native currency. */
  readonly native: bigint
  /** What the account calls itself, such as `alice.eth`; absent where it has no name, and on Solana. */
  readonly name?: string
  /** Worth of `native` in hundredths of `currency`; absent where the host names no price. */
  readonly nativeValue?: bigint
  /** What values are in; absent where the host names no prices. */
  readonly currency?: string
  readonly tokens: readonly TokenView[]
  readonly nfts: readonly NftView[]
  /** What everything was read at; absent where the host does not say. */
  readonly asOf?: { readonly block: number; readonly seconds?: number }
  /** What could not be read. */
  readonly incomplete: readonly {
    readonly address: string
    readonly tokenId?: string
    readonly reason: string
  }[]
}

/** One token that the account holds. */
export interface TokenView {
  readonly key: string
  readonly name: string
  readonly symbol: string
  /** Absent where they are unknown: then the amount is in base units. */
  readonly decimals?: number
  readonly amount: bigint
  /** The token's own address: a contract or a mint. */
  readonly token: string
  readonly image: string
  /** Worth in hundredths of the currency; absent where the host names no price. */
  readonly value?: bigint
  readonly spam?: SpamVerdict
  /** On Solana: the accounts that the amount lies in. */
  readonly accounts?: readonly { readonly address: string; readonly amount: bigint }[]
  /** Why other programs may show another amount. */
  readonly note?: string
}

/** One NFT, or some units of one. */
export interface NftView {
  readonly key: string
  readonly name: string
  readonly symbol: string
  /** A contract or a mint. */
  readonly token: string
  /** Absent on Solana, where the mint says it all. */
  readonly tokenId?: string
  readonly amount: bigint
  /** Such as `ERC-721`. */
  readonly standard: string
  readonly image: string
  readonly description: string
  readonly attributes: readonly (readonly [name: string, value: string])[]
  /** Addresses that the metadata names; shown as text, never followed. */
  readonly links: readonly (readonly [label: string, url: string])[]
  /** `none`: there is nothing to read. `unavailable`: there is, and it could not be read. */
  readonly metadata: 'read' | 'unavailable' | 'none'
  readonly spam?: SpamVerdict
}
