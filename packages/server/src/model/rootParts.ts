/**
 * Parts of a block that are recomputed from a node's answers and compared with what the block commits to:
 *
 * - `header`: the block hash, from the fields of the header.
 * - `transactions`: the hash of each transaction, from its fields, and the root of all of them.
 * - `receipts`: the root of the receipts, their logs included.
 * - `withdrawals`: the root of the withdrawals.
 * - `senders`: who signed each transaction, of those whose type is known where `transactions` is not recomputed.
 */
export const rootParts = ['header', 'transactions', 'receipts', 'withdrawals', 'senders'] as const

export type RootPart = (typeof rootParts)[number]

/** Reports whether these parts hold a block against its header. Signatures alone do not: no header is believed for them. */
export function includeHeader(parts: readonly RootPart[]): boolean {
  return parts.includes('header')
}

/** The blocks of a chain that are held against their headers: `auto` decides by what is known of the chain. */
export const verifyModes = ['auto', 'roots', 'basic'] as const

export type VerifyMode = (typeof verifyModes)[number]

/** Parts that are recomputed in every block, and those that are in old blocks. */
export interface RecomputedParts {
  readonly parts: readonly RootPart[]
  readonly older?: OlderParts | undefined
}

/** Parts of blocks from before a change of their encoding that is not known. */
export interface OlderParts {
  readonly toBlock: number
  readonly parts: readonly RootPart[]
}

/** What is recomputed, and of which blocks: of all, or of those near the head. */
export interface RootVerification extends RecomputedParts {
  readonly blocks: 'all' | 'head'
}
