import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import type { EvmSource } from '../../evm/blocks/evmSource.ts'
import { sampleBlocks, sampleHeights } from './sampleBlocks.ts'

it('blocks in the queue add no listener to the signal that ends the sample', async () => {
  const counts: number[] = []
  const source = {
    async block(number: number, signal?: AbortSignal) {
      await Promise.resolve()
      counts.push(signal === undefined ? 0 : getEventListeners(signal, 'abort').length)
      return { transactionCount: number }
    }
  } as unknown as Pick<EvmSource, 'block'>
  const heights = sampleHeights(0, 49)
  const sample = await sampleBlocks(source, heights, 600_000)
  expect(sample).toEqual(heights.map(height => ({ height, transactionCount: height })))
  expect(Math.max(...counts)).toBeLessThanOrEqual(1)
})
