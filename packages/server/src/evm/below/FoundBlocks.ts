import type { Hash, HoldingCandidate } from '../../model/evm.ts'
import type { FoundBlock } from './DownwardSearch.ts'

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
