import type { SyncStatus } from '@chain-data/index'
import { describe, expect, test } from 'vitest'
import {
  createStatusRecorder,
  type StatusSources
} from '../../src/features/operatorPages/statusPage/createStatusRecorder.ts'
import type { StatusReport } from '../../src/features/operatorPages/statusPage/StatusReport.ts'
import { toChainState } from '../../src/model/sync.ts'
import type { IndexFigures, UpstreamFigures } from '../../src/platform/figures.ts'
import { createCounts } from '../../src/server/metrics/counts.ts'
import { authorization, request, startService } from '../http/startService.ts'

const hash = `0x${'ab'.repeat(32)}` as const

function statusAt(indexedTo: number, change: Partial<SyncStatus> = {}): SyncStatus {
  return {
    ...{ chainId: 1, phase: 'following', head: 1_000, indexedFrom: 0, backfilled: true },
    ...{ degraded: false, poolCovered: true },
    indexedTo: { number: indexedTo, hash },
    ...change
  }
}

const stateOf = (status: SyncStatus, nowMs: number) =>
  toChainState(status, { nowMs, serveWhileSyncing: false })

/** A recorder over a clock and a chain that the test moves. */
function startRecorder(changes: Partial<StatusSources> = {}, everyMs?: number) {
  const counts = createCounts()
  let nowMs = 1_800_000_000_000
  let steadyMs = 5_000
  let status = statusAt(0)
  const recorder = createStatusRecorder(
    {
      version: '9.9.9',
      counts,
      chainStates: () => [stateOf(status, nowMs)],
      notReadyAfterStalledSeconds: null,
      solanaStates: () => [],
      nodeFigures: () => [],
      chainLabel: chainId => `Chain ${chainId}`,
      inFlight: () => 0,
      isClosing: () => false,
      now: () => nowMs,
      steadyNow: () => steadyMs,
      ...changes
    },
    everyMs
  )
  return {
    ...recorder,
    ...counts,
    nowMs: () => nowMs,
    setClock(ms: number) {
      nowMs += ms
    },
    /** So much later, the chain stands like this. */
    later(ms: number, next: SyncStatus = status) {
      nowMs += ms
      steadyMs += ms
      status = next
    },
    chain: () => recorder.report().evm[0]
  }
}

