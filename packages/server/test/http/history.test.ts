import { buildChain, commitChain, hashOf, people, poolTransaction } from '@chain-data/index/test'
import type { TransactionRecord } from '@chain-data/protocol'
import { checkFailure, checkResult } from '@chain-data/protocol/validators'
import { afterEach, describe, expect, it } from 'vitest'
import { type StartedHistory, startHistory } from './startHistory.ts'
import { request } from './startService.ts'

const alice = people[3]!
const bob = people[7]!
const nobody = `0x${'12'.repeat(20)}`

const opened: StartedHistory[] = []
afterEach(async () => {
  for (const history of opened.splice(0)) await history.dispose()
})

/** Ten blocks with two transactions each between alice and bob, and one of bob alone; three more in the pool. */
async function start(options: Parameters<typeof startHistory>[0] = {}): Promise<StartedHistory> {
  const history = await startHistory(options)
  opened.push(history)
  const plans = Array.from({ length: 10 }, (_, block) => [
    { name: `${block}a`, parties: [alice, bob] },
    { name: `${block}b`, parties: [bob] },
    { name: `${block}c`, parties: [bob, alice] }
  ])
  await commitChain(history.writer, buildChain(plans))
  await history.writer.markBackfilled()
  await history.writer.updatePool({
    present: [
      poolTransaction('queued', [alice, bob], { status: 0, nonce: 9n }),
      poolTransaction('next', [alice, bob], { nonce: 4n }),
      poolTransaction('later', [alice, bob], { nonce: 5n })
    ],
    seenAtSeconds: 1_700_000_500,
    headAfter: 9
  })
  return history
}

async function ask({ service }: StartedHistory, ...params: unknown[]) {
  const response = await service.post('/evm-chain', request('svc_getTransactionsByAddress', params))
  expect(response.status).toBe(200)
  return (await response.json()) as {
    result: TransactionRecord[]
    error: { code: number; data: Record<string, unknown> }
  }
}

async function hashesOf(history: StartedHistory, ...params: unknown[]): Promise<string[]> {
  const answer = await ask(history, ...params)
  expect(answer.error).toBeUndefined()
  expect(checkResult('svc_getTransactionsByAddress', answer.result)).toBeUndefined()
  return answer.result.map(({ hash }) => hash)
}

async function failureOf(history: StartedHistory, ...params: unknown[]) {
  const answer = await ask(history, ...params)
  expect(checkFailure(answer)).toBeUndefined()
  return answer.error
}

const pending = ['later', 'next', 'queued'].map(hashOf)
const confirmed = Array.from({ length: 10 }, (_, i) => [`${9 - i}c`, `${9 - i}a`])
  .flat()
  .map(hashOf)

describe('a history', () => {
  it('is pending first, then newest first, each transaction once', async () => {
    expect(await hashesOf(await start(), alice)).toEqual([...pending, ...confirmed])
  })

  it('is found by an address in any case', async () => {
    const history = await start()
    expect(await hashesOf(history, `0x${bob.slice(2).toUpperCase()}`)).toHaveLength(33)
  })

  it('of an address never seen is empty', async () => {
    expect(await hashesOf(await start(), nobody)).toEqual([])
  })

  it('of a chain without a pool has no pending ones, and is answered', async () => {
    const history = await startHistory()
    opened.push(history)
    await commitChain(history.writer, buildChain([[{ name: 'only', parties: [alice] }]]))
    await history.writer.markBackfilled()
    history.status = { ...history.status, poolCovered: false }
    expect(await hashesOf(history, alice)).toEqual([hashOf('only')])
  })
})

