import type { Gap, WalletBalances } from './checkContinuity.ts'
import type { WalletTransaction } from './walletView.ts'

export interface SolanaHistoryQuery {
  /** Base58 of 32 bytes. */
  readonly wallet: string
  /** Absent: all. */
  readonly limit?: number | undefined
  readonly before?: string | undefined
  readonly until?: string | undefined
  readonly tokenAccounts: 'all' | 'none'
  /** Most transactions of an answer without `limit`; null: no bound. */
  readonly maxUnpaged: number | null
  readonly signal: AbortSignal
  readonly deadlineMs: number
}

interface LateAccount {
  readonly account: string
  readonly transactions: number
  readonly newest: string
  readonly oldest: string
}

/** A part of a wallet's history and what shows that nothing is missing from it. */
export interface SolanaHistory {
  readonly transactions: readonly WalletTransaction[]
  isFinalized(signature: string): boolean
  readonly gaps: readonly Gap[]
  /** Absent: no node says it. */
  readonly fromSlot?: number
  readonly toSlot: number
  readonly tokenAccounts: number
  /** Former token accounts were looked for down to this slot. */
  readonly closedFrom?: number
  readonly late: readonly LateAccount[]
  /** Balances of today, where the answer reaches up to them. */
  readonly balances?: WalletBalances
}
