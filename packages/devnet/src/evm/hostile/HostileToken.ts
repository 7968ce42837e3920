/** An ERC-20 token as an answer must list it. */
export interface HostileTokenTruth {
  /** Base units. */
  readonly amount: bigint
  readonly decimals: number
  /** Display text. */
  readonly name: string
  readonly symbol: string
}

/** One id of a collection as an answer must list it. */
export interface HostileNftTruth {
  readonly tokenId: bigint
  readonly balance: bigint
  readonly isSemiFungible: boolean
  /** Verbatim. */
  readonly tokenUri: string
  readonly name: string
  readonly symbol: string
  /** The metadata object; `{}` where there is none. */
  readonly data: Readonly<Record<string, unknown>>
  readonly image: string
}

/** What an answer must say of one contract, and nothing else. All empty: the contract is left out. */
export interface HostileOutcome {
  readonly token?: HostileTokenTruth
  /** By id, ascending; of one id the unique token before the units. */
  readonly nfts: readonly HostileNftTruth[]
  readonly incomplete: readonly { readonly tokenId?: bigint; readonly reason: string }[]
}

/** What an outcome may depend on besides the token. */
export interface HostileSetting {
  /** The caller has named the contract in `tokenAddresses`. */
  readonly listed: boolean
  /** The block of the answer. */
  readonly blockNumber: bigint
  /** `selfdestruct` removes code: chains before EIP-6780 (Cancun). */
  readonly selfdestructRemovesCode: boolean
}

/** How a token comes to be: each call is one transaction that has to succeed. */
export interface HostileStage {
  /** Whom the token is aimed at; it can send transactions. */
  readonly holder: string
  /** Somebody else, who can send transactions too. */
  readonly stranger: string
  /** @returns the address of the new contract. */
  create(creationCode: string): Promise<string>
  call(to: string, data: string, options?: { from?: string; valueWei?: bigint }): Promise<void>
}

/** One entry of the catalogue: a contract that means harm or is broken, and what a careful service makes of it. */
export interface HostileToken {
  /** Unique in the catalogue; kebab-case. */
  readonly key: string
  /** What it does, for a reader who meets it in a list. */
  readonly about: string
  /** Brings it to the chain and to the holder. @returns the contract's address. */
  play(stage: HostileStage): Promise<string>
  /** What must be said of it to the holder. More than one: each is right, and which one depends on how the node is asked. */
  outcomes(setting: HostileSetting): readonly HostileOutcome[]
}

/** The contract is left out. */
export const leftOut: HostileOutcome = { nfts: [], incomplete: [] }

/** It is listed as an ERC-20 token. */
export function listedToken(token: HostileTokenTruth): HostileOutcome {
  return { token, nfts: [], incomplete: [] }
}

/** Its NFTs are listed; nothing is missing of them. */
export function listedNfts(...nfts: HostileNftTruth[]): HostileOutcome {
  return { nfts, incomplete: [] }
}

/** It is named as unreadable, and nothing is listed. */
export function unreadable(reason: string, tokenId?: bigint): HostileOutcome {
  return { nfts: [], incomplete: [tokenId === undefined ? { reason } : { tokenId, reason }] }
}
