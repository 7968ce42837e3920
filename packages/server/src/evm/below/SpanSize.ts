import { suggestedSpan } from './suggestedSpan.ts'

/** So many blocks are asked about at first; nodes say how many they take. */
const firstBlocks = 262_144
const mostBlocks = 16_777_216
/** After so many answers in a row what was refused once is tried again: it may have been a crowded stretch of the chain. */
const patience = 16
/** An answer with more entries than that is large enough. */
const plentyEntries = 2_000

/**
 * About how many blocks a node is asked at once. Starts large, is halved by each refusal or brought to what the refusal
 * names, and grows again while answers are small. One for each kind of call and chain: what one account taught spares the
 * next one the refusals.
 */
export class SpanSize {
  #blocks = firstBlocks
  #refused = Number.POSITIVE_INFINITY
  #answersSince = 0

  get blocks(): number {
    return this.#blocks
  }

  answered(entries: number): void {
    this.#answersSince++
    if (this.#answersSince >= patience) this.#refused *= 2
    if (this.#answersSince >= patience) this.#answersSince = 0
    if (entries > plentyEntries) return
    const grown = Math.min(mostBlocks, this.#blocks * 2)
    if (grown < this.#refused) this.#blocks = grown
  }

  /** @param blocks - how many were asked about. */
  refused(blocks: number, message: string): void {
    this.#refused = Math.min(this.#refused, blocks)
    this.#answersSince = 0
    const half = Math.max(1, Math.floor(blocks / 2))
    const suggested = suggestedSpan(message)
    const wanted = suggested !== undefined && suggested < blocks ? suggested : half
    this.#blocks = Math.min(this.#blocks, wanted)
  }
}
