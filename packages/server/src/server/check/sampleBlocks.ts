import type { EvmSource } from '../../evm/blocks/evmSource.ts'
import { mapConcurrently } from '../../platform/concurrency/permits.ts'
import { ChainDataError } from '../../platform/errors.ts'

/** A block of the sample, read and verified, or the reason why it was not. */
export type SampledBlock =
  | { readonly height: number; readonly transactionCount: number }
  | { readonly height: number; readonly error: ChainDataError }

const usualSamples = 50
const maxConcurrent = 8

/**
 * Returns about fifty heights, evenly spread and ascending; both ends belong to them. Distances have two significant digits,
 * so that nodes whose heads differ a little are asked for the same blocks.
 */
export function sampleHeights(first: number, head: number): readonly number[] {
  const exact = Math.max(1, (head - first) / (usualSamples - 1))
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(exact)) - 1)
  const step = Math.round(exact / unit) * unit
  const heights = Array.from({ length: Math.floor((head - first) / step) + 1 }, (_, i) => first + i * step)
  return heights.at(-1) === head ? heights : [...heights, head]
}

/**
 * Reads blocks as the indexer does, some at a time.
 *
 * @param options.onBlock - called after each block.
 * @returns in the order of `heights`, without those that were not read within `timeoutMs`.
 */
export async function sampleBlocks(
  source: Pick<EvmSource, 'block'>,
  heights: readonly number[],
  options: { readonly timeoutMs: number; readonly onBlock?: () => void }
): Promise<readonly SampledBlock[]> {
  const signal = AbortSignal.timeout(options.timeoutMs)
  const read = async (height: number): Promise<readonly SampledBlock[]> => {
    if (signal.aborted) return []
    try {
      const { transactionCount } = await source.block(height, signal)
      return [{ height, transactionCount }]
    } catch (error) {
      if (signal.aborted) return []
      if (!(error instanceof ChainDataError)) throw error
      return [{ height, error }]
    } finally {
      options.onBlock?.()
    }
  }
  return (await mapConcurrently(heights, maxConcurrent, read)).flat()
}