describe('a page', () => {
  it.each([1, 2, 7, 23, 1000])(
    'of %i after another gives the whole history, pending ones on the first',
    async limit => {
      const history = await start()
      const all: string[] = await hashesOf(history, alice, { limit })
      expect(all).toEqual([...pending, ...confirmed].slice(0, limit))
      // A first page without any confirmed record names no cursor yet.
      if (all.length <= pending.length) return
      for (let page = all; page.length > 0; ) {
        page = await hashesOf(history, alice, { limit, before: all.at(-1) })
        all.push(...page)
      }
      expect(all).toEqual([...pending, ...confirmed])
    }
  )

  it('without limit is all that is older', async () => {
    const history = await start()
    const before = confirmed[5]!.replace(/[a-f]/g, digit => digit.toUpperCase())
    expect(await hashesOf(history, alice, { before })).toEqual(confirmed.slice(6))
  })

  it('may begin behind any confirmed transaction of the chain', async () => {
    expect(await hashesOf(await start(), alice, { before: hashOf('5b'), limit: 1 })).toEqual([hashOf('5a')])
  })

  it('behind a hash that is none of a confirmed transaction is -32602', async () => {
    const history = await start()
    for (const before of [hashOf('never mined'), hashOf('next')]) {
      expect(await failureOf(history, alice, { before })).toMatchObject({
        code: -32602,
        data: { path: '/params/1/before' }
      })
    }
  })

  it('behind a transaction that a reorg removed is -32004, with the last common block', async () => {
    const history = await start()
    const common = (await history.writer.blockRef(6))!
    await history.writer.rollbackTo(common)
    await commitChain(
      history.writer,
      buildChain([[{ name: 'other', parties: [alice] }]], { parent: common, fork: 'b' })
    )
    expect(await failureOf(history, alice, { before: hashOf('8a') })).toMatchObject({
      code: -32004,
      data: { reason: 'CURSOR_REORGED', lastCommonBlock: { blockNumber: 6, blockHash: common.hash } }
    })
    expect(await hashesOf(history, alice, { before: hashOf('other'), limit: 1 })).toEqual([hashOf('6c')])
  })
})

describe('a history that is not complete', () => {
  async function startSyncing(options: Parameters<typeof startHistory>[0] = {}) {
    const history = await startHistory(options)
    opened.push(history)
    await commitChain(history.writer, buildChain([[{ name: 'first', parties: [alice] }]], { firstNumber: 3 }))
    history.status = { ...history.status, phase: 'backfilling', backfilled: false, head: 90 }
    return history
  }

  it.each([true, false])(
    'is -32002 NOT_SYNCED with how far it is (serveWhileSyncing: %s)',
    async serveWhileSyncing => {
      expect(await failureOf(await startSyncing({ serveWhileSyncing }), alice)).toMatchObject({
        code: -32002,
        data: { reason: 'NOT_SYNCED', indexedTo: 3, head: 90 }
      })
    }
  )

  it('is answered while older blocks are added, unless the host has them waited for', async () => {
    const phase = { phase: 'following', backfilled: true, head: 3, startBlock: 0 } as const
    const [history, whole] = await Promise.all(
      [true, false].map(async serveWhileSyncing => {
        const started = await startSyncing({ serveWhileSyncing })
        await started.writer.markBackfilled()
        started.status = { ...started.status, ...phase, indexedFrom: 3 }
        return started
      })
    )
    expect(await hashesOf(history!, alice)).toEqual([hashOf('first')])
    expect(await failureOf(whole!, alice)).toMatchObject({ data: { reason: 'NOT_SYNCED' } })
  })

  it('of a chain whose node was never reached is -32002 UPSTREAM_UNAVAILABLE', async () => {
    // Its first block is waited for; a second passes between two looks at the clock.
    let nowMs = 0
    const history = await startSyncing({ clock: { now: () => (nowMs += 1_000) } })
    const { head: _, ...status } = history.status
    history.status = { ...status, phase: 'starting' }
    expect(await failureOf(history, alice)).toMatchObject({
      code: -32002,
      data: { reason: 'UPSTREAM_UNAVAILABLE' }
    })
  })
})

