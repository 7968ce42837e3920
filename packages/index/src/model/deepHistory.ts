import type { Address, BlockRef, Hash, HoldingCandidate } from './evm.ts'

/**
 * Transactions that a search may not find: from state, receipts of no value without a log, and of an account that has shown no key
 * payments that its code passed on at once; from an index of addresses without old states besides, authorizations (EIP-7702) that
 * others sent.
 */
export type DeepGap = 'zero-value-receipts' | 'payments-passed-on' | 'authorities'

/** How far down the part of an account's history is known that lies below an index. */
interface DeepKnowledge {
  /** Its transactions are known from this block up to the index; the index's first block: none yet. */
  readonly recordsFrom: number
  /** Likewise what it may hold. */
  readonly candidatesFrom: number
  /** The transactions that may be missing among them. */
  readonly gaps: readonly DeepGap[]
}

/** What was found in the blocks from `from` up to, and without, `below`; all of it, or an absent member. */
export interface DeepStretch {
  readonly from: number
  readonly below: number
  readonly records?: readonly DeepRecord[]
  /** The transactions that may be missing among them; default none. */
  readonly gaps?: readonly DeepGap[]
  readonly candidates?: readonly HoldingCandidate[]
}

/** A transaction as an index would keep it. */
export interface DeepRecord {
  /** Place in the chain, as `toTransactionId` writes it. */
  readonly id: number
  readonly bytes: Uint8Array
}

/** Which part of the records is asked for. */
interface DeepPart {
  /** Only ids below this one. */
  readonly belowId: number
  /** At most so many; absent: all. */
  readonly limit?: number
}

/**
 * What was read from nodes of the part of one chain that lies below its index, per account. Only what is final is in it, so
 * that nothing in it ever changes. Bounded: accounts that were not asked for lately leave as a whole.
 *
 * `anchor` is always the first block of the index. What was kept below another block is of no use, and forgotten.
 */
export interface DeepHistoryCache {
  known(address: Address, anchor: BlockRef): Promise<DeepKnowledge>
  /**
   * Newest first, in chunks of bounded size, none of them empty: `ids`, and the records of them one after the other.
   * @throws {StoreUnavailableError} the account has left in the middle of it.
   */
  records(
    address: Address,
    anchor: BlockRef,
    part: DeepPart
  ): AsyncIterable<{ readonly ids: readonly number[]; readonly bytes: Uint8Array }>
  /** Each once, in any order. */
  candidates(address: Address, anchor: BlockRef): Promise<readonly HoldingCandidate[]>
  /** Id of a transaction that is known of an account. */
  lookUpHash(address: Address, hash: Hash, anchor: BlockRef): Promise<number | undefined>
  /** Lays a stretch below what is known. One that does not reach up to it is passed over. */
  save(address: Address, anchor: BlockRef, stretch: DeepStretch): Promise<void>
  /** Removes an account, so that its history is read anew. */
  forget(address: Address): Promise<void>
  close(): Promise<void>
}
