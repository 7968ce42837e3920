import { isMethodMissing, messageKindOf } from '../../nodes/upstreams/errorWords.ts'
import { NodeRpcError, NodeUnavailableError } from '../../platform/errors.ts'
import type { DownwardSearch } from './DownwardSearch.ts'
import { FoundBlocks } from './FoundBlocks.ts'
import type { SpanSize } from './SpanSize.ts'

/** Blocks `from` to `to`, both included. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** Callers that leave sooner say nothing of how long a node takes. */
const patienceMs = 1_000

export interface SpanSearchOptions {
  /** Search below this block. */
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
        size.answered(await ask({ from: lowest, to }, found, signal))
        from = lowest
        return
      } catch (error) {
        // Too slow, perhaps, or away, or too slow for whoever asked: the next one asks for less.
        const isSlow = signal.aborted && performance.now() - beganMs > patienceMs
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