describe('a chain', () => {
  test('that is indexed shows its speed, share and time left', () => {
    const recorder = startRecorder()
    recorder.later(0, statusAt(99, { phase: 'backfilling', backfilled: false, head: 999 }))
    recorder.sample()
    recorder.later(10_000, statusAt(199, { phase: 'backfilling', backfilled: false, head: 999 }))
    expect(recorder.chain()).toMatchObject({
      backfilled: false,
      percent: 20,
      blocksPerSecond: 10,
      etaSeconds: 80
    })
    recorder.sample()
    const [series] = recorder.report().charts.evm
    const second = recorder.nowMs() / 1_000
    expect(series?.blocksPerSecond).toEqual([[second, 10]])
    expect(series?.lagBlocks).toEqual([
      [second - 10, 900],
      [second, 800]
    ])
  })

  test('that had nothing indexed when it was first looked at has a speed since it had', () => {
    const recorder = startRecorder()
    const { indexedTo: _, ...nothing } = statusAt(0)
    recorder.later(0, nothing)
    recorder.sample()
    recorder.later(10_000, statusAt(100))
    recorder.sample()
    expect(recorder.chain()).not.toHaveProperty('blocksPerSecond')
    recorder.later(10_000, statusAt(150))
    expect(recorder.chain()).toMatchObject({ blocksPerSecond: 5 })
  })

  test('that is never level with its node has no lag in seconds; one that was has it since then', () => {
    const recorder = startRecorder()
    recorder.later(0, statusAt(990))
    recorder.sample()
    expect(recorder.chain()).not.toHaveProperty('lagSeconds')
    recorder.later(10_000, statusAt(1_000))
    recorder.sample()
    expect(recorder.chain()).toMatchObject({ lagBlocks: 0, lagSeconds: 0 })
    recorder.later(10_000, statusAt(1_000, { head: 1_003 }))
    recorder.sample()
    recorder.later(25_000)
    expect(recorder.chain()).toMatchObject({ lagBlocks: 3, lagSeconds: 25 })
  })

  test('that goes back has no speed until it is known again', () => {
    const recorder = startRecorder()
    recorder.later(0, statusAt(900))
    recorder.sample()
    recorder.later(10_000, statusAt(890))
    expect(recorder.chain()).not.toHaveProperty('blocksPerSecond')
  })

  test('that stalls says since when, and its lag is unknown meanwhile', () => {
    const recorder = startRecorder()
    recorder.later(0, statusAt(1_000))
    recorder.sample()
    recorder.later(10_000)
    recorder.later(0, {
      ...statusAt(1_000, { phase: 'stalled', problem: 'no node answers' }),
      stalledSinceMs: recorder.nowMs()
    })
    recorder.sample()
    const sinceSeconds = recorder.nowMs() / 1_000
    recorder.later(30_000)
    recorder.sample()
    expect(recorder.chain()).toMatchObject({ degraded: true, stalledSinceSeconds: sinceSeconds })
    expect(recorder.report().charts.evm[0]?.lagBlocks).toEqual([[sinceSeconds - 10, 0]])
    recorder.later(10_000, statusAt(1_000))
    expect(recorder.chain()).not.toHaveProperty('stalledSinceSeconds')
  })

  test('shows what its indexer counted: transactions, the pool, the last reorg', () => {
    let index = { transactions: 1_000, reorgDepths: { counts: [], sum: 0 } }
    const nodeFigures = () => [{ upstreams: [], webSockets: [], index: index as unknown as IndexFigures }]
    const recorder = startRecorder({ nodeFigures })
    recorder.sample()
    expect(recorder.chain()).not.toHaveProperty('lastReorg')
    index = { transactions: 1_200, reorgDepths: { counts: [], sum: 3 } }
    recorder.later(10_000)
    recorder.sample()
    const lastReorg = { atSeconds: recorder.nowMs() / 1_000, blocks: 3 }
    expect(recorder.chain()).toMatchObject({ transactionsPerSecond: 20, lastReorg })
    // Its thread was started again.
    index = { transactions: 5, reorgDepths: { counts: [], sum: 0 } }
    recorder.later(10_000)
    recorder.sample()
    expect(recorder.chain()).toMatchObject({ lastReorg })
    expect(recorder.chain()).not.toHaveProperty('transactionsPerSecond')
  })

  test('counts each node once, and in service only while everybody who asks it says so', () => {
    const node = (position: number, role: string, outOfService: boolean) =>
      ({ position, role, outOfService }) as UpstreamFigures
    const upstreams = [
      ...[node(1, 'indexer', false), node(2, 'indexer', true)],
      ...[node(1, 'query', false), node(2, 'query', false)]
    ]
    const recorder = startRecorder({ nodeFigures: () => [{ upstreams, webSockets: [] }] })
    expect(recorder.chain()).toMatchObject({ nodes: { total: 2, inService: 1 } })
    expect(recorder.chain()).not.toHaveProperty('webSockets')
  })
})

describe('calls', () => {
  test('have percentiles that are never below the truth, nor more than a fifth above it', () => {
    const recorder = startRecorder()
    for (let ms = 1; ms <= 1_000; ms++) {
      recorder.countCall({ method: 'm', outcome: ms % 100 === 0 ? 'INTERNAL' : 'ok', durationMs: ms })
    }
    const [calls] = recorder.report().server.calls
    expect(calls).toMatchObject({ method: 'm', count: 1_000, failed: 10 })
    for (const [shown = 0, truth = 0] of [
      [calls?.p50Ms, 500],
      [calls?.p95Ms, 950],
      [calls?.p99Ms, 990]
    ]) {
      expect(shown).toBeGreaterThanOrEqual(truth * 0.95)
      expect(shown).toBeLessThanOrEqual(truth * 1.25)
    }
  })

  test('are forgotten after five minutes', () => {
    const recorder = startRecorder({}, 150_000)
    recorder.countCall({ method: 'm', outcome: 'ok', durationMs: 5 })
    const next = () => {
      recorder.later(150_000)
      recorder.sample()
      return recorder.report()
    }
    const [p95] = next().charts.p95Ms
    expect(p95?.[1]).toBeGreaterThanOrEqual(5)
    const second = next()
    expect(second.charts.p95Ms).toHaveLength(1)
    expect(second.server.calls).toHaveLength(1)
    expect(next().server.calls).toEqual([])
    expect(recorder.calls.get('m')?.outcomes.get('ok')).toBe(1)
  })

  test('per second are those of the last minute', () => {
    const recorder = startRecorder()
    for (let second = 0; second < 120; second += 10) {
      for (let n = 0; n < 50; n++) recorder.countCall({ method: 'm', outcome: 'ok', durationMs: 1 })
      recorder.later(10_000)
      recorder.sample()
    }
    expect(recorder.report().server.callsPerSecond).toBe(5)
    recorder.later(60_000)
    expect(recorder.report().server.callsPerSecond).toBe(0)
  })
})

