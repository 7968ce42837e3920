import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  createLiveHistory,
  createPolling,
  type HistoryFeed,
  type HistorySnapshot,
  type LiveHistoryOptions,
  type Visibility
} from '../../src/history/index.ts'
import { createModelChain, createModelClient, rpcError } from './support/createModelChain.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const everyMs = 1_000
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

/** A list of 60 records in blocks of 10, polled every second, that somebody watches. */
async function watch(options: Partial<LiveHistoryOptions> = {}) {
  const chain = createModelChain()
  for (let block = 0; block < 6; block++) chain.mine(10)
  const failing: { next?: unknown } = {}
  const { client, calls } = createModelClient(chain, method => {
    if (method === 'history' && failing.next !== undefined) throw failing.next
  })
  const feed = createPolling(everyMs)
  const history = createLiveHistory(client, { chainId: 1, address: '0xa', feed, ...options })
  const seen: HistorySnapshot[] = []
  const unsubscribe = history.subscribe(() => seen.push(history.getSnapshot()))
  await pass(0)
  return { chain, calls, failing, history, seen, unsubscribe, snapshot: history.getSnapshot }
}

/** A page that is seen, until the test decides otherwise. */
function createVisibility() {
  let isVisible = true
  let changed = () => {}
  const visibility: Visibility = {
    isVisible: () => isVisible,
    subscribe(listener) {
      changed = listener
      return () => {}
    }
  }
  const show = (seen: boolean) => {
    isVisible = seen
    changed()
  }
  return { visibility, show }
}

const hashes = ({ records = [] }: HistorySnapshot) => records.map(({ hash }) => hash)
const newest = ({ records = [] }: HistorySnapshot, count: number) =>
  records.slice(0, count).map(({ hash, status }) => [hash, status])

describe('reading', () => {
  test('begins with the first subscriber, ends with the last, and goes on with the next', async () => {
    const { chain, client, calls } = { chain: createModelChain(), ...createModelClient(createModelChain()) }
    chain.mine(1)
    const history = createLiveHistory(client, { chainId: 1, address: '0xa', feed: createPolling(everyMs) })
    await pass(5_000)
    expect(calls).toEqual([])
    expect(history.getSnapshot()).toEqual({
      state: 'loading',
      hasOlder: true,
      isLoadingOlder: false,
      reorgs: 0
    })
    const ends = [history.subscribe(() => {}), history.subscribe(() => {})]
    await pass(0)
    expect(calls).toHaveLength(1)
    ends[0]?.()
    await pass(2 * everyMs)
    expect(calls).toHaveLength(2)
    ends[1]?.()
    await pass(10 * everyMs)
    expect(calls).toHaveLength(2)
    expect(vi.getTimerCount()).toBe(0)
    history.subscribe(() => {})
    await pass(0)
    expect(calls).toHaveLength(3)
  })

  test('is one short call a poll where nothing may change any more', async () => {
    const { chain, calls } = await watch()
    for (let block = 0; block < 4; block++) chain.mine(0)
    await pass(everyMs)
    // The first call for what is final, and one page down to what was not.
    expect(calls.splice(0).map(({ method, limit }) => [method, limit])).toEqual([
      ['history', 25],
      ['status', undefined],
      ['history', 30]
    ])
    await pass(20 * everyMs)
    expect(calls.length).toBeGreaterThan(5)
    expect(new Set(calls.map(({ method, limit }) => `${method} ${limit}`))).toEqual(new Set(['history 5']))
  })

  test('is half as frequent while no block comes', async () => {
    const { chain, calls } = await watch()
    const polls = async (seconds: number, count: number | undefined) => {
      calls.length = 0
      for (let second = 0; second < seconds; second++) {
        if (count !== undefined) chain.mine(count)
        await pass(1_000)
      }
      return calls.filter(({ method }) => method === 'history').length
    }
    expect(await polls(20, 0)).toBe(20)
    expect(await polls(20, undefined)).toBeLessThanOrEqual(11)
  })

  test('never overlaps, however slow the answers are', async () => {
    const chain = createModelChain()
    chain.mine(3)
    let [underWay, most] = [0, 0]
    const { client } = createModelClient(chain, async () => {
      most = Math.max(most, ++underWay)
      await new Promise(resolve => setTimeout(resolve, 3_500))
      underWay--
    })
    const history = createLiveHistory(client, { chainId: 1, address: '0xa', feed: createPolling(everyMs) })
    history.subscribe(() => {})
    for (let second = 0; second < 30; second++) {
      void history.refresh()
      void history.loadOlder()
      await pass(1_000)
    }
    expect(most).toBe(1)
  })

  test('pauses while nobody sees the list, and is caught up at once afterwards', async () => {
    const { visibility, show } = createVisibility()
    const { calls } = await watch({ visibility })
    show(false)
    await pass(60_000)
    expect(calls).toHaveLength(1)
    show(true)
    await pass(0)
    expect(calls.length).toBeGreaterThan(1)
  })

  test('ends its feed while nobody sees the list, and begins it again with a reading', async () => {
    const { visibility, show } = createVisibility()
    const stop = vi.fn()
    const start = vi.fn(() => stop)
    const feed: HistoryFeed = { start, waitMs: () => Number.POSITIVE_INFINITY }
    const { calls, unsubscribe } = await watch({ visibility, feed })
    show(false)
    expect([start.mock.calls.length, stop.mock.calls.length]).toEqual([1, 1])
    show(true)
    await pass(0)
    expect([start.mock.calls.length, stop.mock.calls.length]).toEqual([2, 1])
    expect(calls.filter(({ method }) => method === 'history')).toHaveLength(2)
    unsubscribe()
    expect(stop).toHaveBeenCalledTimes(2)
    show(true)
    expect(start).toHaveBeenCalledTimes(2)
  })

  test('follows a feed that reports changes, also those that come while it reads', async () => {
    let report = () => {}
    const stop = vi.fn()
    const feed: HistoryFeed = {
      start(changed) {
        report = changed
        return stop
      },
      waitMs: () => Number.POSITIVE_INFINITY
    }
    const { chain, calls, snapshot, unsubscribe } = await watch({ feed })
    await pass(60_000)
    expect(calls).toHaveLength(1)
    chain.send(1)
    report()
    report()
    await pass(0)
    expect(hashes(snapshot())[0]).toBe('0x61')
    expect(calls.filter(({ method }) => method === 'history')).toHaveLength(2)
    unsubscribe()
    expect(stop).toHaveBeenCalledOnce()
  })
})

