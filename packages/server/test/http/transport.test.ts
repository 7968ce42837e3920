import type { SyncStatus } from '@chain-data/index'
import { errors } from '@chain-data/protocol'
import { checkFailure } from '@chain-data/protocol/validators'
import { describe, expect, it } from 'vitest'
import type { StatusReport } from '../../src/features/operatorPages/statusPage/StatusReport.ts'
import { type SolanaState, toChainState } from '../../src/model/sync.ts'
import type { HealthReport } from '../../src/server/http/operatorPages.ts'
import {
  authorization,
  request,
  type ServiceChanges,
  startService,
  statusHandlers,
  statusOf
} from './startService.ts'

const good = request('svc_getSyncStatus', [])
const service = startService({ handlers: statusHandlers })
const clientAuthorization = `Basic ${Buffer.from('demo:demo-client-key').toString('base64')}`

async function expectRefusal(
  response: Response,
  reason: keyof typeof errors
): Promise<Record<string, unknown>> {
  const answer = (await response.json()) as { id: unknown; error: { data: Record<string, unknown> } }
  expect(checkFailure(answer)).toBeUndefined()
  expect(answer).toMatchObject({ id: null, error: { data: { reason } } })
  expect(response.status).toBe(errors[reason].httpStatus)
  expect(response.headers.get('content-type')).toBe('application/json')
  return answer.error.data
}

describe('every answer', () => {
  it.each(['/evm-chain', '/nothing', '/health/live', '/metrics'])(
    'from %s is not stored, not sniffed and has an id',
    async path => {
      const { headers } = await service.fetch(new Request(`http://service${path}`))
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    }
  )
})

describe('a path', () => {
  it.each(['/evm', '/evm-chain/x', '//evm-chain', '/EVM-CHAIN', '/evm-chain//', '/solana%2F', '/__proto__'])(
    'that is no endpoint is 404: %s',
    async path => {
      await expectRefusal(await service.post(path, good), 'NOT_FOUND')
    }
  )
})

