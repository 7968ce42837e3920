import { describe, expect, it } from 'vitest'
import { SpanSize } from './createSpanSearch.ts'

/** The size of the next request after a refusal in these words. */
function sizeAfter(message: string): number {
  const size = new SpanSize()
  size.refused(size.blocks, message)
  return size.blocks
}
const half = new SpanSize().blocks / 2

describe('what a refusal of a range suggests', () => {
  it.each([
    ['Log response size exceeded. Based on your parameters, this block range should work: [0x10, 0x73]', 100],
    ['query returned more than 10000 results. Try with this block range [0x100, 0x1ff].', 256],
    ['You can make eth_getLogs requests with up to a 500 block range.', 500],
    ['eth_getLogs is limited to a 10,000 blocks range', 10_000],
    ['block range too large, currently limited to 300', 300],
    ['exceed maximum block range: 5000', 5_000],
    ['block range is too wide (maximum 1024)', 1_024],
    ['query exceeds max block range 100000', 100_000],
    ['Block range limit exceeded. Max 2000 blocks allowed', 2_000]
  ])('%s', (message, blocks) => {
    expect(sizeAfter(message)).toBe(blocks)
  })

  it.each([
    'query returned more than 10000 results',
    'query timeout exceeded. Consider reducing your block range.',
    'response size should not greater than 10000000 bytes',
    'requested block range returns more than 20000 results',
    'too many logs',
    'invalid params'
  ])('%s: nothing', message => {
    expect(sizeAfter(message)).toBe(half)
  })
})

describe('the size of a span', () => {
  it('is halved until it is taken, and stays below what was refused', () => {
    const size = new SpanSize()
    const taken = 1_000
    const asked: number[] = []
    for (let call = 0; call < 40; call++) {
      asked.push(size.blocks)
      if (size.blocks > taken) size.refused(size.blocks, 'no')
      else size.answered(3, size.blocks)
    }
    expect(size.blocks).toBeGreaterThan(taken / 2)
    expect(asked.filter(blocks => blocks > taken).length).toBeLessThan(13)
  })

  it('takes the size that is named at once', () => {
    const size = new SpanSize()
    size.refused(size.blocks, 'limited to 300 blocks')
    expect(size.blocks).toBe(300)
  })

  it('grows again after a crowded stretch', () => {
    const size = new SpanSize()
    while (size.blocks > 1) size.refused(size.blocks, 'too many results')
    for (let call = 0; call < 1_000; call++) size.answered(0, 1)
    expect(size.blocks).toBeGreaterThan(100_000)
  })

  it('does not grow while answers are large', () => {
    const size = new SpanSize()
    const before = size.blocks
    size.answered(100_000, 1)
    expect(size.blocks).toBe(before)
  })
})