describe('a snapshot', () => {
  test('is the same object until something changes, and so is each record', async () => {
    const { chain, snapshot, seen } = await watch()
    await pass(everyMs)
    const before = snapshot()
    const count = seen.length
    await pass(20 * everyMs)
    expect(snapshot()).toBe(before)
    expect(seen).toHaveLength(count)
    chain.send(1)
    await pass(2 * everyMs)
    expect(snapshot()).not.toBe(before)
    expect(hashes(before)).not.toContain('0x61')
    for (const [place, record] of before.records?.entries() ?? []) {
      expect(snapshot().records?.[place + 1]).toBe(record)
    }
  })

  test('keeps a transaction in its hash from the pool into a block and back, and drops a replaced one', async () => {
    const { chain, snapshot } = await watch()
    chain.send(2)
    await pass(2 * everyMs)
    expect(hashes(snapshot()).slice(0, 2)).toEqual(['0x62', '0x61'])
    chain.replace()
    await pass(2 * everyMs)
    expect(hashes(snapshot()).slice(0, 3)).toEqual(['0x63', '0x61', '0x60'])
    chain.mine(0)
    await pass(2 * everyMs)
    expect(newest(snapshot(), 2)).toEqual([
      ['0x63', 3],
      ['0x61', 3]
    ])
    expect(snapshot().reorgs).toBe(0)
    chain.reorg(1, ['pool', 'gone'])
    await pass(2 * everyMs)
    expect(newest(snapshot(), 2)).toEqual([
      ['0x61', 1],
      ['0x60', 3]
    ])
    expect(snapshot().reorgs).toBe(1)
  })

  test('names the blocks that its records speak of, also after an older page', async () => {
    const { chain, history, snapshot, calls } = await watch()
    for (let block = 0; block < 4; block++) chain.mine(0)
    await pass(everyMs)
    expect(snapshot().coverage).toEqual({ chainId: 1, from: 0, to: 10 })
    chain.mine(5)
    await history.loadOlder()
    expect(calls.at(-1)).toMatchObject({ before: '0x36' })
    expect(snapshot().coverage?.to).toBe(10)
  })
})

