import { setTimeout as sleep } from 'node:timers/promises'
import { createTestDatabase, eventually, temporaryFolder } from '@chain-data/index/test'
import { isConfirmed, type SyncStatus, type TransactionRecord } from '@chain-data/protocol'
import { describe, expect, it, type TestContext } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { createServer, type Server } from '../../src/server/start/createServer.ts'
import { address } from '../blocks/rawBlock.ts'
import { startLargeChain } from './startLargeChain.ts'

const chainId = 31337
const authorization = `Basic ${Buffer.from('demo:demo-server-key').toString('base64')}`
const account = address(7)
const pollMs = 10
/** What is started in a test ends with it, the last first. */
type AtEnd = Pick<TestContext, 'onTestFinished'>

interface Refusal {
  readonly data: { readonly reason: string; readonly indexedTo?: number; readonly head?: number }
}

async function ask<T>(server: Server, method: string, params: readonly unknown[]) {
  const response = await server.fetch(
    new Request('http://service/evm-chain', {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, chainId, params })
    })
  )
  const { result, error } = (await response.json()) as { result?: T; error?: Refusal }
  const to = /;to=(\d+)/.exec(response.headers.get('x-chain-data-coverage') ?? '')?.[1]
  return { result, error, to: to === undefined ? undefined : Number(to) }
}

async function statusOf(server: Server): Promise<SyncStatus> {
  const { result } = await ask<SyncStatus>(server, 'svc_getSyncStatus', [])
  if (result === undefined) throw new Error('a status is always answered')
  return result
}

/** @returns how a history, and the statuses before and after it, contradict each other. */
function contradictions(
  statuses: readonly [SyncStatus, SyncStatus],
  { result, error, to }: Awaited<ReturnType<typeof ask<TransactionRecord[]>>>
): readonly string[] {
  const tops = statuses.map(({ indexedTo = -1 }) => indexedTo)
  const [low, high] = [Math.min(...tops), Math.max(...tops)]
  const heights = (result ?? []).flatMap(record => (isConfirmed(record) ? (record.blockNumber ?? []) : []))
  const stated = error?.data.indexedTo
  const wrong: Readonly<Record<string, boolean>> = {
    'answered, and never ready': result !== undefined && !statuses.some(({ ready }) => ready),
    'refused, and always ready': error !== undefined && statuses.every(({ ready }) => ready),
    'refused, and always well and at the head':
      error !== undefined && statuses.every(({ lagBlocks, degraded }) => lagBlocks === 0 && !degraded),
    'covers other blocks': to !== undefined && (to < low || to > high),
    'shows a block beyond what it covers': Math.max(-1, ...heights) > (to ?? Infinity),
    'says that it stands elsewhere': stated !== undefined && (stated < low || stated > high),
    'ready, and not following': statuses.some(({ ready, phase }) => ready && phase !== 'following')
  }
  return Object.keys(wrong).filter(name => wrong[name])
}

/** Polls statuses and histories in turn until it is stopped; fails with every contradiction. */
function watch(server: Server) {
  const found: unknown[] = []
  const outcomes = new Map<string, number>()
  let isOver = false
  const run = async () => {
    let before = await statusOf(server)
    for (let turn = 0; !isOver; turn++) {
      const history = await ask<TransactionRecord[]>(server, 'svc_getTransactionsByAddress', [
        account,
        ...(turn % 2 === 0 ? [] : [{ limit: 5 }])
      ])
      const after = await statusOf(server)
      const outcome = history.error?.data.reason ?? 'answered'
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      const { error, to } = history
      for (const what of contradictions([before, after], history)) {
        found.push({ what, before, after, outcome, error, to })
      }
      before = after
      await sleep(pollMs)
    }
  }
  const ended = run()
  return async () => {
    isOver = true
    await ended
    expect(found).toEqual([])
    return outcomes
  }
}

