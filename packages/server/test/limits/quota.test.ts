import { afterEach, describe, expect, it } from 'vitest'
import { address, request, type ServiceChanges, startService } from '../http/startService.ts'

// So slow that nothing comes back while a test runs.
const rule = { requestsPerSecond: 0.01, burst: 5 }

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