describe('a verb', () => {
  it.each(['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'PROPFIND'])(
    'other than POST is 405 with Allow: %s',
    async method => {
      const response = await service.fetch(
        new Request('http://service/evm-chain', { method, headers: { authorization } })
      )
      expect(response.headers.get('allow')).toBe('POST, OPTIONS')
      if (method === 'HEAD') expect(response.status).toBe(405)
      else await expectRefusal(response, 'METHOD_NOT_ALLOWED')
    }
  )

  it('other than GET on a page for operators is 405 with Allow', async () => {
    const response = await service.post('/health/live', '')
    expect(response.headers.get('allow')).toBe('GET, HEAD')
    await expectRefusal(response, 'METHOD_NOT_ALLOWED')
  })
})

describe('credentials', () => {
  it.each([
    ['missing', undefined],
    ['of a wrong key', `Basic ${Buffer.from('demo:wrong').toString('base64')}`],
    ['of an unknown project', `Basic ${Buffer.from('wrong:demo-server-key').toString('base64')}`],
    ['of another scheme', 'Bearer demo-server-key']
  ])('%s are 401 with a challenge', async (_what, sent) => {
    const headers = sent === undefined ? {} : { authorization: sent }
    const response = await service.fetch(
      new Request('http://service/solana', { method: 'POST', body: good, headers })
    )
    expect(response.headers.get('www-authenticate')).toBe('Basic realm="chain-data", charset="UTF-8"')
    await expectRefusal(response, 'UNAUTHENTICATED')
  })

  it('are checked before the body is read', async () => {
    let isRead = false
    const body = new ReadableStream(
      {
        pull(controller) {
          isRead = true
          controller.enqueue(new Uint8Array(1))
        }
      },
      { highWaterMark: 0 }
    )
    const init = {
      method: 'POST',
      body,
      duplex: 'half',
      headers: { 'content-type': 'application/json' }
    } as RequestInit
    expect((await service.fetch(new Request('http://service/evm-chain', init))).status).toBe(401)
    expect(isRead).toBe(false)
  })

  it('of a web page are good from its origins only', async () => {
    const from = (origin?: string) =>
      service.post('/evm-chain', good, {
        headers: { authorization: clientAuthorization, ...(origin === undefined ? {} : { origin }) }
      })
    const response = await from('https://dapp.example')
    expect(response.status).toBe(200)
    expect(response.headers.get('access-control-allow-origin')).toBe('https://dapp.example')
    for (const origin of ['https://other.example', 'https://dapp.example.evil', 'null', undefined]) {
      await expectRefusal(await from(origin), 'FORBIDDEN_ORIGIN')
    }
  })

  it('are in no line of the log, whatever goes wrong', async () => {
    const failing = startService({
      handlers: {
        svc_getSyncStatus: async () => {
          throw new Error(`failed with ${authorization} and https://node/demo-server-key`)
        }
      }
    })
    await failing.post('/evm-chain', good)
    await failing.post('/evm-chain', good, { headers: { authorization: `${authorization}x` } })
    const log = failing.logLines.join('')
    expect(log).toContain('failed with')
    expect(log).not.toMatch(/demo-server-key|ZGVtbzpkZW1v/)
  })
})

describe('a media type', () => {
  it.each([
    ['text/plain'],
    ['application/x-www-form-urlencoded'],
    ['application/jsonp'],
    ['application/json-rpc'],
    ['application/json; charset=utf-16'],
    ['application/json, text/plain'],
    ['text/json'],
    ['']
  ])('other than JSON is 415: %j', async type => {
    await expectRefusal(
      await service.post('/evm-chain', good, { headers: { 'content-type': type } }),
      'UNSUPPORTED_MEDIA_TYPE'
    )
  })

  it.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"'
  ])('of JSON is accepted: %s', async type => {
    expect((await service.post('/evm-chain', good, { headers: { 'content-type': type } })).status).toBe(200)
  })

  it('of a compressed body is 415', async () => {
    await expectRefusal(
      await service.post('/evm-chain', good, { headers: { 'content-encoding': 'gzip' } }),
      'UNSUPPORTED_MEDIA_TYPE'
    )
  })
})

describe('a body', () => {
  const mebibyte = 1_048_576
  const padded = (bytes: number) => good + ' '.repeat(bytes - good.length)

  it('may have exactly the bytes allowed', async () => {
    expect((await service.post('/evm-chain', padded(mebibyte))).status).toBe(200)
  })

  it('with one byte more is 413', async () => {
    await expectRefusal(await service.post('/evm-chain', padded(mebibyte + 1)), 'BODY_TOO_LARGE')
  })

  it('is counted while it is read, and not read further than allowed', async () => {
    let sent = 0
    const chunk = new Uint8Array(65_536)
    const body = new ReadableStream({
      pull(controller) {
        sent += chunk.length
        controller.enqueue(chunk)
      }
    })
    await expectRefusal(
      await service.post('/evm-chain', body, { duplex: 'half' } as RequestInit),
      'BODY_TOO_LARGE'
    )
    expect(sent).toBeLessThan(2 * mebibyte)
  })
})

describe('a server with too much to do', () => {
  it('refuses with 503 and Retry-After, and recovers', async () => {
    let finish = () => {}
    const busy = startService({
      limits: { requestsInFlight: 1 },
      handlers: {
        svc_getSyncStatus: () =>
          new Promise(resolve => {
            finish = () => resolve(statusOf(1))
          })
      }
    })
    const first = busy.post('/evm-chain', good)
    await expect.poll(() => busy.inFlight()).toBe(1)
    const refused = await busy.post('/evm-chain', good)
    expect(refused.headers.get('retry-after')).toMatch(/^[123]$/)
    await expectRefusal(refused, 'OVERLOADED')
    finish()
    expect((await first).status).toBe(200)
    expect(busy.inFlight()).toBe(0)
  })

  it('answers health checks while it refuses calls', async () => {
    const full = startService({ limits: { requestsInFlight: 0 } })
    expect((await full.post('/evm-chain', good)).status).toBe(503)
    expect((await full.fetch(new Request('http://service/health/live'))).status).toBe(200)
  })
})

