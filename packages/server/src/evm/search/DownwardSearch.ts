import type { Address, DeepGap, DeepRecord, Hash, HoldingCandidate } from '@chain-data/index'
import type { DeepReason } from '../../model/deepHistory.ts'

/** The finds of a search in one block. */
export interface FoundBlock {
  readonly number: number
  /** Transactions that may be associated with the account; the block has all of them, or the node contradicts itself. */
  readonly hashes: readonly Hash[]
  readonly candidates: readonly HoldingCandidate[]
  /** The account's records of this block, where it was read in the search; absent: it is still to be read. */
  readonly records?: readonly DeepRecord[]
}

/** Where a search ends above block 0. */
export interface SearchEnd {
  /** Everything in this block and later ones has been found. */
  readonly from: number
  /** Why nothing older is searched for. */
  readonly reason: DeepReason
}

/** Searches older and older blocks for what concerns one account. */
export interface DownwardSearch {
  /** All that there is from here on upwards, to where it began, has been found. */
  readonly from: number
  /** Where this search ends; absent: at block 0, as far as is known. */
  readonly end?: SearchEnd | undefined
  /** Why it does not go on, as a sentence; absent: it does. Every search of the account from above that block ends there. */
  readonly problem?: string | undefined
  /** What it may not find, besides what no search of its kind finds. */
  readonly gaps?: readonly DeepGap[]
  /** Down to here it looks for what is wanted at the moment, so that other searches may go ahead; absent: not known. */
  readonly reach?: number | undefined
  /** About how many calls it takes to find what is wanted; absent: not known. */
  readonly callsLeft?: number | undefined
  /**
   * Searches further down; `from` is lower afterwards, or the next call will be easier.
   * @param wanted - how many records are searched for, about.
   * @throws what the node's trouble is; what was found before stays found.
   */
  advance(signal: AbortSignal, wanted: number): Promise<void>
  /** Takes what was found from `from` upwards and not taken before; newest first. */
  take(from: number): readonly FoundBlock[]
}

/** The subject of a search. */
export interface Wanted {
  readonly address: Address
  /** Blocks from here upwards are not of interest. */
  readonly below: number
}

/** Gathers what searches find, block by block; a search may find the same thing twice. */
export class FoundBlocks {
  readonly #blocks = new Map<number, { hashes: Set<Hash>; candidates: HoldingCandidate[] }>()

  addTransaction(number: number, hash: Hash): void {
    this.#at(number).hashes.add(hash)
  }

  addCandidates(number: number, candidates: readonly HoldingCandidate[]): void {
    this.#at(number).candidates.push(...candidates)
  }

  /** Newest first; they are forgotten here. */
  take(from: number): readonly FoundBlock[] {
    const taken = [...this.#blocks.keys()].filter(number => number >= from).sort((a, b) => b - a)
    return taken.map(number => {
      const { hashes, candidates } = this.#at(number)
      this.#blocks.delete(number)
      return { number, hashes: [...hashes], candidates }
    })
  }

  #at(number: number) {
    const known = this.#blocks.get(number)
    if (known !== undefined) return known
    const made = { hashes: new Set<Hash>(), candidates: [] }
    this.#blocks.set(number, made)
    return made
  }
}
