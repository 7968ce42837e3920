import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createLiveHistory, createStreaming, type LiveHistoryOptions } from '../../src/history/index.ts'
import { createModelChain, createModelClient, rpcError } from './support/createModelChain.ts'
import { createModelStreams, type StreamHabits } from './support/createModelStreams.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const pollMs = 4_000
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

/** A list of the newest 5 of 60 records, that a stream has begun to feed. */
async function watch({
  habits = {},
  ...options
}: Partial<LiveHistoryOptions> & { habits?: StreamHabits } = {}) {
  const chain = createModelChain()
  for (let block = 0; block < 12; block++) chain.mine(5)
  /** What calls fail with, and from which page on. */
  const failing: { next?: unknown; at: number } = { at: 1 }
  const { client, calls } = createModelClient(chain, method => {
    if (failing.next !== undefined && method === 'history' && --failing.at <= 0) throw failing.next
  })
  const streams = createModelStreams(chain, () => 0, habits)
  const feed = createStreaming(pollMs)
  const list = createLiveHistory(
    { ...client, ...streams },
    { ...{ chainId: 1, address: '0xa', pageSize: 5, feed }, ...options }
  )
  list.subscribe(() => {})
  await pass(1)
  expect(list.getSnapshot().isStreamed).toBe(true)
  /** What was asked for since the last time. */
  const asked = () => calls.splice(0).map(({ method }) => method)
  expect(asked()).toEqual(['history'])
  const expectNewest = () => {
    const { state, records, coverage } = list.getSnapshot()
    expect(records).toEqual(chain.history().slice(0, records?.length))
    expect([state, coverage?.to]).toEqual(['ready', chain.head()])
  }
  return { chain, streams, failing, list, asked, expectNewest }
}

describe('no page is asked for', () => {
  test('by blocks, pending records and a reorg that keeps the page full', async () => {
    const { chain, list, asked, expectNewest } = await watch()
    for (let block = 0; block < 30; block++) {
      chain.send(block % 3)
      await pass(700)
      expectNewest()
      chain.mine(block % 4)
      await pass(700)
      expectNewest()
    }
    const { records: before = [], reorgs } = list.getSnapshot()
    expect(before.length).toBeGreaterThan(30)
    chain.reorg(3, ['pool', 'gone', 'mined again'])
    chain.replace()
    await pass(60_000)
    expectNewest()
    expect(list.getSnapshot().reorgs).toBe(reorgs + 1)
    expect(before.at(-1)).toBe(list.getSnapshot().records?.at(-1))
    expect(asked()).toEqual([])
  })

  test('by a stream that breaks, also in the middle of a block, and is there again before the list polls', async () => {
    const { chain, streams, list, asked, expectNewest } = await watch({ habits: { gapMs: () => 10 } })
    const { records } = list.getSnapshot()
    chain.mine(6)
    await pass(25)
    streams.end('broken')
    expect(list.getSnapshot().records).toBe(records)
    await pass(pollMs - 100)
    expect(streams.asked()).toBe(2)
    expectNewest()
    await pass(60_000)
    expect(asked()).toEqual([])
  })

  test('after a page that was asked for by hand while a block came: the stream goes on from that page', async () => {
    const { chain, streams, list, asked, expectNewest } = await watch({ habits: { gapMs: () => 10 } })
    chain.mine(3)
    await list.refresh()
    expect(asked()).toEqual(['status', 'history'])
    expectNewest()
    // The events of both blocks are followed by one `synced`.
    chain.mine(1)
    await pass(60)
    expectNewest()
    await pass(60_000)
    expect([asked(), list.getSnapshot().isStreamed]).toEqual([[], true])
    expect(streams.asked()).toBe(2)
  })

  test('while a listener throws', async () => {
    const { chain, list, asked, expectNewest } = await watch()
    const broken = new Error('a mistake of the page')
    const thrown: unknown[] = []
    const note = (error: unknown) => void thrown.push(error)
    process.on('unhandledRejection', note)
    const end = list.subscribe(() => {
      throw broken
    })
    chain.mine(1)
    await pass(1)
    end()
    await vi.waitFor(() => expect(thrown).toEqual([broken]))
    process.off('unhandledRejection', note)
    chain.mine(1)
    await pass(60_000)
    expectNewest()
    expect([asked(), list.getSnapshot().isStreamed]).toEqual([[], true])
  })
})

describe('one page is asked for', () => {
  test('where a removed record leaves room at the end of the page', async () => {
    const { chain, list, asked, expectNewest } = await watch({ pageSize: 40 })
    chain.reorg(1, ['gone', 'pool'])
    await pass(1)
    expectNewest()
    expect(list.getSnapshot()).toMatchObject({ reorgs: 1, hasOlder: true })
    expect(list.getSnapshot().records).toHaveLength(40)
    await pass(60_000)
    expect([asked(), list.getSnapshot().isStreamed]).toEqual([['status', 'history'], true])
    chain.mine(1)
    await pass(1)
    expectNewest()
    expect(asked()).toEqual([])
  })

  test('where the cursor is too old', async () => {
    const { chain, streams, asked, expectNewest, list } = await watch()
    streams.end('drained')
    chain.mine(2)
    streams.forget()
    await pass(60_000)
    expectNewest()
    expect([asked(), list.getSnapshot().isStreamed]).toEqual([['status', 'history'], true])
  })

  test('where a host says for long that nothing is level', async () => {
    const { chain, asked, expectNewest } = await watch({ habits: { isSeldomLevel: true } })
    chain.mine(2)
    await pass(pollMs + 1)
    expectNewest()
    expect(asked()).toEqual(['status', 'history'])
  })
})

test('a reading whose second page fails leaves the list where it was, and the stream advances it from there', async () => {
  const { chain, failing, list, asked, expectNewest } = await watch()
  failing.at = 2
  failing.next = rpcError('UPSTREAM_UNAVAILABLE', { retryable: true })
  // The first page is too short for them.
  const refreshed = list.refresh()
  chain.mine(40)
  await refreshed
  expect(asked()).toEqual(['status', 'history', 'history'])
  await pass(1)
  expectNewest()
  await pass(60_000)
  expect(asked()).toEqual([])
})

test('events do not wait without bound while no page can be read: the stream ends, and one reading replaces them', async () => {
  const { chain, streams, failing, list, asked, expectNewest } = await watch({
    habits: { isSeldomLevel: true }
  })
  const { records } = list.getSnapshot()
  failing.next = rpcError('UPSTREAM_UNAVAILABLE', { retryable: true })
  for (let block = 0; block < 30; block++) chain.mine(50)
  await pass(1)
  expect(streams.isOpen()).toBe(false)
  for (let block = 0; block < 30; block++) chain.mine(50)
  await pass(120_000)
  expect(list.getSnapshot()).toMatchObject({ state: 'stale', error: failing.next })
  expect(list.getSnapshot().records).toBe(records)
  expect([streams.isOpen(), streams.asked()]).toEqual([false, 1])
  asked()
  failing.next = undefined
  await pass(31_000)
  expectNewest()
  expect([streams.isOpen(), list.getSnapshot().isStreamed]).toEqual([true, true])
  asked()
  await pass(60_000)
  expect(asked()).toEqual([])
})
