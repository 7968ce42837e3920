import { describe, expect, test } from 'vitest'
import { createKeyedPermits, createPermits, mapConcurrently } from './permits.ts'

const settle = () => new Promise<void>(resolve => setImmediate(resolve))

function holdAll(limit: () => number) {
  const permits = createPermits(inUse => inUse < limit())
  const started: number[] = []
  const ends: ((error?: Error) => void)[] = []
  const run = (name: number, signal?: AbortSignal) =>
    permits.run(
      () =>
        new Promise<void>((resolve, reject) => {
          started.push(name)
          ends.push(error => (error === undefined ? resolve() : reject(error)))
        }),
      signal
    )
  return { permits, started, ends, run }
}

describe('permits', () => {
  test('let so many run, and the next in the order of arrival', async () => {
    const { permits, started, ends, run } = holdAll(() => 2)
    for (const name of [1, 2, 3, 4]) void run(name)
    await settle()
    expect(started).toEqual([1, 2])
    ends[1]?.()
    await settle()
    expect(started).toEqual([1, 2, 3])
    expect(permits.inUse()).toBe(2)
  })

  test('are returned when the work fails', async () => {
    const { permits, ends, run } = holdAll(() => 1)
    const failing = run(1)
    await settle()
    ends[0]?.(new Error('no'))
    await expect(failing).rejects.toThrow('no')
    expect(permits.inUse()).toBe(0)
  })

  test('follow a limit that changes', async () => {
    let limit = 1
    const { started, ends, run } = holdAll(() => limit)
    for (const name of [1, 2, 3, 4]) void run(name)
    await settle()
    limit = 3
    ends[0]?.()
    await settle()
    expect(started).toEqual([1, 2, 3, 4])
  })

  test('are not waited for after an abort', async () => {
    const { started, ends, run } = holdAll(() => 1)
    const abort = new AbortController()
    void run(1)
    const left = run(2, abort.signal)
    void run(3)
    abort.abort(new Error('no longer needed'))
    await expect(left).rejects.toThrow('no longer needed')
    ends[0]?.()
    await settle()
    expect(started).toEqual([1, 3])
    await expect(run(4, abort.signal)).rejects.toThrow('no longer needed')
  })
})

test('permits by key are taken of every key or of none, and may be taken again', () => {
  const permits = createKeyedPermits()
  const giveBack = permits.take([
    ['a', 1],
    ['b', 2]
  ])
  expect(
    permits.take([
      ['b', 2],
      ['a', 1]
    ])
  ).toBeUndefined()
  expect(permits.take([['b', 2]])).toBeDefined()
  expect(permits.take([['b', 2]])).toBeUndefined()
  giveBack?.()
  expect(
    permits.take([
      ['a', 1],
      ['b', 2]
    ])
  ).toBeDefined()
})

describe('mapConcurrently', () => {
  test('gives results in order, with so many under way at most', async () => {
    let underWay = 0
    let most = 0
    const results = await mapConcurrently([3, 1, 2, 5, 4], 2, async (item, index) => {
      most = Math.max(most, ++underWay)
      for (let i = 0; i < item; i++) await settle()
      underWay--
      return `${index}:${item}`
    })
    expect(results).toEqual(['0:3', '1:1', '2:2', '3:5', '4:4'])
    expect(most).toBe(2)
    expect(await mapConcurrently([], 2, async () => 1)).toEqual([])
  })

  test('starts nothing more after a failure', async () => {
    const started: number[] = []
    const failing = mapConcurrently([1, 2, 3, 4, 5], 2, async item => {
      started.push(item)
      await settle()
      if (item === 1) throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    await settle()
    await settle()
    expect(started).toEqual([1, 2])
  })
})