describe('older records', () => {
  test('are read once, however often they are asked for meanwhile', async () => {
    const { calls, history, snapshot } = await watch()
    await pass(everyMs)
    calls.length = 0
    const asked = [history.loadOlder(), history.loadOlder()]
    expect(asked[0]).toBe(asked[1])
    expect(snapshot().isLoadingOlder).toBe(true)
    await Promise.all(asked)
    expect(snapshot()).toMatchObject({ isLoadingOlder: false, hasOlder: true })
    expect(calls.filter(({ method }) => method === 'history')).toHaveLength(1)
    await history.loadOlder()
    expect(snapshot()).toMatchObject({ hasOlder: false })
    expect(hashes(snapshot())).toHaveLength(60)
    calls.length = 0
    await history.loadOlder()
    expect(calls).toEqual([])
  })

  test('that cannot be read leave the list as it is, and say why', async () => {
    const { failing, history, snapshot } = await watch()
    failing.next = rpcError('HISTORY_UNPROVABLE')
    await history.loadOlder()
    expect(snapshot()).toMatchObject({ state: 'ready', hasOlder: true, olderError: failing.next })
    expect(hashes(snapshot())).toHaveLength(25)
    failing.next = undefined
    await history.loadOlder()
    expect(snapshot().olderError).toBeUndefined()
    expect(hashes(snapshot())).toHaveLength(50)
  })

  test('that the host is still reading are waited for, with its progress, while new ones come', async () => {
    const { chain, calls, failing, history, snapshot } = await watch()
    const progress = { reachedBlock: 700, percent: 30, expectedMs: 5_000 }
    failing.next = rpcError('STILL_READING', { retryable: true, retryAfterMs: 2_500, data: { progress } })
    const older = history.loadOlder()
    await pass(10)
    expect(snapshot()).toMatchObject({ state: 'reading', progress, isLoadingOlder: true })
    expect(hashes(snapshot())).toHaveLength(25)
    failing.next = undefined
    chain.send(1)
    await pass(1_500)
    expect(snapshot()).toMatchObject({ state: 'reading', progress })
    expect(hashes(snapshot())[0]).toBe('0x61')
    const before = calls.length
    await pass(1_000)
    await older
    expect(calls.length).toBeGreaterThan(before)
    expect(snapshot().state).toBe('ready')
    expect(hashes(snapshot()).length).toBeGreaterThanOrEqual(50)
  })

  test('go on where the chain replaced blocks that it had called final', async () => {
    const { chain, history, snapshot } = await watch()
    for (let block = 0; block < 4; block++) chain.mine(0)
    await pass(everyMs)
    // The cursor is gone, then the newest records stand elsewhere.
    chain.breakFinality(3, ['gone'])
    await history.loadOlder()
    const isPrefix = () =>
      expect(chain.history().slice(0, hashes(snapshot()).length)).toEqual(snapshot().records)
    isPrefix()
    for (let block = 0; block < 6; block++) chain.mine(6)
    await pass(20 * everyMs)
    chain.breakFinality(4, ['mined again', 'gone'])
    await pass(2 * everyMs)
    isPrefix()
    while (snapshot().hasOlder) await history.loadOlder()
    expect(snapshot().records).toEqual(chain.history())
  })

  test('are reached on an account with more open records than one page has', async () => {
    const chain = createModelChain()
    for (let block = 0; block < 5; block++) chain.mine(500)
    const { client } = createModelClient(chain)
    const history = createLiveHistory(client, { chainId: 1, address: '0xa', pageSize: 600 })
    history.subscribe(() => {})
    await pass(0)
    for (let page = 0; page < 10; page++) await history.loadOlder()
    expect(history.getSnapshot().records).toEqual(chain.history())
    chain.mine(3)
    await pass(60_000)
    expect(history.getSnapshot().records).toEqual(chain.history())
    history.close()
  })
})

test('a listener that throws does not end the reading', async () => {
  const { chain, history, snapshot } = await watch()
  const broken = new Error('a mistake of the page')
  const end = history.subscribe(() => {
    throw broken
  })
  chain.send(1)
  await expect(history.refresh()).rejects.toBe(broken)
  end()
  chain.send(1)
  await pass(2 * everyMs)
  expect(hashes(snapshot()).slice(0, 2)).toEqual(['0x62', '0x61'])
})

