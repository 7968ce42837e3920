import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { address, authorization, request, type ServiceChanges, startService } from '../http/startService.ts'
import { eventually } from '../support/indexHarness.ts'

const holdings = { native: '0', tokens: [], nfts: [] }
const call = request('svc_getTokensAndNFTs', [address])
const guess = `Basic ${btoa('demo:wrong')}`

interface Failure {
  readonly id: unknown
  readonly error: { readonly data: { readonly retryAfterMs: number } }
}

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

function start(changes: ServiceChanges) {
  const service = startService({ handlers: { svc_getTokensAndNFTs: async () => holdings }, ...changes })
  open.push(service)
  return service
}

async function metric(service: ReturnType<typeof start>, line: string): Promise<number> {
  const page = await (await service.fetch(new Request('http://service/metrics'))).text()
  return Number(
    page
      .split('\n')
      .find(text => text.startsWith(`${line} `))
      ?.slice(line.length + 1)
  )
}

describe('wrong credentials over HTTP', () => {
  const login = { attempts: 3, windowMs: 60_000, longestPauseMs: 900_000 }

  function send(service: ReturnType<typeof start>, from: string, credentials?: string) {
    const headers = { 'content-type': 'application/json', ...(credentials && { authorization: credentials }) }
    const init = { method: 'POST', body: call, headers }
    return service.fetch(new Request('http://service/evm-chain', init), { address: from })
  }

  it('are answered with 401 at first, then with 429 and a wait, and only for that address', async () => {
    const service = start({ login })
    for (let attempt = 0; attempt < 3; attempt++) {
      expect((await send(service, '192.0.2.1', guess)).status).toBe(401)
    }
    const throttled = await send(service, '192.0.2.1', guess)
    expect(throttled.status).toBe(429)
    const { id, error } = (await throttled.json()) as Failure
    expect(id).toBeNull()
    expect(error).toMatchObject({ code: -32005, data: { reason: 'RATE_LIMITED' } })
    expect(error.data.retryAfterMs).toBeGreaterThan(59_000)
    expect(Number(throttled.headers.get('retry-after')) * 1_000).toBeGreaterThanOrEqual(
      error.data.retryAfterMs
    )
    expect((await send(service, '192.0.2.1', authorization)).status).toBe(429)
    expect((await send(service, '192.0.2.2', guess)).status).toBe(401)
    expect((await send(service, '192.0.2.2', authorization)).status).toBe(200)
    expect(await metric(service, 'chain_data_throttled_logins_total')).toBe(2)
    expect(service.logLines.join('\n')).not.toContain('192.0.2')
    expect(await (await service.fetch(new Request('http://service/metrics'))).text()).not.toContain('192.0.2')
  })

  it('do not lock out the project that they name, nor who served from that address before', async () => {
    const service = start({ login })
    expect((await send(service, '192.0.2.1', authorization)).status).toBe(200)
    for (let attempt = 0; attempt < 9; attempt++) await send(service, '192.0.2.1', guess)
    expect((await send(service, '192.0.2.1', guess)).status).toBe(429)
    expect((await send(service, '192.0.2.1', authorization)).status).toBe(200)
    expect((await send(service, '192.0.2.9', authorization)).status).toBe(200)
  })

  it('are only counted where there are credentials', async () => {
    const service = start({ login })
    for (let attempt = 0; attempt < 9; attempt++) {
      expect((await send(service, '192.0.2.1')).status).toBe(401)
    }
  })

  it('are counted by the address of a socket', async () => {
    const service = start({ login })
    const { url, close } = await service.listen()
    open.push({ close: () => close(0) })
    const statuses: number[] = []
    for (let attempt = 0; attempt < 4; attempt++) {
      const headers = { authorization: guess, 'x-forwarded-for': `192.0.2.${attempt}` }
      statuses.push((await fetch(`${url}/evm-chain`, { method: 'POST', body: call, headers })).status)
    }
    expect(statuses).toEqual([401, 401, 401, 429])
  })
})

describe('an overloaded server', () => {
  it('refuses calls without reading them, answers its pages, and recovers', async () => {
    const work: (() => void)[] = []
    const service = start({
      overload: { eventLoopDelayMs: 100 },
      handlers: {
        svc_getTokensAndNFTs: async () => {
          await new Promise<void>(resolve => work.push(resolve))
          return holdings
        }
      }
    })
    const admitted = service.post('/evm-chain', call)
    await eventually('the call is under way', () => work.length === 1)
    await blockFor(250)

    const refused = await service.post('/evm-chain', '{')
    expect(refused.status).toBe(503)
    const { id, error } = (await refused.json()) as Failure
    expect(id).toBeNull()
    expect(error).toMatchObject({ code: -32002, data: { reason: 'OVERLOADED' } })
    expect(Number(refused.headers.get('retry-after')) * 1_000).toBeGreaterThanOrEqual(error.data.retryAfterMs)
    expect(refused.headers.get('x-request-id')).toBeTruthy()
    for (const path of ['/health/live', '/health/ready', '/metrics']) {
      expect((await service.fetch(new Request(`http://service${path}`))).status).toBe(200)
    }
    expect(await metric(service, 'chain_data_shed_requests_total{cause="delay"}')).toBe(1)
    expect(await metric(service, 'chain_data_event_loop_delay_seconds')).toBeGreaterThan(0.1)

    for (const resolve of work) resolve()
    expect((await admitted).status).toBe(200)
    await eventually('calls are served again', async () => {
      const answer = service.post('/evm-chain', call)
      for (const resolve of work.splice(0)) resolve()
      setImmediate(() => {
        for (const resolve of work.splice(0)) resolve()
      })
      return (await answer).status === 200
    })
  })

  it('closes connections beyond the most it may have, and takes new ones when some have gone', async () => {
    const service = start({})
    const { url, close } = await service.listen({ maxConnections: 2 })
    open.push({ close: () => close(0) })
    const { port, hostname } = new URL(url)
    const dial = async () => {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {})
      await once(socket, 'connect')
      return socket
    }
    const ask = async (socket: Awaited<ReturnType<typeof dial>>) => {
      socket.write('GET /health/live HTTP/1.1\r\nhost: a\r\n\r\n')
      const [data] = await Promise.race([once(socket, 'data'), once(socket, 'close')])
      return Buffer.isBuffer(data) && data.toString().startsWith('HTTP/1.1 200')
    }
    const [first, second] = [await dial(), await dial()]
    expect([await ask(first), await ask(second)]).toEqual([true, true])
    expect(await ask(await dial())).toBe(false)
    first.destroy()
    await eventually('another one is taken', async () => ask(await dial()))
    second.destroy()
  })
})

/** Two rounds of the event loop that nothing else has a turn in for so long. */
async function blockFor(ms: number): Promise<void> {
  for (let round = 0; round < 2; round++) {
    const end = performance.now() + ms
    while (performance.now() < end);
    if (round === 0) await new Promise(resolve => setTimeout(resolve, 0))
  }
}