async function start(
  { onTestFinished }: AtEnd,
  store: string,
  rpcUrl: string,
  indexing: boolean
): Promise<Server> {
  // The blocks are made up: their hashes are not those of their headers.
  const evm = [{ chainId, rpcUrls: [rpcUrl], pollIntervalMs: 50, finality: 10, verify: 'basic' as const }]
  const projects = [{ projectId: 'demo', serverKey: 'demo-server-key' }]
  const server = await createServer(
    { store, indexing, projects, chains: { evm }, rateLimit: false, overload: false },
    { logger: silentLogger }
  )
  onTestFinished(() => server.close())
  return server
}

// One at a time: each keeps this thread busy, and the first measures how soon it sees a node that hangs.
describe('status and history', () => {
  it('a node that hangs is noticed when calls begin to fail, and the status says so from the first failed poll on', {
    timeout: patient(60_000)
  }, async atEnd => {
    const folder = await temporaryFolder()
    atEnd.onTestFinished(folder.remove)
    const chain = await startLargeChain({ blocks: 20, transactions: 2, account })
    atEnd.onTestFinished(chain.close)
    const server = await start(atEnd, `sqlite:${folder.path}`, chain.url, true)
    await eventually('it is ready', async () => (await statusOf(server)).ready)
    const stop = watch(server)
    chain.hang(true)
    const sinceMs = performance.now()
    const isRefused = async () =>
      (await ask(server, 'svc_getTransactionsByAddress', [account])).error?.data.reason ===
      'UPSTREAM_UNAVAILABLE'
    await eventually('histories are refused', isRefused)
    // A poll waits 10 s for its answer; a call for a block would wait twice as long.
    expect(performance.now() - sinceMs).toBeLessThan(patient(13_000))
    expect(await statusOf(server)).toMatchObject({
      ...{ ready: false, phase: 'stalled', degraded: true, lagBlocks: 0 },
      problem: expect.stringContaining('did not answer in time')
    })
    expect(server.status()).toMatchObject([
      { ready: false, phase: 'stalled', stalledSeconds: expect.any(Number) }
    ])
    chain.hang(false)
    await eventually('it is ready again', async () => (await statusOf(server)).ready)
    expect(server.status()[0]).not.toHaveProperty('stalledSeconds')
    await stop()
  })

  describe('agree', () => {
    it.for([
      ['the server that indexes, over SQLite', 100, 'sqlite'],
      ['a server that only answers, over PostgreSQL', 60, 'postgres']
    ] as const)(
      'status and history of %s never contradict each other: through a backfill, new blocks and a reorg',
      { timeout: patient(120_000) },
      async ([, blocks, engine], atEnd) => {
        const folder = await temporaryFolder()
        atEnd.onTestFinished(folder.remove)
        const chain = await startLargeChain({ blocks, transactions: 1_000, account })
        atEnd.onTestFinished(chain.close)
        const store = engine === 'sqlite' ? `sqlite:${folder.path}` : await createTestDatabase()
        const asked =
          engine === 'sqlite'
            ? await start(atEnd, store, chain.url, true)
            : await start(atEnd, store, chain.url, false)
        const stop = watch(asked)
        if (engine === 'postgres') await start(atEnd, store, chain.url, true)

        const level = (what: string) =>
          eventually(what, async () => (await statusOf(asked)).indexedTo === chain.head(), 90_000)
        await level('the backfill is over')
        for (let block = 0; block < 5; block++) {
          chain.grow()
          await level('a block is there')
        }
        for (const depth of [1, 3]) {
          chain.reorganise(depth)
          await eventually('the reorg is followed', async () => {
            const { result = [] } = await ask<TransactionRecord[]>(asked, 'svc_getTransactionsByAddress', [
              account,
              { limit: 1 }
            ])
            return result[0]?.hash === chain.newestHash()
          })
        }
        const outcomes = await stop()
        expect(outcomes.get('NOT_SYNCED')).toBeGreaterThan(5)
        expect(outcomes.get('answered')).toBeGreaterThan(5)
      }
    )
  })
})