describe('while the node is silent', () => {
  it.each([
    ['the last look at the pool is old', { poolSeenAtMs: Date.now() - 60_000 }],
    ['the pool is not shown any more', { poolSeenAtMs: Date.now() - 60_000, poolCovered: false }],
    ['indexing is stalled', { phase: 'stalled' as const }]
  ])('a first page is -32002, but later pages are answered: %s', async (_what, change) => {
    const history = await start()
    history.status = { ...history.status, ...change }
    expect(await failureOf(history, alice)).toMatchObject({
      code: -32002,
      data: { reason: 'UPSTREAM_UNAVAILABLE' }
    })
    expect(await hashesOf(history, alice, { before: confirmed[0] })).toEqual(confirmed.slice(1))
  })
})

it('a first page is -32002 while the pool has not been read since the start', async () => {
  const history = await start()
  const { poolSeenAtMs: _, ...status } = history.status
  history.status = { ...status, poolCovered: false }
  expect(await failureOf(history, alice)).toMatchObject({
    code: -32002,
    data: { reason: 'UPSTREAM_UNAVAILABLE' }
  })
})

describe('after a start', () => {
  it('a first page waits for the first look at the pool', async () => {
    const history = await start()
    const { status } = history
    history.status = { ...status, phase: 'backfilling' }
    const asked = hashesOf(history, alice)
    await history.writer.updatePool({ present: [], seenAtSeconds: 1_700_000_600, headAfter: 9 })
    history.status = status
    expect(await asked).toEqual(confirmed)
  })

  it('a first page waits although the indexer has not yet told that there is an index', async () => {
    const history = await start()
    const { status } = history
    const { head: _, poolSeenAtMs: __, ...unknown } = status
    history.status = { ...unknown, phase: 'starting', backfilled: false, poolCovered: false }
    const asked = hashesOf(history, alice)
    await history.writer.updatePool({ present: [], seenAtSeconds: 1_700_000_600, headAfter: 9 })
    history.status = status
    expect(await asked).toEqual(confirmed)
  })

  it('a first page is refused when the index does not catch up in some seconds', async () => {
    let nowMs = 0
    const history = await start({ clock: { now: () => (nowMs += 1_000) } })
    history.status = { ...history.status, phase: 'starting' }
    expect(await failureOf(history, alice)).toMatchObject({
      code: -32002,
      data: { reason: 'UPSTREAM_UNAVAILABLE' }
    })
  })
})

describe('a bound on unpaged histories', () => {
  it('allows exactly as many records, pending ones counted', async () => {
    expect(await hashesOf(await start({ maxUnpaged: 23 }), alice)).toHaveLength(23)
  })

  it('refuses one more with -32005, and never cuts', async () => {
    const history = await start({ maxUnpaged: 22 })
    expect(await failureOf(history, alice)).toMatchObject({
      code: -32005,
      data: {
        reason: 'TOO_MANY_RESULTS',
        maxUnpaged: 22,
        extraMessage: expect.stringMatching(/limit and before/)
      }
    })
    expect(await hashesOf(history, alice, { limit: 23 })).toHaveLength(23)
  })

  it('counts only what is older than the cursor', async () => {
    const history = await start({ maxUnpaged: 10 })
    expect(await hashesOf(history, alice, { before: confirmed[9] })).toHaveLength(10)
    expect(await failureOf(history, alice, { before: confirmed[8] })).toMatchObject({ code: -32005 })
  })
})

describe('the store', () => {
  it('is let go after every kind of answer', async () => {
    // With one snapshot at a time, one that is kept would stop the next call.
    const history = await start({ maxSnapshots: 1, maxUnpaged: 22, limits: { requestDeadlineMs: 2_000 } })
    await failureOf(history, alice)
    await failureOf(history, alice, { before: hashOf('never mined') })
    expect(await hashesOf(history, alice, { limit: 1 })).toHaveLength(1)
    expect(await hashesOf(history, nobody)).toEqual([])
    history.status = { ...history.status, phase: 'stalled' }
    await failureOf(history, alice)
    expect(await hashesOf(history, alice, { before: confirmed[0], limit: 2 })).toHaveLength(2)
  })
})