describe('an error', () => {
  const down = rpcError('UPSTREAM_UNAVAILABLE', { retryable: true })

  test('before the first answer is no empty list', async () => {
    const { client } = createModelClient(createModelChain(), () => {
      throw down
    })
    const history = createLiveHistory(client, { chainId: 1, address: '0xa' })
    history.subscribe(() => {})
    await pass(0)
    expect(history.getSnapshot()).toMatchObject({ state: 'failed', error: down })
    expect(history.getSnapshot().records).toBeUndefined()
    history.close()
  })

  test('leaves the records, says of when they are, and is followed by fewer and fewer calls', async () => {
    const { calls, failing, snapshot } = await watch()
    const readAtMs = Date.now()
    failing.next = down
    await pass(everyMs)
    expect(snapshot()).toMatchObject({ state: 'stale', error: down, readAtMs, retryAtMs: Date.now() + 1_000 })
    expect(hashes(snapshot())).toHaveLength(25)
    calls.length = 0
    await pass(60_000)
    const failed = calls.filter(({ method }) => method === 'history').length
    // After 1, 2, 4, 8, 16 and 30 seconds.
    expect(failed).toBe(5)
    failing.next = undefined
    await pass(31_000)
    expect(snapshot().state).toBe('ready')
    calls.length = 0
    await pass(10 * everyMs)
    expect(calls.length).toBeGreaterThanOrEqual(5)
  })

  test('that names a time is followed by no call before it', async () => {
    const { calls, failing, snapshot } = await watch()
    failing.next = rpcError('RATE_LIMITED', { retryable: true, retryAfterMs: 45_000 })
    await pass(everyMs)
    expect(snapshot()).toMatchObject({ state: 'stale', retryAtMs: Date.now() + 45_000 })
    failing.next = undefined
    calls.length = 0
    await pass(44_900)
    expect(calls).toEqual([])
    await pass(200)
    expect(snapshot().state).toBe('ready')
  })

  test('that would come again is not asked for again, except by hand', async () => {
    const { calls, failing, history, snapshot } = await watch()
    failing.next = rpcError('UNAUTHENTICATED')
    await pass(everyMs)
    expect(snapshot()).toMatchObject({ state: 'stale', error: failing.next })
    expect(snapshot()).not.toHaveProperty('retryAtMs')
    calls.length = 0
    await pass(600_000)
    expect(calls).toEqual([])
    failing.next = undefined
    await history.refresh()
    expect(snapshot().state).toBe('ready')
    await pass(2 * everyMs)
    expect(calls.length).toBeGreaterThan(1)
  })

  test('of the first page that is still being read is progress', async () => {
    const progress = { reachedBlock: 700, percent: 30 }
    let isRead = false
    const chain = createModelChain()
    const { client } = createModelClient(chain, () => {
      if (!isRead) throw rpcError('STILL_READING', { retryable: true, retryAfterMs: 500, data: { progress } })
    })
    const history = createLiveHistory(client, { chainId: 1, address: '0xa' })
    history.subscribe(() => {})
    await pass(20_000)
    expect(history.getSnapshot()).toMatchObject({ state: 'reading', progress })
    expect(history.getSnapshot().records).toBeUndefined()
    isRead = true
    await pass(1_100)
    expect(history.getSnapshot()).toMatchObject({ state: 'ready', records: [], hasOlder: false })
    history.close()
  })
})

describe('a host', () => {
  test('that knows neither parts, nor what is final, nor older pages is read all the same', async () => {
    const chain = createModelChain()
    for (let block = 0; block < 70; block++) chain.mine(1)
    const client = {
      async getTransactionsByAddress({ include }: { include?: unknown }) {
        if (include !== undefined) throw rpcError('INVALID_PARAMS')
        return chain.answer(undefined, undefined)
      },
      async getSyncStatus(): Promise<never> {
        throw rpcError('METHOD_NOT_FOUND')
      }
    }
    const history = createLiveHistory(client, { chainId: 1, address: '0xa', include: ['transfers'] })
    history.subscribe(() => {})
    await pass(0)
    expect(history.getSnapshot()).toMatchObject({ state: 'ready', hasOlder: false, records: chain.history() })
    chain.reorg(2, ['pool'])
    await pass(8_000)
    expect(history.getSnapshot()).toMatchObject({ records: chain.history(), reorgs: 1 })
    history.close()
  })
})

test('closing aborts what is under way and ends everything', async () => {
  let signal: { readonly aborted: boolean } | undefined
  const client = {
    getTransactionsByAddress(call: { signal?: typeof signal }) {
      signal = call.signal
      return new Promise<never>(() => {})
    },
    getSyncStatus: () => new Promise<never>(() => {})
  }
  const history = createLiveHistory(client, { chainId: 1, address: '0xa' })
  const listener = vi.fn()
  history.subscribe(listener)
  await pass(0)
  expect(signal?.aborted).toBe(false)
  const before = history.getSnapshot()
  history.close()
  expect(signal?.aborted).toBe(true)
  history.subscribe(listener)
  await history.refresh()
  await history.loadOlder()
  await pass(60_000)
  expect(listener).not.toHaveBeenCalled()
  expect(history.getSnapshot()).toBe(before)
  expect(vi.getTimerCount()).toBe(0)
})
