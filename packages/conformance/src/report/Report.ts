import type { Exchange } from '../wire/Exchange.ts'

/**
 * `passed`; `failed`; `not-offered`: an extension that the service does not have; `not-shown`: nothing was there to show
 * it on, so that nothing is said of the service.
 */
export type Outcome = 'passed' | 'failed' | 'not-offered' | 'not-shown'

/** What became of one check. */
export interface CheckResult {
  /** Stable name of the check. */
  readonly name: string
  /** What holds where it passed. */
  readonly shows: string
  /** JSON Pointer to the part of the document that says so. */
  readonly where: string
  /** What became of it. */
  readonly outcome: Outcome
  /** Why it did not pass; absent where it did. */
  readonly reason?: string
  /** What shows the failure, the decisive one last; without credentials, long bodies cut. */
  readonly exchanges?: readonly Exchange[]
}

/** What was found out about one service. */
export interface Report {
  /** Base address of the service. */
  readonly baseUrl: string
  /** Absent where the service has none, or was not asked. */
  readonly evmChain?: number
  /** Absent where the service has none, or was not asked. */
  readonly solanaChain?: number
  /** What was looked at: EVM accounts with their transactions, and Solana accounts. */
  readonly accounts: readonly string[]
  /** HTTP exchanges in all. */
  readonly requests: number
  /** In the order of the checks. */
  readonly results: readonly CheckResult[]
}

/** How many results have an outcome. */
export function countOf({ results }: Report, outcome: Outcome): number {
  return results.filter(result => result.outcome === outcome).length
}
