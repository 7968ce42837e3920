import { once } from 'node:events'
import { connect } from 'node:net'
import { eventually } from '@chain-data/index/test'
import { afterEach, describe, expect, it } from 'vitest'
import { ResultStream } from '../../src/server/methods/MethodContext.ts'
import {
  address,
  authorization,
  request,
  type ServiceChanges,
  projects as startProjects,
  startService
} from '../http/startService.ts'

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
  const login = { attempts: 3, windowMs: 60_000 }

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

describe('requests under way', () => {
  const page = `Basic ${btoa('demo:demo-client-key')}`
  const other = `Basic ${btoa('other:other-key')}`
  const projects = [...startProjects, { projectId: 'other', serverKey: 'other-key' }]
  // Of 40: 30 for server keys of a project, 10 for its client keys, 2 for an address with these.
  const limits = { requestsInFlight: 40 }

  function startBusy() {
    const work: (() => void)[] = []
    const handlers = {
      svc_getTokensAndNFTs: async () => {
        await new Promise<void>(resolve => work.push(resolve))
        return holdings
      }
    }
    const service = start({ projects, limits, handlers })
    const begin = async (credentials: string, from: string) => {
      const headers = {
        authorization: credentials,
        origin: 'https://dapp.example',
        'content-type': 'application/json'
      }
      const init = { method: 'POST', body: call, headers }
      const before = work.length
      const answer = service.fetch(new Request('http://service/evm-chain', init), { address: from })
      await Promise.race([answer, eventually('it is under way', () => work.length > before)])
      return work.length > before ? 'under way' : answer
    }
    const finish = async () => {
      for (const resolve of work.splice(0)) resolve()
      await eventually('all are answered', () => service.inFlight() === 0)
    }
    return { service, begin, finish }
  }

  it('are not all of one visitor, of the pages of a project, or of a project', async () => {
    const { service, begin, finish } = startBusy()
    const beginMany = async (times: number, credentials: string, from: (index: number) => string) => {
      const outcomes: unknown[] = []
      for (let index = 0; index < times; index++) outcomes.push(await begin(credentials, from(index)))
      return outcomes.map(outcome => (outcome instanceof Response ? outcome.status : outcome))
    }
    for (let round = 0; round < 2; round++) {
      const visitor = await beginMany(3, page, () => '192.0.2.1')
      expect(visitor).toEqual(['under way', 'under way', 429])
      const visitors = await beginMany(9, page, index => `198.51.100.${index}`)
      expect(visitors).toEqual([...Array(8).fill('under way'), 429])
      const backend = await beginMany(29, authorization, () => '192.0.2.1')
      expect(backend).toEqual(Array(29).fill('under way'))
      expect(await begin(other, '192.0.2.1')).toBe('under way')
      expect(service.inFlight()).toBe(40)
      await finish()
    }
    const most = await beginMany(31, authorization, () => '192.0.2.1')
    expect(most).toEqual([...Array(30).fill('under way'), 429])
    const refusal = (await begin(authorization, '192.0.2.2')) as Response
    expect([refusal.status, refusal.headers.get('retry-after')]).toEqual([429, '1'])
    expect(await refusal.json()).toMatchObject({ error: { data: { reason: 'RATE_LIMITED' } } })
    await finish()
  })

  it('that are sent slowly leave room for others, and for their caller once it has gone', async () => {
    const service = start({ projects, limits })
    const { url, close } = await service.listen()
    open.push({ close: () => close(0) })
    const { port, hostname } = new URL(url)
    const head = `POST /evm-chain HTTP/1.1\r\nhost: a\r\nauthorization: ${authorization}\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{`
    const dripping = Array.from({ length: 60 }, () => {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {}).on('data', () => {})
      socket.write(head)
      return socket
    })
    await eventually('as many as may are under way', () => service.inFlight() === 30)
    expect((await service.post('/evm-chain', call)).status).toBe(429)
    expect((await service.post('/evm-chain', call, { headers: { authorization: other } })).status).toBe(200)
    for (const socket of dripping) socket.destroy()
    await eventually('none is under way', () => service.inFlight() === 0)
    expect((await service.post('/evm-chain', call)).status).toBe(200)
  })

  it('that are answered slowly leave room for others, and for their caller once they are let go', async () => {
    const endless = async function* () {
      for (;;) yield `"${'x'.repeat(100_000)}"`
    }
    const handlers = {
      svc_getTokensAndNFTs: async () => holdings,
      svc_getTransactionsByAddress: async () => new ResultStream(endless(), async () => {})
    }
    const service = start({ projects, limits, handlers })
    const history = request('svc_getTransactionsByAddress', [address])
    const answers: Response[] = []
    for (let count = 0; count < 31; count++) answers.push(await service.post('/evm-chain', history))
    expect(answers.map(({ status }) => status)).toEqual([...Array(30).fill(200), 429])
    expect((await service.post('/evm-chain', call, { headers: { authorization: other } })).status).toBe(200)
    for (const { body } of answers) await body?.cancel()
    expect(service.inFlight()).toBe(0)
    expect((await service.post('/evm-chain', call)).status).toBe(200)
  })
})

