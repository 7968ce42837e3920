import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import pg from 'pg'
import { afterEach, describe, expect, it } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { createLogger, silentLogger } from '../../src/platform/logger.ts'
import { createQuota } from '../../src/server/http/quota.ts'
import { createDatabaseBuckets, openQuotaDatabase } from '../../src/server/http/quotaDatabase.ts'
import type { Caller } from '../../src/server/projects/createKeyRing.ts'
import { address, request, type ServiceChanges, startService } from '../http/startService.ts'
import { eventually } from '../support/indexHarness.ts'
import { createTestDatabase } from '../support/startPostgres.ts'

// So slow that nothing comes back while a test runs.
const rule = { requestsPerSecond: 0.01, burst: 5 }
const server: Caller = { projectId: 'demo', kind: 'server' }
const page: Caller = { projectId: 'demo', kind: 'client', origins: ['https://dapp.example'] }

const holdings = { native: '0', tokens: [], nfts: [] }

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

function start(rateLimit: ServiceChanges['rateLimit'] = rule) {
  const service = startService({ rateLimit, handlers: { svc_getTokensAndNFTs: async () => holdings } })
  open.push(service)
  return service
}

const call = request('svc_getTokensAndNFTs', [address])
const batchOf = (entries: number) => `[${Array.from({ length: entries }, () => call).join()}]`

interface Answer {
  readonly error?: { readonly code: number; readonly data: { reason: string; retryAfterMs?: number } }
}

async function answersOf(response: Promise<Response>): Promise<Answer[]> {
  const { status, answers } = await response.then(async it => ({
    status: it.status,
    answers: (await it.json()) as Answer[]
  }))
  expect(status).toBe(200)
  return answers
}

const reasons = (answers: readonly Answer[]) => answers.map(({ error }) => error?.data.reason ?? 'ok')

describe('the quota over HTTP', () => {
  it('answers the first entries of a batch and refuses the others, each with its own wait', async () => {
    const answers = await answersOf(start().post('/evm-chain', batchOf(8)))
    expect(reasons(answers)).toEqual([...Array(5).fill('ok'), ...Array(3).fill('RATE_LIMITED')])
    const waits = answers.slice(5).map(({ error }) => error?.data.retryAfterMs)
    expect(waits).toEqual([expect.any(Number), waits[0]! + 100_000, waits[0]! + 200_000])
  })

  it('refuses every entry of a batch within 200 and a single call with 429 once it is used up', async () => {
    const service = start()
    await service.post('/evm-chain', batchOf(5))
    expect(reasons(await answersOf(service.post('/evm-chain', batchOf(2))))).toEqual([
      'RATE_LIMITED',
      'RATE_LIMITED'
    ])
    const single = await service.post('/evm-chain', call)
    expect(single.status).toBe(429)
    const { error } = (await single.json()) as Answer
    expect(error).toMatchObject({ code: -32005, data: { reason: 'RATE_LIMITED' } })
    const waitMs = error?.data.retryAfterMs ?? 0
    expect(waitMs).toBeGreaterThan(0)
    expect(Number(single.headers.get('retry-after')) * 1_000).toBeGreaterThanOrEqual(waitMs)
  })

  it('counts what is no request like a call', async () => {
    const service = start()
    for (const body of ['', '{', '[]', '7', 'nonsense']) await service.post('/evm-chain', body)
    for (const body of [call, 'nonsense']) expect((await service.post('/evm-chain', body)).status).toBe(429)
  })

  it('counts a long body as more calls, before it is read, and takes none where they do not fit', async () => {
    const service = start({ ...rule, burst: 10 })
    const long = (body: string, pieces: number) => body.padEnd(pieces * 32_768)
    for (const body of [long(call, 11), long('nonsense', 11)]) {
      const refused = await service.post('/evm-chain', body)
      expect([refused.status, ((await refused.json()) as Answer).error?.data.reason]).toEqual([
        429,
        'RATE_LIMITED'
      ])
    }
    expect((await service.post('/evm-chain', long(call, 8))).status).toBe(200)
    expect((await service.post('/evm-chain', call)).status).toBe(200)
    expect((await service.post('/evm-chain', call)).status).toBe(429)
  })

  it('counts the pages of one address with a client key, whoever forwards them', async () => {
    const perAddress = { requestsPerSecond: 0.01, burst: 1 }
    const service = startService({
      rateLimit: { ...rule, burst: 400, perAddress },
      trustedProxies: ['10.0.0.0/8'],
      handlers: { svc_getTokensAndNFTs: async () => holdings }
    })
    open.push(service)
    const statusFrom = async (peer: unknown, forwarded = '') => {
      const headers = {
        authorization: `Basic ${btoa('demo:demo-client-key')}`,
        origin: 'https://dapp.example',
        'content-type': 'application/json',
        'x-forwarded-for': forwarded
      }
      const init = { method: 'POST', body: call, headers }
      const answer = await service.fetch(new Request('http://service/evm-chain', init), { address: peer })
      return answer.status
    }
    expect(await statusFrom('192.0.2.1')).toBe(200)
    expect(await statusFrom('192.0.2.1', '192.0.2.77')).toBe(429)
    expect(await statusFrom('10.0.0.1', '192.0.2.1')).toBe(429)
    expect(await statusFrom('10.0.0.1', '192.0.2.1, 192.0.2.2')).toBe(200)
    expect(await statusFrom('2001:db8::1')).toBe(200)
    expect(await statusFrom('2001:db8::2')).toBe(429)
    // Hosts hand on objects of their own, which tell no address.
    expect(await statusFrom({ address: '192.0.2.1' })).toBe(200)
    expect(await statusFrom(undefined)).toBe(200)
  })
})

