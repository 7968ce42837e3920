import { describe, expect, it } from 'vitest'
import type { EvmSource } from '../../evm/blocks/evmSource.ts'
import { type BlockRows, encodeBlock } from '../../index/record/encodeBlock.ts'
import { NodeContradictionError, NodeUnavailableError } from '../../platform/errors.ts'
import { BlockFailure, fetchInOrder } from './fetchInOrder.ts'

const blockOf = (number: number): BlockRows =>
  encodeBlock({
    ref: { number, hash: `0x${number}` },
    parentHash: `0x${number - 1}`,
    timestampSeconds: number,
    transactions: []
  })

/** Only `block` may be called. */
function sourceOf(block: EvmSource['block']): EvmSource {
  const nobody = () => {
    throw new Error('not to be called')
  }
  return { block, identity: nobody, head: nobody, blockRef: nobody, knowsBlock: nobody, oldestBlock: nobody }
}

/** No pause takes time. */
const wait = async () => {}

async function collect(
  source: EvmSource,
  range: { from: number; to: number },
  window: number,
  signal = new AbortController().signal
) {
  const numbers: number[] = []
  let failure: unknown
  try {
    for await (const { ref } of fetchInOrder({ source, ...range, window, tries: 5, signal, wait }))
      numbers.push(ref.number)
  } catch (error) {
    failure = error
  }
  return { numbers, failure }
}

describe('fetchInOrder', () => {
  it('yields every block once and in order, however late each arrives, with no more than the window under way', async () => {
    let underWay = 0
    let most = 0
    const source = sourceOf(async number => {
      most = Math.max(most, ++underWay)
      // The first comes soon, odd ones take longer than even ones, and none is there at once.
      const turns = number === 5 ? 5 : 50 + (number % 2) * 20
      for (let turn = 0; turn < turns; turn++) await Promise.resolve()
      underWay--
      return blockOf(number)
    })
    const { numbers } = await collect(source, { from: 5, to: 40 }, 6)
    expect(numbers).toEqual(Array.from({ length: 36 }, (_, i) => i + 5))
    expect(most).toBe(6)
  })

  it('asks for few blocks as long as it has not seen how large they are', async () => {
    const asked: number[] = []
    let answerSecond: (block: BlockRows) => void = () => undefined
    const source = sourceOf(number => {
      asked.push(number)
      if (number !== 2) return Promise.resolve(blockOf(number))
      return new Promise(resolve => {
        answerSecond = resolve
      })
    })
    const collected = collect(source, { from: 1, to: 100 }, 32)
    await new Promise(resolve => setImmediate(resolve))
    // The first block, which is empty, says little of those behind it.
    expect(asked).toEqual([1, 2, 3, 4, 5, 6])
    answerSecond(blockOf(2))
    expect((await collected).numbers).toHaveLength(100)
  })

  it('yields what comes before a block that cannot be had, then fails, and asks for nothing more', async () => {
    const asked: number[] = []
    const source = sourceOf(async number => {
      asked.push(number)
      if (number === 7) throw new NodeUnavailableError('gone')
      return blockOf(number)
    })
    const { numbers, failure } = await collect(source, { from: 1, to: 100 }, 4)
    expect(numbers).toEqual([1, 2, 3, 4, 5, 6])
    expect(failure).toBeInstanceOf(BlockFailure)
    expect(failure).toMatchObject({ blockNumber: 7, tries: 1, cause: expect.any(NodeUnavailableError) })
    expect(Math.max(...asked)).toBeLessThanOrEqual(10)
  })

  it('asks again for a block that contradicts itself, but not for ever', async () => {
    const attempts = new Map<number, number>()
    const source = sourceOf(async number => {
      const attempt = (attempts.get(number) ?? 0) + 1
      attempts.set(number, attempt)
      if (number === 2 && attempt < 3) throw new NodeContradictionError('not yet')
      if (number === 4) throw new NodeContradictionError('never')
      return blockOf(number)
    })
    const { numbers, failure } = await collect(source, { from: 1, to: 4 }, 4)
    expect(numbers).toEqual([1, 2, 3])
    expect(failure).toMatchObject({ blockNumber: 4, tries: 5, cause: { message: 'never' } })
    expect(attempts.get(4)).toBe(5)
  })

  it('aborts what is under way when nobody wants it any more', async () => {
    const signals: AbortSignal[] = []
    const source = sourceOf(async (number, signal) => {
      if (signal !== undefined) signals.push(signal)
      return blockOf(number)
    })
    for await (const { ref } of fetchInOrder({
      ...{ source, from: 1, to: 9, window: 3, tries: 5, wait },
      signal: new AbortController().signal
    })) {
      if (ref.number === 2) break
    }
    expect(signals.length).toBeGreaterThan(0)
    expect(signals.every(({ aborted }) => aborted)).toBe(true)
  })
})
