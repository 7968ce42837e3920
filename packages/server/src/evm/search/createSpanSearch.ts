import { type RawObject, readCount, readList, readObject, toQuantity } from '../../nodes/evm/rawFields.ts'
import type { EvmRpc } from '../../nodes/evm/rpc.ts'
import { isMethodMissing, messageKindOf } from '../../nodes/upstreams/errorWords.ts'
import { NodeContradictionError, NodeRpcError, NodeUnavailableError } from '../../platform/errors.ts'
import type { DownwardSearch } from './DownwardSearch.ts'
import { FoundBlocks } from './DownwardSearch.ts'

/** Blocks `from` to `to`, both included. */
export interface Span {
  readonly from: number
  readonly to: number
}

/**
 * Asks for all entries of a span of blocks.
 * @param check - refuses an entry by a NodeContradictionError, so that another node is asked.
 */
export async function askForSpan(
  rpc: Pick<EvmRpc, 'request'>,
  method: string,
  { from, to }: Span,
  filter: object,
  signal: AbortSignal,
  check?: (entry: RawObject) => void
): Promise<readonly RawObject[]> {
  const what = `${method} of blocks ${from} to ${to}`
  const read = (raw: unknown) =>
    readList(raw, what).map(item => {
      const entry = readObject(item, what)
      const number = readCount(entry.blockNumber, `${what}: blockNumber`)
      if (number < from || number > to) {
        throw new NodeContradictionError(`${what}: the node answered one of block ${number}`, { number })
      }
      check?.(entry)
      return entry
    })
  const params = [{ fromBlock: toQuantity(from), toBlock: toQuantity(to), ...filter }]
  return (await rpc.request({ method, params }, { signal, height: to, read })) as readonly RawObject[]
}

/** A caller that leaves sooner does not show that the node is slow. */
const minWaitMs = 1_000

export interface SpanSearchOptions {
  /** Blocks before this one are searched. */
  readonly below: number
  readonly size: SpanSize
  /**
   * Asks about the blocks of a span and adds what there is.
   * @returns how many entries the node's answer had.
   */
  ask(span: Span, found: FoundBlocks, signal: AbortSignal): Promise<number>
  /** Adds what there is in a block about which the node refuses to answer although it is asked about nothing else. */
  searchBlock(number: number, found: FoundBlocks, signal: AbortSignal): Promise<void>
}

/** Searches by calls that take a range of blocks, as large a range as the node takes. */
export function createSpanSearch({ below, size, ask, searchBlock }: SpanSearchOptions): DownwardSearch {
  const found = new FoundBlocks()
  let from = below

  async function advance(signal: AbortSignal): Promise<void> {
    const to = from - 1
    for (;;) {
      signal.throwIfAborted()
      const lowest = Math.max(0, from - size.blocks)
      const blocks = to - lowest + 1
      const beganMs = performance.now()
      try {
        size.answered(await ask({ from: lowest, to }, found, signal), blocks)
        from = lowest
        return
      } catch (error) {
        // Too slow, perhaps, or away, or too slow for this caller: the next request asks for less.
        const isSlow = signal.aborted && performance.now() - beganMs > minWaitMs
        if (isSlow || error instanceof NodeUnavailableError) size.refused(blocks, '')
        signal.throwIfAborted()
        if (!isAboutTheSpan(error)) throw error
        size.refused(blocks, error.message)
        if (blocks > 1) continue
        await searchBlock(to, found, signal)
        from = to
        return
      }
    }
  }

  return {
    get from() {
      return from
    },
    advance,
    take: lowest => found.take(lowest)
  }
}

/** Nodes have so many words for it that whatever they refuse is asked again in smaller pieces. */
function isAboutTheSpan(error: unknown): error is NodeRpcError {
  return error instanceof NodeRpcError && !isMethodMissing(error) && messageKindOf(error) !== 'missingData'
}

/** Blocks of the first request; nodes say how many they take. */
const firstBlocks = 262_144
const maxBlocks = 16_777_216
/** After so many answers in a row what was refused once is tried again: it may have been a crowded stretch of the chain. */
const answersToGrow = 16
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
  #taken = 0
  #answersSince = 0

  get blocks(): number {
    return this.#blocks
  }

  /** A node has refused a number of blocks, and none has answered about so many since. */
  get isRefused(): boolean {
    return Number.isFinite(this.#refused)
  }

  /** The most blocks that a node has answered about at once; 0: none yet. */
  get taken(): number {
    return this.#taken
  }

  /** Notes that a node answers about so many blocks at once. */
  took(blocks: number): void {
    this.#taken = Math.max(this.#taken, blocks)
  }

  /** @param blocks - how many were asked about. */
  answered(entries: number, blocks: number): void {
    this.took(blocks)
    this.#answersSince++
    if (this.#answersSince >= answersToGrow) this.#refused *= 2
    if (this.#answersSince >= answersToGrow) this.#answersSince = 0
    if (entries > plentyEntries) return
    const grown = Math.min(maxBlocks, this.#blocks * 2)
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
 * have them; the test of this file holds the full texts. Any other refusal is answered by halving.
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
function suggestedSpan(message: string): number | undefined {
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
