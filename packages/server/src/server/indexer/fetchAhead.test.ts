import { type BlockRows, encodeBlock } from '@chain-data/index/record'
import { describe, expect, it } from 'vitest'
import type { EvmSource } from '../../evm/blocks/evmSource.ts'
import { NodeContradictionError, NodeUnavailableError } from '../../platform/errors.ts'
import { BlockFailure, createFetchAhead, type FetchAheadOptions } from './fetchAhead.ts'

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

const create = (source: EvmSource, options: Partial<FetchAheadOptions> = {}) =>
  createFetchAhead({
    ...{ source, window: 4_096, maxBytes: 8_388_608, signal: new AbortController().signal, wait },
    ...options
  })

async function collect(
  source: EvmSource,
  { from, to }: { from: number; to: number },
  options: Partial<FetchAheadOptions> = {}
) {
  const ahead = create(source, options)
  const numbers: number[] = []
  let failure: unknown
  try {
    for (let number = from; number <= to; number++) numbers.push((await ahead.take(number, to, 5)).ref.number)
  } catch (error) {
    failure = error
  } finally {
    await ahead.drop()
  }
  return { numbers, failure }
}

const idle = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setImmediate(resolve))
}

describe('fetching ahead', () => {
  it('gives every block once and in order, however late each arrives, with no more than the window ahead', async () => {
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
    const { numbers } = await collect(source, { from: 5, to: 40 }, { window: 6 })
    expect(numbers).toEqual(Array.from({ length: 36 }, (_, i) => i + 5))
    expect(most).toBe(6)
  })

  it('asks for few blocks as long as it has not seen how large they are', async () => {
    const asked: number[] = []
    let answerSecond: (block: BlockRows) => void = () => undefined
    const source = sourceOf(number => {
      asked.push(number)
      // What follows waits with the second.
      if (number === 1) return Promise.resolve(blockOf(number))
      if (number !== 2) return new Promise(resolve => setTimeout(() => resolve(blockOf(number)), 0))
      return new Promise(resolve => {
        answerSecond = resolve
      })
    })
    const collected = collect(source, { from: 1, to: 100 })
    await Promise.resolve()
    expect(asked).toEqual(Array.from({ length: 16 }, (_, i) => i + 1))
    answerSecond(blockOf(2))
    expect((await collected).numbers).toHaveLength(100)
  })

  it('asks for as many at a time as the nodes take, beside those that have come and wait', async () => {
    let room = 3
    const doors = new Map<number, () => void>()
    const source = {
      ...sourceOf(number => new Promise(resolve => doors.set(number, () => resolve(blockOf(number))))),
      room: () => room
    }
    const ahead = create(source)
    const first = ahead.take(1, 100, 5)
    expect([...doors.keys()]).toEqual([1, 2, 3])
    doors.get(2)?.()
    doors.get(3)?.()
    await idle()
    // The first is late, which keeps no node from its work.
    expect([...doors.keys()]).toEqual([1, 2, 3, 4, 5])
    room = 5
    doors.get(4)?.()
    await idle()
    expect([...doors.keys()]).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    doors.get(1)?.()
    expect((await first).ref.number).toBe(1)
    await Promise.all([ahead.drop(), ...[...doors.values()].map(open => open())])
  })

  it('keeps the bytes of all blocks ahead within the bound, by the size of the answers', async () => {
    const doors: (() => void)[] = []
    let underWay = 0
    let most = 0
    const source = sourceOf(
      (number, _, onSize) =>
        new Promise(resolve => {
          most = Math.max(most, ++underWay)
          doors.push(() => {
            underWay--
            onSize?.(number < 10 ? 1_000 : 100_000)
            resolve(blockOf(number))
          })
        })
    )
    const collected = collect(source, { from: 1, to: 200 }, { maxBytes: 1_000_000 })
    const answered = async (count: number) => {
      for (let i = 0; i < count; i++) {
        await idle()
        doors.shift()?.()
      }
      await idle()
    }
    await answered(60)
    most = 0
    await answered(140)
    expect(most).toBe(10)
    expect((await collected).numbers).toHaveLength(200)
  })

  it('goes on fetching between two blocks, also when the next one is asked for late', async () => {
    const asked: number[] = []
    const ahead = create(
      sourceOf(async number => {
        asked.push(number)
        return blockOf(number)
      })
    )
    await ahead.take(1, 30, 5)
    await idle()
    expect(asked).toHaveLength(30)
    expect((await ahead.take(2, 30, 5)).ref.number).toBe(2)
    expect(asked).toHaveLength(30)
    await ahead.drop()
  })

  it('forgets what was fetched when another block than the next one is asked for', async () => {
    const asked: number[] = []
    const ahead = create(
      sourceOf(async number => {
        asked.push(number)
        return blockOf(number)
      })
    )
    await ahead.take(10, 13, 5)
    await idle()
    expect((await ahead.take(10, 13, 5)).ref.number).toBe(10)
    await idle()
    expect(asked).toEqual([10, 11, 12, 13, 10, 11, 12, 13])
    await ahead.drop()
  })

  it('gives what comes before a block that cannot be had, then fails, and asks for nothing more', async () => {
    const asked: number[] = []
    const source = sourceOf(async number => {
      asked.push(number)
      if (number === 7) throw new NodeUnavailableError('gone')
      return blockOf(number)
    })
    const { numbers, failure } = await collect(source, { from: 1, to: 100 }, { window: 4 })
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
    const { numbers, failure } = await collect(source, { from: 1, to: 4 })
    expect(numbers).toEqual([1, 2, 3])
    expect(failure).toMatchObject({ blockNumber: 4, tries: 5, cause: { message: 'never' } })
    expect(attempts.get(4)).toBe(5)
  })

  it('aborts what is under way when it is dropped', async () => {
    const signals: AbortSignal[] = []
    const source = sourceOf(async (number, signal) => {
      if (signal !== undefined) signals.push(signal)
      return blockOf(number)
    })
    const ahead = create(source, { window: 3 })
    for (const number of [1, 2]) await ahead.take(number, 9, 5)
    await ahead.drop()
    expect(signals.length).toBeGreaterThan(0)
    expect(signals.every(({ aborted }) => aborted)).toBe(true)
  })
})
