/**
 * Names of the checks of a block that hold on every chain that follows the protocol, and that some real chain breaks all the
 * same. What breaks any other check can only count as unknown (`isUnknownPart`). A name is part of the configuration and never changes its meaning:
 * docs/configuration.md has what each check is, and which chains need it waived.
 */
export const waivableCheckNames = [
  'emptyBloom',
  'logsBloom',
  'emptyRoot',
  'duplicateHash',
  'extraReceipt',
  'receiptBlockHash',
  'receiptParties',
  'transactionIndex',
  'logIndex',
  'cumulativeGas',
  'stateSync',
  'systemTransaction',
  'unknownReceipt',
  'unknownBlock'
] as const

/** Name of a check that a configuration may waive for a chain. */
export type WaivableCheck = (typeof waivableCheckNames)[number]

/**
 * Reports whether a waiver of this check lets a block in with a part of it unknown: a receipt, or all of its receipts or
 * transactions. The coverage of the index names such a block.
 */
export function isUnknownPart(check: WaivableCheck): boolean {
  return check === 'unknownReceipt' || check === 'unknownBlock'
}

/** Longest `reason` of a waiver. */
export const maxReasonLength = 200

/** One check that is not insisted on for one chain; both ends of the range are included. */
export interface Waiver {
  readonly check: WaivableCheck
  /** Why the operator trusts the chain without it; never empty. */
  readonly reason: string
  /** Absent: from the first block. */
  readonly fromBlock?: number
  /** Absent or null: without end. */
  readonly toBlock?: number | null
  /** URL of what documents it; absent or null: nothing is named. */
  readonly source?: string | null
}
