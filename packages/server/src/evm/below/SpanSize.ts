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

/**
 * Words in which known nodes and providers say how many blocks they take at once, as their documentation and public reports
 * have them; the test beside this file holds the full texts. Whatever else they say is answered by halving.
 */
const spanPatterns: readonly RegExp[] = [
  /(?:up to|limited to|at most|max(?:imum)?)\D{0,20}?(\d[\d,_]*)[ -]*blocks?/i,
  /block range\D{0,40}?(\d[\d,_]*)(?![\d,_]|\s*(?:results|logs|entries|bytes))/i,
  /(\d[\d,_]*) block(?:s? range|s? limit)/i
]
const rangePattern = /\[?(0x[0-9a-f]+)\s*(?:,|-|to)\s*(0x[0-9a-f]+)\]?/i
/** More than that is no number of blocks. */
const soundBlocks = 10_000_000

/**
 * The number of blocks that a refusal says would do.
 * @returns `undefined` where it names none, or one of results.
 */
export function suggestedSpan(message: string): number | undefined {
  const range = rangePattern.exec(message)
  if (range !== null) {
    const [, from, to] = range
    return sound(Number(to) - Number(from) + 1)
  }
  for (const pattern of spanPatterns) {
    const found = pattern.exec(message)?.[1]
    if (found !== undefined) return sound(Number(found.replaceAll(/[,_]/g, '')))
  }
  return undefined
}

function sound(blocks: number): number | undefined {
  return Number.isSafeInteger(blocks) && blocks >= 1 && blocks <= soundBlocks ? blocks : undefined
}
