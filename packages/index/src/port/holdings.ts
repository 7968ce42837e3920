import type { Address, HoldingCandidate } from '../model/evm.ts'

/** Reads which tokens an account may hold. */
export interface HoldingsReader {
  /**
   * Each candidate once, in chunks; ordered by contract, then token id, then last token id (none first). Ranges come as
   * they were committed: they may overlap each other and the single ids.
   * @param options.isAudit - those that are there, even if some are missing; else that is an error.
   */
  holdingCandidates(
    address: Address,
    options?: { readonly isAudit?: boolean }
  ): AsyncIterable<readonly HoldingCandidate[]>
}
