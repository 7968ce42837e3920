import type { DeepGap } from '@chain-data/index'

/**
 * What answers for history older than an index: an index of addresses of the node (`ots`, `trace_filter`), the nonces and
 * balances of old blocks (`state`), or nothing.
 */
export type DeepSource = 'ots' | 'trace_filter' | 'state' | 'none'

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
