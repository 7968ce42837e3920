import type { Address, Hash } from './hex.ts'
import type { ConfirmedFields, PendingFields, SharedFields } from './transactionFields.ts'

export type { AccessListEntry, Address, Hash, Hex } from './hex.ts'

/** Names one block: a height alone is ambiguous while a chain can reorganise. */
export interface BlockRef {
  readonly number: number
  readonly hash: Hash
}

/**
 * What a transaction says of itself, before any block has accepted it. Amounts in wei.
 * An absent key means that the transaction's type has no such field.
 */
export interface EvmTransaction extends SharedFields {}

/** A transaction that the node's pool holds. */
export interface PendingTransaction extends EvmTransaction, PendingFields {
  /** 0: queued behind a nonce gap; 1: may enter the next block. */
  readonly status: 0 | 1
  /** Unix second in which this server first saw it; survives restarts. */
  readonly firstSeenSeconds: number
}

/**
 * A transaction in a block of the canonical chain, with what its receipt adds. Where the receipt is unknown, all of that is
 * absent: it has no `status`.
 */
export interface ConfirmedTransaction extends EvmTransaction, ConfirmedFields {
  /** Index in the block, from 0. */
  readonly index: number
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

/**
 * Tokens that changed hands, as a contract logged it: its word, not a proof.
 *
 * `amount` is there for erc20 and erc1155, `tokenId` for erc721 and erc1155; an erc1155 batch is one transfer for each id.
 */
export interface TokenTransfer {
  readonly standard: TokenStandard
  readonly contract: Address
  /** The zero address for a mint. */
  readonly from: Address
  /** The zero address for a burn. */
  readonly to: Address
  readonly amount?: bigint
  readonly tokenId?: bigint
  /** Only for erc721: every id from `tokenId` to this one, which is greater (EIP-2309). */
  readonly lastTokenId?: bigint
  /**
   * No transfer was logged: native currency was wrapped (from the zero address) or unwrapped (to it), as WETH9 logs it.
   * Makes nobody a party, and is not shown as a transfer. A contract may log a transfer beside it.
   */
  readonly isWrapping?: true
}

/**
 * An ERC-4337 operation, as a contract logged it (`UserOperationEvent`): its claim, not a proof. The account `sender` acted,
 * whoever sent the transaction. Amounts in wei.
 */
export interface UserOperation {
  /** The contract that logged the event. */
  readonly entryPoint: Address
  readonly userOpHash: Hash
  readonly sender: Address
  /** Absent: the account paid itself. */
  readonly paymaster?: Address
  readonly nonce: bigint
  readonly success: boolean
  readonly actualGasCost: bigint
}

/** Native currency that moved while a transaction was carried out, besides its own value. Never of nothing. */
export interface InternalTransfer {
  readonly kind: 'call' | 'create' | 'selfdestruct'
  readonly from: Address
  readonly to: Address
  readonly value: bigint
}

/**
 * What a block does to an account besides the transactions that the account is associated with. Amounts in wei.
 *
 * - `withdrawal`: EIP-4895. `tip`: what all transactions of the block paid above the base fee, to the fee recipient.
 *   `reward`: for a block or an uncle, known from traces only. `mint`: a rollup's deposit, to its sender.
 * - `authorization`: a tuple of an EIP-7702 transaction names this account as authority. It used the nonce only if it was valid.
 * - `burn`: what the account lost to nobody, with a contract that destroyed itself and was its own beneficiary, or was sent
 *   something afterwards; known from traces only. Of all amounts the only one that lowers the balance.
 * - `creation`: so many contracts were created by this account's code, each of which used a nonce, also those that failed;
 *   known from traces only. The creation that is a transaction itself uses the nonce of that transaction and is none of
 *   these. A contract begins with nonce 1 (EIP-161): since it was created its nonce is 1 and the sum of these. Of one that was
 *   left without code nothing else tells that it is a contract: its 1 is among these. An account with delegated code
 *   (EIP-7702) adds them to its transactions and authorizations. What a contract did in the transaction
 *   that both created and destroyed it is left out, since its nonce went with it; one that was destroyed later, as contracts
 *   could be before Cancun, has nonce 0, or began anew at 1 where it was created again.
 */
export type AccountEvent =
  | { readonly kind: 'withdrawal' | 'tip' | 'reward' | 'mint' | 'burn'; readonly amount: bigint }
  | { readonly kind: 'authorization'; readonly nonce: bigint }
  | { readonly kind: 'creation'; readonly count: number }

/** All that one block does to one account so. */
export interface AccountEvents {
  readonly address: Address
  /** Never empty. */
  readonly events: readonly AccountEvent[]
}

/** One transaction as the indexer hands it to the store. */
export interface IndexedTransaction {
  readonly transaction: ConfirmedTransaction
  /** Every address associated with it (see svc_getTransactionsByAddress in spec/openrpc.json), each once. */
  readonly parties: readonly Address[]
  readonly candidates: readonly HoldingCandidate[]
  /** In log order; absent: none. */
  readonly transfers?: readonly TokenTransfer[]
  /** In the order of execution; absent: not known, the block was not traced. */
  readonly internal?: readonly InternalTransfer[]
  /** In log order; absent: none. */
  readonly operations?: readonly UserOperation[]
}

/** One verified block as the indexer hands it to the store. */
export interface IndexedBlock {
  readonly ref: BlockRef
  readonly parentHash: Hash
  readonly timestampSeconds: number
  /** In block order. */
  readonly transactions: readonly IndexedTransaction[]
  /** What happened inside its transactions is known; absent: it is not. */
  readonly isTraced?: boolean
  /** Not known of it: receipts of some of its transactions, or which transactions it has; absent: all is known. */
  readonly unknown?: 'receipts' | 'transactions' | undefined
  /** It was held against its header, as far as its chain's encoding is known; absent: it was not. */
  readonly hasVerifiedRoots?: boolean
  /**
   * The parties include every authority whose tuple is signed for this chain, valid or not: the nonces that decide are not
   * known.
   */
  readonly hasUncheckedAuthorities?: boolean
  /** Each account once; absent: none. */
  readonly events?: readonly AccountEvents[]
}