/** Buckets that are not to be asked: the database is there. */
const noBuckets = { take: async () => Promise.reject(new Error('counted in the process')) }

// Longer than by default: a busy machine is not a database that is away.
const longestWaitMs = patient(10_000)

describe('the quota in PostgreSQL', () => {
  it('is one for all servers, however their calls meet', async () => {
    const limits = { requestsPerSecond: 0.01, burst: 100, store: await createTestDatabase() }
    const quotas = [createQuota(limits, { longestWaitMs }), createQuota(limits, { longestWaitMs })]
    open.push(...quotas)
    const takes = Array.from({ length: 10 }, (_, index) => quotas[index % 2]!.of(server, undefined)(30))
    const allowed = (await Promise.all(takes)).map(taken => taken.allowed)
    expect(allowed.reduce((sum, calls) => sum + calls, 0)).toBe(100)
  })

  it('is asked for over HTTP too', async () => {
    const service = start({ ...rule, store: await createTestDatabase() })
    expect(
      reasons(await answersOf(service.post('/evm-chain', batchOf(7)))).filter(is => is === 'ok')
    ).toHaveLength(5)
  })

  it('outlives the server, and follows the same rule as in memory', async () => {
    const store = await createTestDatabase()
    const limits = {
      requestsPerSecond: 2,
      burst: 40,
      perAddress: { requestsPerSecond: 0.01, burst: 4 },
      store
    }
    const first = createQuota(limits, { longestWaitMs })
    expect(await first.of(server, undefined)(50)).toMatchObject({ allowed: 40, msPerCall: 500 })
    expect(await first.of(page, '192.0.2.1')(6)).toMatchObject({ scope: 'address', allowed: 4 })
    await first.close()
    const second = createQuota(limits, { longestWaitMs })
    open.push(second)
    const refused = await second.of(server, undefined)(60)
    expect(refused.allowed).toBeLessThan(40)
    expect(await second.of(page, '192.0.2.1')(1)).toMatchObject({ scope: 'address', allowed: 0 })
    // Whoever waits as long as told is let in.
    await new Promise(resolve => setTimeout(resolve, refused.retryAfterMs))
    expect((await second.of(server, undefined)(1)).allowed).toBe(1)
  })

  it('costs one statement for a batch, and gives back what is not used', async () => {
    const database = openQuotaDatabase(await createTestDatabase(), {
      logger: silentLogger,
      longestWaitMs
    })
    open.push(database)
    let statements = 0
    const counted: typeof database = {
      ...database,
      query: query => {
        statements++
        return database.query(query)
      }
    }
    const buckets = createDatabaseBuckets(counted, noBuckets)
    const take = async (calls: number) => (await buckets.take('demo', { ...rule, burst: 100 }, calls)).taken
    expect(await take(70)).toBe(70)
    expect(statements).toBe(1)
    expect(await take(70)).toBe(30)
    await take(-25)
    expect(await take(30)).toBe(25)
    expect(statements).toBe(4)
  })

  it('keeps no row of a bucket that is full again, however many there are, and no other one is lost', async () => {
    const store = await createTestDatabase()
    const database = openQuotaDatabase(store, {
      logger: silentLogger,
      longestWaitMs,
      tidyEveryMs: 20
    })
    open.push(database)
    await createDatabaseBuckets(database, noBuckets).take('used', rule, 1)
    await database.query({
      text: `INSERT INTO ${database.tableName} SELECT 'full ' || n, 0, 1 FROM generate_series(1, 25000) n`
    })
    const left = `SELECT count(*)::int AS count, min(key) AS key FROM ${database.tableName}`
    await eventually('the full ones are gone', async () => {
      const { rows } = await database.query<{ count: number; key: string }>({ text: left })
      return rows[0]?.count === 1 && rows[0].key === 'used'
    })
  })

  it('is counted by a user who may use the table and may not make it', async () => {
    const store = await createTestDatabase()
    const owner = createQuota({ ...rule, store }, { longestWaitMs })
    open.push(owner)
    await owner.of(server, undefined)(4)
    const admin = new pg.Client({ connectionString: store })
    await admin.connect()
    const role = `quota_${randomInt(2 ** 31)}`
    await admin.query(
      `CREATE ROLE ${role} LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON chain_data_quota TO ${role}`
    )
    const url = new URL(store)
    url.username = role
    const quota = createQuota({ ...rule, store: url.href }, { longestWaitMs })
    try {
      expect((await quota.of(server, undefined)(9)).allowed).toBe(1)
    } finally {
      await quota.close()
      await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
      await admin.end()
    }
  })

  it('counts in the process while the database is away or hangs, and says so once', async () => {
    const proxy = await startProxy(await createTestDatabase())
    open.push(proxy)
    const clock = { ms: 0, now: () => clock.ms }
    const lines: { level: number; msg: string }[] = []
    const logger = createLogger({ level: 'info', write: line => lines.push(JSON.parse(line)) })
    const quota = createQuota(
      { ...rule, store: proxy.url },
      // This wait is waited out.
      { now: clock.now, logger, longestWaitMs: patient(3_000) }
    )
    open.push(quota)
    const take = quota.of(server, undefined)
    expect((await take(2)).allowed).toBe(2)

    proxy.state = 'hanging'
    // Its own count knows nothing of the two calls.
    expect((await take(4)).allowed).toBe(4)
    // Nobody waits for it again within a second.
    const { dialled } = proxy
    expect((await take(4)).allowed).toBe(1)
    expect(proxy.dialled).toBe(dialled)
    clock.ms += 1_000
    proxy.state = 'down'
    expect((await take(1)).allowed).toBe(0)

    clock.ms += 1_000
    proxy.state = 'up'
    expect((await take(4)).allowed).toBe(3)
    expect(lines.map(({ msg }) => msg)).toEqual([
      'the database of the quotas is away; this process counts by itself',
      'the database of the quotas answers again'
    ])
    expect(JSON.stringify(lines)).not.toContain('secret')
  })

  it('begins in the process where the database is away at the start, and finds it later', async () => {
    const proxy = await startProxy(await createTestDatabase())
    open.push(proxy)
    proxy.state = 'down'
    const clock = { ms: 0, now: () => clock.ms }
    const quota = createQuota({ ...rule, store: proxy.url }, { now: clock.now, longestWaitMs })
    open.push(quota)
    expect((await quota.of(server, undefined)(9)).allowed).toBe(5)
    proxy.state = 'up'
    clock.ms += 1_000
    expect((await quota.of(server, undefined)(9)).allowed).toBe(5)
    expect((await quota.of(server, undefined)(9)).allowed).toBe(0)
  })
})

/** A TCP way to a database behind a Unix socket, which can break. */
async function startProxy(databaseUrl: string) {
  const { pathname, searchParams } = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let current: 'up' | 'hanging' | 'down' = 'up'
  let dialled = 0
  const listener = createServer({ allowHalfOpen: false }, socket => {
    dialled++
    socket.on('error', () => {})
    if (current === 'down') {
      socket.destroy()
      return
    }
    sockets.add(socket)
    const behind = connect(`${searchParams.get('host')}/.s.PGSQL.5432`)
    behind.on('error', () => socket.destroy()).on('close', () => socket.destroy())
    socket.on('close', () => behind.destroy())
    socket.on('data', data => current === 'up' && behind.write(data))
    behind.on('data', data => current === 'up' && socket.write(data))
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  const cut = () => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  return {
    url: `postgres://postgres:secret@127.0.0.1:${port}${pathname}`,
    /** Connections so far. */
    get dialled() {
      return dialled
    },
    set state(next: typeof current) {
      current = next
      if (next === 'down') cut()
    },
    async close() {
      cut()
      listener.close()
    }
  }
}