describe('a quota', () => {
  it('used up is 429, with a wait that is true', async () => {
    const limited = startService({ handlers: statusHandlers, rateLimit: { requestsPerSecond: 10, burst: 2 } })
    expect((await limited.post('/evm-chain', good)).status).toBe(200)
    expect((await limited.post('/evm-chain', '{')).status).toBe(200)
    const refused = await limited.post('/evm-chain', good)
    const retryAfter = Number(refused.headers.get('retry-after'))
    const { retryAfterMs } = await expectRefusal(refused, 'RATE_LIMITED')
    expect(retryAfter).toBe(Math.ceil(Number(retryAfterMs) / 1000))
    await new Promise(resolve => setTimeout(resolve, Number(retryAfterMs)))
    expect((await limited.post('/evm-chain', good)).status).toBe(200)
  })

  it('counts the requests of a batch one by one, and refuses those beyond it inside a 200', async () => {
    const limited = startService({
      handlers: statusHandlers,
      rateLimit: { requestsPerSecond: 0.1, burst: 2 }
    })
    const batch = [1, 2, 3].map(id => request('svc_getSyncStatus', [], { id, chainId: 1 }))
    const response = await limited.post('/evm-chain', `[${batch.join()}]`)
    expect(response.status).toBe(200)
    const answers = (await response.json()) as unknown[]
    expect(answers).toMatchObject([
      { id: 1, result: {} },
      { id: 2, result: {} },
      { id: 3, error: { code: -32005, data: { reason: 'RATE_LIMITED' } } }
    ])
    expect(checkFailure(answers[2])).toBeUndefined()
  })
})

describe('a browser', () => {
  const preflight = (origin?: string) =>
    service.fetch(
      new Request('http://service/evm-chain', {
        method: 'OPTIONS',
        headers: { 'access-control-request-method': 'POST', ...(origin === undefined ? {} : { origin }) }
      })
    )

  it.each(['https://dapp.example', 'https://other.example'])(
    'is told without credentials what a page may send, since only the key tells from where: %s',
    async origin => {
      const { status, headers } = await preflight(origin)
      expect(status).toBe(204)
      expect(Object.fromEntries(headers)).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'Authorization, Content-Type, Last-Event-ID',
        'access-control-max-age': '7200',
        vary: 'Origin'
      })
      expect(headers.has('access-control-allow-credentials')).toBe(false)
    }
  )

  it('is told nothing where it names no origin', async () => {
    const { headers } = await preflight()
    expect([...headers.keys()].filter(name => name.startsWith('access-control'))).toEqual([])
    expect(headers.get('vary')).toBe('Origin')
  })

  it('is told nothing where no key is for pages', async () => {
    const closed = startService({
      handlers: statusHandlers,
      projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }]
    })
    const headers = { origin: 'https://dapp.example' }
    for (const method of ['OPTIONS', 'POST']) {
      const response = await closed.fetch(new Request('http://service/evm-chain', { method, headers }))
      const names = [...response.headers.keys()]
      expect(names.filter(name => name.startsWith('access-control'))).toEqual([])
      expect(response.headers.get('vary') ?? '').not.toContain('Origin')
    }
  })

  it('may not read the pages for operators from elsewhere', async () => {
    for (const path of ['/health/ready', '/metrics', '/nowhere']) {
      const headers = { origin: 'https://dapp.example' }
      const response = await service.fetch(new Request(`http://service${path}`, { headers }))
      expect(response.headers.has('access-control-allow-origin'), path).toBe(false)
    }
  })

  it('may read why its origin is refused', async () => {
    const headers = { authorization: clientAuthorization, origin: 'https://other.example' }
    const response = await service.post('/evm-chain', good, { headers })
    expect(response.headers.get('access-control-allow-origin')).toBe('https://other.example')
    await expectRefusal(response, 'FORBIDDEN_ORIGIN')
  })

  it('may read refusals too', async () => {
    const response = await service.post('/evm-chain', good, {
      headers: { origin: 'https://dapp.example', authorization: '' }
    })
    expect(response.status).toBe(401)
    expect(response.headers.get('access-control-allow-origin')).toBe('https://dapp.example')
    expect(response.headers.get('access-control-expose-headers')).toContain('Retry-After')
  })
})

