import type { Address, HoldingCandidate } from '../model/evm.ts'

/** Reads which tokens an account may hold. */
export interface HoldingsReader {
  /**
   * Each candidate once, in chunks; ordered by contract, then standard, then token ids. Ranges come as they were committed: they
   * may overlap each other and the single ids.
   */
  holdingCandidates(address: Address): AsyncIterable<readonly HoldingCandidate[]>
}
