import type { TransactionError } from './historyRpc.ts'

/** A token account in a transaction. Amounts are decimal digits of base units. */
export interface KeptToken {
  readonly account: string
  readonly mint: string
  readonly decimals: number
  /** Owner and amount before the transaction; absent where the account did not exist. */
  readonly pre?: KeptBalance
  /** Likewise after it. */
  readonly post?: KeptBalance
}

interface KeptBalance {
  /** Absent in transactions of before 2021, whose balances do not name owners. */
  readonly owner?: string
  readonly amount: string
}

/**
 * What a history needs of one transaction, whichever wallet asks: a plain JSON value, so that it can be kept. Nothing in it
 * changes once the transaction is finalised.
 */
export interface KeptTransaction {
  readonly signature: string
  readonly slot: number
  readonly blockTime?: number
  /** Number within the block; absent where the node does not give it and nothing has asked the block for it. */
  readonly index?: number
  readonly error?: TransactionError
  /** Lamports, as decimal digits. */
  readonly fee: string
  readonly version: 'legacy' | number
  readonly memo?: string
  /** Every account that it names, those of lookup tables included, with its lamports before and after. The first one pays the fee. */
  readonly accounts: readonly (readonly [address: string, pre: string, post: string])[]
  readonly tokens: readonly KeptToken[]
  /** Token accounts and their owners, as initialise, set-authority and close instructions name them. */
  readonly owners: readonly (readonly [account: string, owner: string])[]
  readonly programs: readonly string[]
}
