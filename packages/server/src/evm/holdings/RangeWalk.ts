import type { Address, HoldingCandidate } from '@chain-data/index'
import type { CallResult } from '../state/contractCalls.ts'
import type { OwnedCandidate, WantedCandidate } from './heldAssets.ts'
import { erc721Ownership } from './tokenStandards.ts'

/** The first read of an id has the gas of any other read; the second one far more. */
export type ReadDepth = 'first' | 'second'

export interface RangeWalkOptions {
  readonly ranges: readonly IdRange[]
  /** Ids that need no read. */
  readonly passOver: ReadonlySet<bigint | undefined>
  /** Number of ids to find: the walk ends with the last of them. */
  readonly wanted: bigint
  /** Maximum of ids that are read. */
  readonly maxIds: number
}

/** Ids of the first round; doubled with each round in which no read ran out of gas. */
const firstPace = 64
/** First reads that ran out of gas, after which the rest is left to second reads. */
const maxShortOfGas = 16
/** Unreadable ids, after which the contract is not read any further. */
const maxUnreadable = 16
/** Ids refused twice, after which refusals are the contract's answer, unless a second read has changed one. */
const maxRefusedAgain = 64

/**
 * Walks over the ids of one contract's ranges, in rounds: `take` returns ids to read, `note` receives the answers.
 *
 * A refusal (revert) may mean that the id does not exist, or that a proxy's call ran out of gas. So refused ids get a
 * second read too, as long as not all is found that there is to find.
 */
export class RangeWalk {
  readonly contract: Address
  /** Ids that the owner holds. */
  readonly held: OwnedCandidate[] = []
  readonly #candidate: WantedCandidate
  readonly #wanted: bigint
  readonly #ids: Iterator<bigint>
  #next: IteratorResult<bigint>
  #left: number
  #pace = firstPace
  #shortOfGas: bigint[] = []
  #refused: bigint[] = []
  #refusedAgain = 0
  #unreadable = 0
  #secondReadsHelp = false

  /** @param candidate - any one of the contract's; it names owner and contract. */
  constructor(candidate: WantedCandidate, { ranges, passOver, wanted, maxIds }: RangeWalkOptions) {
    const { lastTokenId: _, ...single } = candidate
    this.#candidate = single
    this.contract = candidate.contract
    this.#wanted = wanted
    this.#ids = idsOf(ranges, passOver)
    this.#next = this.#ids.next()
    this.#left = maxIds
  }

  /** There are ids to read, and a reason to. */
  isOpen(depth: ReadDepth): boolean {
    if (this.#isComplete() || this.#unreadable >= maxUnreadable) return false
    const hasIds = !this.#next.done && this.#left > 0
    if (depth === 'first') return hasIds && this.#shortOfGas.length < maxShortOfGas
    return hasIds || this.#shortOfGas.length > 0 || this.#refused.length > 0
  }

  /** The owner may hold ids of these ranges beyond those that were found. */
  isUnfinished(): boolean {
    if (this.#isComplete()) return false
    const open = this.#shortOfGas.length + this.#refused.length + this.#unreadable
    return open > 0 || !this.#next.done
  }

  /** The next ids, at most so many. */
  take(depth: ReadDepth, max: number): readonly WantedCandidate[] {
    const ids: bigint[] = []
    if (depth === 'second') ids.push(...this.#shortOfGas.splice(0, max))
    const wanted = depth === 'first' ? Math.min(max, this.#pace) : max
    if (depth === 'first') this.#pace *= 2
    for (; ids.length < wanted && this.#left > 0 && !this.#next.done; this.#next = this.#ids.next()) {
      ids.push(this.#next.value)
      this.#left--
    }
    if (depth === 'second') ids.push(...this.#refused.splice(0, max - ids.length))
    return ids.map(tokenId => ({ ...this.#candidate, tokenId }))
  }

  /** Takes the answer to one of the taken ids. */
  note(depth: ReadDepth, candidate: WantedCandidate, result: CallResult): void {
    const { tokenId } = candidate
    if (tokenId === undefined) return
    if (result.kind === 'returned') {
      const ownership = erc721Ownership.read(result, candidate)
      if (ownership.kind === 'held') this.held.push({ ...candidate, ownership })
      if (ownership.kind === 'unreadable') this.#unreadable++
      if (depth === 'second') this.#secondReadsHelp = true
    } else if (depth === 'first') {
      const doubtful = result.kind === 'failed' ? this.#shortOfGas : this.#refused
      doubtful.push(tokenId)
      if (result.kind === 'failed') this.#pace = firstPace
    } else if (result.kind === 'failed') {
      this.#unreadable++
    } else if (++this.#refusedAgain >= maxRefusedAgain && !this.#secondReadsHelp) {
      this.#refused = []
    }
  }

  #isComplete(): boolean {
    return BigInt(this.held.length) >= this.#wanted
  }
}

/** One after the other: a range may have more ids than any list. */
function* idsOf(ranges: readonly IdRange[], passOver: ReadonlySet<bigint | undefined>): Generator<bigint> {
  for (const { first, last } of ranges) {
    for (let id = first; id <= last; id++) if (!passOver.has(id)) yield id
  }
}

/** Ids from `first` to `last`, both included. */
interface IdRange {
  readonly first: bigint
  readonly last: bigint
}

/**
 * The ids of candidates of one contract as the fewest ranges, ascending; none of them touches another.
 * @param candidates - in any order, may overlap. One without `lastTokenId` is a range of one id; one without `tokenId`
 *   is passed over.
 */
export function mergeRanges(
  candidates: readonly Pick<HoldingCandidate, 'tokenId' | 'lastTokenId'>[]
): readonly IdRange[] {
  const ascending = candidates
    .flatMap(({ tokenId, lastTokenId = tokenId }) =>
      tokenId === undefined || lastTokenId === undefined ? [] : [{ first: tokenId, last: lastTokenId }]
    )
    .sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0))
  const merged: IdRange[] = []
  for (const range of ascending) {
    const before = merged.at(-1)
    if (before === undefined || range.first > before.last + 1n) merged.push(range)
    else if (range.last > before.last) merged[merged.length - 1] = { first: before.first, last: range.last }
  }
  return merged
}