describe('the pages for operators', () => {
  const chain: SyncStatus = {
    chainId: 1,
    phase: 'backfilling',
    head: 10,
    indexedFrom: 0,
    indexedTo: { number: 7, hash: '0x00' },
    backfilled: false,
    degraded: false,
    poolCovered: true
  }
  const jsonOf = async <T>(response: Response | Promise<Response>): Promise<T> => (await response).json() as T
  const statesOf = (statuses: readonly SyncStatus[]) => () =>
    statuses.map(status => toChainState(status, { nowMs: Date.now(), serveWhileSyncing: false }))
  const page = (statuses: readonly SyncStatus[], path: string, changes: ServiceChanges = {}) => {
    const started = startService({ handlers: statusHandlers, chainStates: statesOf(statuses), ...changes })
    return started.fetch(new Request(`http://service${path}`))
  }

  it('say that the process lives', async () => {
    const response = await page([chain], '/health/live')
    expect([response.status, await response.json()]).toEqual([200, { live: true }])
  })

  it('say not ready, and how far each chain is, until every first backfill is complete', async () => {
    const done: SyncStatus = {
      ...{ ...chain, chainId: 2, phase: 'following', backfilled: true, poolSeenAtMs: Date.now() },
      headTimestampSeconds: Math.floor(Date.now() / 1_000) - 90
    }
    const response = await page([chain, done], '/health/ready')
    const known = { head: 10, indexedFrom: 0, indexedTo: 7, lagBlocks: 3 }
    const place = { ...known, degraded: false, poolCovered: true }
    expect(response.status).toBe(503)
    expect(await response.json()).toEqual({
      ready: false,
      notReady: [{ chainId: 1, reason: 'its first backfill is not complete' }],
      chains: [
        { chainId: 1, phase: 'backfilling', ready: false, backfilled: false, ...place },
        {
          ...{ chainId: 2, phase: 'following', ready: true, backfilled: true, ...place },
          ...{ headAgeSeconds: expect.toSatisfy(age => age >= 90 && age < 100), poolAgeSeconds: 0 }
        }
      ]
    })
    expect((await page([done], '/health/ready')).status).toBe(200)
  })

  it('leave a server ready whose chain has stalled, unless the host says after how long not', async () => {
    const sound: SyncStatus = {
      ...{ ...chain, chainId: 1, phase: 'following', backfilled: true },
      poolSeenAtMs: Date.now()
    }
    const stalled: SyncStatus = {
      ...{ ...sound, chainId: 2, phase: 'stalled', problem: 'no node answers' },
      stalledSinceMs: Date.now() - 60_500
    }
    const cluster: SolanaState = {
      ...{ chainId: 103, phase: 'stalled', ready: false, degraded: true, stalledSeconds: 61 }
    }
    const readyAfter = async (notReadyAfterStalledSeconds: number | null) => {
      const health = { notReadyAfterStalledSeconds }
      const changes = { health, solanaStates: () => [cluster] }
      const response = await page([sound, stalled], '/health/ready', changes)
      const { ready } = (await jsonOf<StatusReport>(page([sound, stalled], '/status.json', changes))).server
      const body = await jsonOf<HealthReport>(response)
      expect([body.ready, ready]).toEqual([response.status === 200, response.status === 200])
      return body
    }
    const states = [
      { chainId: 1, ready: true },
      { chainId: 2, ready: false, stalledSeconds: 60, problem: 'no node answers' }
    ]
    expect(await readyAfter(null)).toMatchObject({ ready: true, chains: states })
    expect(await readyAfter(62)).toMatchObject({ ready: true })
    expect(await readyAfter(60)).toMatchObject({
      ready: false,
      notReady: [
        { chainId: 2, reason: 'stalled for 60 s: no node answers' },
        { chainId: 103, reason: 'stalled for 61 s' }
      ],
      chains: states
    })
  })

  it('name a node that went back, and histories that are refused because the pool is not seen', async () => {
    const back: SyncStatus = {
      ...{ ...chain, head: 5, phase: 'following', backfilled: true },
      poolSeenAtMs: Date.now() - 21_000
    }
    const { chains } = await jsonOf<HealthReport>(page([back], '/health/ready'))
    expect(chains).toMatchObject([
      {
        ...{ ready: false, degraded: true, lagBlocks: 0, headBelowIndexBlocks: 2 },
        ...{ stalledSeconds: 6, problem: expect.stringContaining('pool') }
      }
    ])
    const { evm } = await jsonOf<StatusReport>(page([back], '/status.json'))
    expect(evm).toMatchObject([{ headBelowIndexBlocks: 2 }])
    const metrics = await (await page([back], '/metrics')).text()
    for (const line of ['ready{chain_id="1"} 0', 'head_below_index_blocks{chain_id="1"} 2']) {
      expect(metrics).toContain(`chain_data_sync_${line}\n`)
    }
  })

  it('show what was counted, by method and outcome', async () => {
    const counted = startService({
      handlers: statusHandlers,
      chainStates: statesOf([chain]),
      solanaStates: () => [
        { chainId: 103, phase: 'following', ready: true, degraded: false, head: 77, headAgeSeconds: 3 }
      ]
    })
    await counted.post('/evm-chain', good)
    await counted.post('/evm-chain', request('svc_nope', []))
    await counted.post('/evm-chain', request('svc_getSyncStatus', [], { chainId: 9 }))
    await counted.post('/nowhere', good)
    const response = await counted.fetch(new Request('http://service/metrics'))
    const text = await response.text()
    expect(response.headers.get('content-type')).toContain('text/plain')
    for (const line of [
      'chain_data_calls_total{method="svc_getSyncStatus",outcome="ok"} 1',
      'chain_data_calls_total{method="unknown",outcome="METHOD_NOT_FOUND"} 1',
      'chain_data_calls_total{method="svc_getSyncStatus",outcome="UNSUPPORTED_CHAIN"} 1',
      'chain_data_call_duration_seconds_count{method="svc_getSyncStatus"} 2',
      'chain_data_http_refusals_total{reason="NOT_FOUND"} 1',
      'chain_data_requests_in_flight 0',
      'chain_data_sync_head_block{chain_id="1"} 10',
      'chain_data_sync_indexed_block{chain_id="1"} 7',
      'chain_data_sync_lag_blocks{chain_id="1"} 3',
      'chain_data_sync_ready{chain_id="1"} 0',
      'chain_data_sync_ready{chain_id="103"} 1',
      'chain_data_sync_head_block{chain_id="103"} 77',
      'chain_data_sync_head_age_seconds{chain_id="103"} 3',
      'chain_data_sync_stalled{chain_id="103"} 0'
    ]) {
      expect(text).toContain(`${line}\n`)
    }
  })

  it('are kept apart between two servers of one process', async () => {
    const [one, other] = [
      startService({ handlers: statusHandlers }),
      startService({ handlers: statusHandlers })
    ]
    await one.post('/evm-chain', good)
    const text = await (await other.fetch(new Request('http://service/metrics'))).text()
    expect(text).not.toContain('outcome="ok"')
  })
})
