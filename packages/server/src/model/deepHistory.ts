import type { Address, BlockRef, Hash, HoldingCandidate } from './evm.ts'

/**
 * What answers for history older than an index: an index of addresses of the node (`ots`, `trace_filter`), the nonces and
 * balances of old blocks (`state`), or nothing.
 */
export type DeepSource = 'ots' | 'trace_filter' | 'state' | 'none'

/**
 * Transactions that a search may not find: from state, receipts of no value without a log, and of an account that has shown no key
 * payments that its code passed on at once; from an index of addresses without old states besides, authorizations (EIP-7702) that
 * others sent.
 */
export type DeepGap = 'zero-value-receipts' | 'payments-passed-on' | 'authorities'

/** How much of one account's history older than an index is answered. */
export interface DeepCoverage {
  /** `none`: nothing of it. */
  readonly source: DeepSource
  /** Transactions of this block and later ones are answered; 0: all. Above 0, the account's older history is unprovable. */
  readonly from: number
  /** The transactions that may be missing. */
  readonly gaps: readonly DeepGap[]
  /** Why the account's history cannot be proven; absent where it can, or no node answers for any account. */
  readonly reason?: DeepReason
}

/** Why the history of an account cannot be proven from state, as a word for headers. */
export type DeepReason = keyof typeof deepReasons

/** The same as the end of a sentence, for people. */
export const deepReasons = {
  contract: 'the account has code, so that transactions of others change its balance',
  delegated:
    'it ran the code of a contract for a time (EIP-7702), so that transactions of others changed its balance',
  'no-key': 'it has never sent a transaction, so that nothing shows that it has a key and no code',
  'other-fees': 'fees of its transactions are not computed as on Ethereum'
} as const

/** The progress of a reading: `isDone`, or to be asked for again; what lies from `reachedBlock` upwards is known. */
export interface DeepProgress {
  readonly isDone: boolean
  readonly reachedBlock: number
  /** How much of what was asked for is read, from 0 to below 100; absent: the blocks passed tell. */
  readonly percent?: number
  /** Time that the rest is expected to take; absent: not known yet. */
  readonly expectedMs?: number
  /** Why reading on is of no use, as a sentence. */
  readonly problem?: string
}

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
  /** 32 bytes. */
  readonly hash: Uint8Array
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
  /** Id of a transaction that is known of any account. */
  lookUpHash(hash: Hash, anchor: BlockRef): Promise<number | undefined>
  /** Lays a stretch below what is known. One that does not reach up to it is passed over. */
  save(address: Address, anchor: BlockRef, stretch: DeepStretch): Promise<void>
  /** Removes an account, so that its history is read anew. */
  forget(address: Address): Promise<void>
  close(): Promise<void>
}
