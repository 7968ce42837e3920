/** 0x-prefixed lower-case hex of any length. */
export type Hex = `0x${string}`
/** 32-byte hash, 0x-hex, lower case. */
export type Hash = Hex
/** 20-byte address, 0x-hex, always lower case inside the server; checksummed only when written to the wire. */
export type Address = Hex

/** Names one block: a height alone is ambiguous while a chain can reorganise. */
export interface BlockRef {
  readonly number: number
  readonly hash: Hash
}

/** EIP-2930 access list entry. */
export interface AccessListEntry {
  readonly address: Address
  readonly storageKeys: readonly Hash[]
}

/**
 * What a transaction says of itself, before any block has accepted it. Amounts in wei.
 * An absent key means that the transaction's type has no such field.
 */
export interface EvmTransaction {
  readonly hash: Hash
  readonly from: Address
  /** Absent: the transaction creates a contract. */
  readonly to?: Address
  readonly value: bigint
  readonly data: Hex
  /** u64 on the node; exact beyond 2^53. */
  readonly gasLimit: bigint
  /** u64 on the node; exact beyond 2^53. */
  readonly nonce: bigint
  /** EIP-2718 number, passed through as it is; 0 where the node gives none. */
  readonly type: number
  readonly accessList?: readonly AccessListEntry[]
  readonly maxFeePerGas?: bigint
  readonly maxPriorityFeePerGas?: bigint
}

/** A transaction that the node's pool holds. */
export interface PendingTransaction extends EvmTransaction {
  /** 0: queued behind a nonce gap; 1: may enter the next block. */
  readonly status: 0 | 1
  /** Types 0 and 1 only. */
  readonly gasPrice?: bigint
  /** Unix second in which this server first saw it; survives restarts. */
  readonly firstSeenSeconds: number
}

/** A transaction in a block of the canonical chain, with what its receipt adds. */
export interface ConfirmedTransaction extends EvmTransaction {
  readonly blockNumber: number
  /** Place in the block, from 0. */
  readonly index: number
  readonly timestampSeconds: number
  /** 3: succeeded; 4: failed. */
  readonly status: 3 | 4
  /** Effective gas price, wei. */
  readonly gasPrice: bigint
  readonly gasSpent: bigint
  /** gasSpent x gasPrice, plus blob gas and a rollup's L1 fee where the receipt has them. */
  readonly feeWei: bigint
  /** Only for a creation that succeeded. */
  readonly contractAddress?: Address
}

export type TokenStandard = 'erc20' | 'erc721' | 'erc1155'

/**
 * A hint from a log that `owner` may hold something. Never a balance: state decides.
 * `tokenId` is present for erc721 and erc1155.
 */
export interface HoldingCandidate {
  readonly owner: Address
  readonly contract: Address
  readonly standard: TokenStandard
  readonly tokenId?: bigint
  /**
   * Only for erc721: the hint is about every id from `tokenId` to this one, which is greater. One log may name 2^256
   * ids so (EIP-2309): never expand a range without a bound.
   */
  readonly lastTokenId?: bigint
}

/** One transaction as the indexer hands it to the store. */
export interface IndexedTransaction {
  readonly transaction: ConfirmedTransaction
  /** Every address associated with it (see svc_getTransactionsByAddress in spec/openrpc.json), each once. */
  readonly parties: readonly Address[]
  readonly candidates: readonly HoldingCandidate[]
}

/** One verified block as the indexer hands it to the store. */
export interface IndexedBlock {
  readonly ref: BlockRef
  readonly parentHash: Hash
  readonly timestampSeconds: number
  /** In block order. */
  readonly transactions: readonly IndexedTransaction[]
}