test('a clock that is set back hides nothing: what is remembered moves along', () => {
  const recorder = startRecorder()
  for (const block of [100, 200, 300]) {
    recorder.later(10_000, statusAt(block, { phase: 'backfilling' }))
    recorder.countCall({ method: 'a', outcome: 'ok', durationMs: 1 })
    recorder.sample()
  }
  const before = recorder.report()
  recorder.setClock(-3_600_000)
  const after = recorder.report()
  expect(after.server.nowSeconds).toBe(before.server.nowSeconds - 3_600)
  expect(after.server.uptimeSeconds).toBe(30)
  expect(after.server.callsPerSecond).toBe(before.server.callsPerSecond)
  expect(after.evm[0]?.blocksPerSecond).toBe(10)
  expect(after.charts.evm[0]?.lagBlocks.map(([at]) => after.server.nowSeconds - at)).toEqual([20, 10, 0])
  expect(after.charts.p95Ms).toHaveLength(3)
  // Set right by small steps, it stays as it is.
  recorder.setClock(-200)
  expect(recorder.report().charts).toEqual(after.charts)
})

test('ten thousand samples take no more memory than half an hour of them', () => {
  const recorder = startRecorder()
  const sizes: number[] = []
  for (let taken = 1; taken <= 10_000; taken++) {
    recorder.later(10_000, statusAt(taken % 900, { head: 1_000 + taken }))
    for (const method of ['a', 'b', 'c'])
      recorder.countCall({ method, outcome: 'ok', durationMs: taken % 1_000 })
    recorder.countRefusal('NOT_FOUND')
    recorder.sample()
    if (taken === 200 || taken === 10_000) sizes.push(JSON.stringify(recorder.report()).length)
  }
  const { charts } = recorder.report()
  for (const points of [charts.callsPerSecond, charts.p95Ms, charts.evm[0]?.lagBlocks])
    expect(points).toHaveLength(180)
  expect(charts.evm[0]?.blocksPerSecond.length).toBeLessThanOrEqual(180)
  expect(sizes[1]).toBeLessThan((sizes[0] ?? 0) * 1.1)
})

describe('over HTTP', () => {
  const handlers = { svc_getSyncStatus: async () => ({}) as never }
  const get = (service: ReturnType<typeof startService>, path: string, method = 'GET') =>
    service.fetch(new Request(`http://service${path}`, { method }))

  test('the report tells calls, refusals and chains, and neither who called nor a key', async () => {
    const service = startService({
      handlers,
      chainStates: () => [stateOf(statusAt(998), Date.now())],
      statusTimes: { freshMs: 0 }
    })
    await service.post('/evm-chain', request('svc_getSyncStatus', []))
    await service.post('/evm-chain', request('svc_getSyncStatus', []), {
      headers: { authorization: 'Basic eDp5' }
    })
    const response = await get(service, '/status.json')
    const text = await response.text()
    const report = JSON.parse(text) as StatusReport
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(report).toMatchObject({
      formatVersion: 1,
      server: {
        ready: true,
        inFlight: 0,
        calls: [{ method: 'svc_getSyncStatus', count: 1, failed: 0 }],
        refusals: { UNAUTHENTICATED: 1 }
      },
      evm: [{ chainId: 1, phase: 'following', lagBlocks: 2, percent: 99.8 }],
      solana: []
    })
    expect(text).not.toContain('null')
    for (const secret of ['demo', authorization, 'http']) expect(text).not.toContain(secret)
  })

  test('a closing server says so', async () => {
    const service = startService({ statusTimes: { freshMs: 0 } })
    service.beginClosing()
    expect(await (await get(service, '/status.json')).json()).toMatchObject({
      server: { closing: true, ready: false }
    })
    expect(await (await get(service, '/')).text()).toContain('The server is shutting down')
  })

  test('the page answers GET and HEAD, below a base path too', async () => {
    const service = startService({ basePath: '/api/chain' })
    const page = await get(service, '/api/chain/')
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(page.headers.get('x-content-type-options')).toBe('nosniff')
    expect(await page.text()).toContain('<h1>')
    const head = await get(service, '/api/chain/', 'HEAD')
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect((await get(service, '/api/chain/', 'POST')).status).toBe(405)
  })

  test('pages that are turned off are not found, while the health pages answer', async () => {
    const service = startService({ pages: { status: false, metrics: false } })
    const statuses = await Promise.all(
      ['/', '/status.json', '/metrics', '/health/live', '/health/ready'].map(
        async path => (await get(service, path)).status
      )
    )
    expect(statuses).toEqual([404, 404, 404, 200, 200])
  })

  test('asking often costs one report a second', async () => {
    let asked = 0
    const service = startService({
      solanaStates: () => {
        asked++
        return []
      }
    })
    for (let n = 0; n < 20; n++) {
      await get(service, '/')
      await get(service, '/status.json')
    }
    expect(asked).toBe(1)
  })
})
