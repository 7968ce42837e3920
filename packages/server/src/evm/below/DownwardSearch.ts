import type { Address, Hash, HoldingCandidate } from '../../model/evm.ts'

/** What a search has found in one block. */
export interface FoundBlock {
  readonly number: number
  /** Transactions that may be associated with the account; the block has all of them, or the node contradicts itself. */
  readonly hashes: readonly Hash[]
  readonly candidates: readonly HoldingCandidate[]
}

/** Looks for what concerns one account in older and older blocks. */
export interface DownwardSearch {
  /** All that there is from here on upwards, to where it began, has been found. */
  readonly from: number
  /**
   * Looks further down; `from` is lower afterwards, or the next call will be easier.
   * @throws what the node's trouble is; what was found before stays found.
   */
  advance(signal: AbortSignal): Promise<void>
  /** What was found from `from` upwards and not taken before; newest first. */
  take(from: number): readonly FoundBlock[]
}

/** What a search is about. */
export interface Wanted {
  readonly address: Address
  /** Blocks from here upwards are not of interest. */
  readonly below: number
}