describe('long answers', () => {
  // 64 of them: 48 for server keys of a project, 16 for its client keys, 4 for an address with these.
  function startLong(answersAtOnce?: number) {
    let open = 0
    const endless = async function* () {
      for (;;) yield `"${'x'.repeat(100_000)}"`
    }
    const service = start({
      ...(answersAtOnce === undefined ? {} : { answersAtOnce }),
      projects: [...startProjects, { projectId: 'other', serverKey: 'other-key' }],
      handlers: {
        svc_getTransactionsByAddress: async () => {
          open++
          return new ResultStream(endless(), async () => void open--)
        }
      }
    })
    const history = request('svc_getTransactionsByAddress', [address])
    const begin = async (projectAndKey: string, from?: string) => {
      const headers = {
        authorization: `Basic ${btoa(projectAndKey)}`,
        origin: 'https://dapp.example',
        'content-type': 'application/json'
      }
      const init = { method: 'POST', body: history, headers }
      const { status, body } = await service.fetch(new Request('http://service/evm-chain', init), {
        address: from
      })
      return { status, reader: status === 200 ? body?.getReader() : undefined }
    }
    return { service, begin, open: () => open }
  }

  it('of one caller leave room for those of others, also where nobody reads them', async () => {
    const { service, begin, open } = startLong()
    const readers: ReadableStreamDefaultReader<Uint8Array>[] = []
    const beginMany = async (times: number, ...caller: [string, string?]) => {
      const statuses: number[] = []
      for (let count = 0; count < times; count++) {
        const { status, reader } = await begin(...caller)
        statuses.push(status)
        if (reader) readers.push(reader)
      }
      return statuses
    }
    const refused = (times: number) => Array(times).fill(429)
    const served = (times: number) => Array(times).fill(200)
    expect(await beginMany(60, 'demo:demo-server-key')).toEqual([...served(48), ...refused(12)])
    // Those that were refused hold nothing any more.
    expect([open(), service.inFlight()]).toEqual([48, 48])
    expect(await beginMany(5, 'demo:demo-client-key', '192.0.2.1')).toEqual([...served(4), 429])
    expect(await beginMany(1, 'other:other-key')).toEqual([200])
    await readers.shift()?.cancel()
    expect(await beginMany(2, 'demo:demo-server-key')).toEqual([200, 429])
    for (const reader of readers) await reader.cancel()
    expect([open(), service.inFlight()]).toEqual([0, 0])
  })

  it('of one caller leave room for others also where fewer views of the store may be open', async () => {
    const { begin, open } = startLong(16)
    const begun = await Promise.all(Array.from({ length: 16 }, () => begin('demo:demo-server-key')))
    expect(begun.filter(({ status }) => status === 200)).toHaveLength(12)
    expect(open()).toBe(12)
    for (const { reader } of begun) await reader?.cancel()
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
