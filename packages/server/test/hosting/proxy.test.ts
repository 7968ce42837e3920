import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { isBuiltin } from 'node:module'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterEach, describe, expect, it } from 'vitest'
import { ResultStream } from '../../src/methods/ResultStream.ts'
import {
  ConfigError,
  createProxyHandler,
  type HostRequest,
  type ProxyOptions
} from '../../src/proxy/index.ts'
import { address, request, type ServiceChanges, startService } from '../http/startService.ts'
import { listenOn, startProxy, startTarget } from './startProxy.ts'

const covers = { transfers: false, internal: false, pool: false }
const handlers: NonNullable<ServiceChanges['handlers']> = {
  svc_getSyncStatus: async (_params, { chainId = 0 }) => ({ chainId, degraded: false, covers })
}
const call = request('svc_getSyncStatus', [])
const ownPage = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** A proxy before a target that the test started. */
async function proxyTo(target: string, options: Partial<ProxyOptions> = {}) {
  const host = await startProxy({ target, ...options })
  cleanUps.push(host.close)
  return host
}

/** A proxy before the real HTTP layer, around methods that the test brings. */
async function proxyToService(changes: ServiceChanges = { handlers }, options: Partial<ProxyOptions> = {}) {
  const service = startService(changes)
  const listener = await service.listen()
  cleanUps.push(() => listener.close(0))
  return { service, ...(await proxyTo(listener.url, options)) }
}

function post(url: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, { method: 'POST', body, headers: { ...ownPage, ...headers } })
}

/** Opens a request whose answer is read by hand. */
async function open(url: string, body: string): Promise<IncomingMessage> {
  const outgoing = httpRequest(url, { method: 'POST', headers: ownPage, agent: false })
  outgoing.on('error', () => {}).end(body)
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
  return incoming.on('error', () => {})
}

/** Waits until a number has not changed for a while. */
async function settled(read: () => number): Promise<number> {
  for (let last = -1; ; ) {
    const now = read()
    if (now === last) return now
    last = now
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}

describe('a page', () => {
  it('is answered by the service on both endpoints, with the request id of the service', async () => {
    const { url, service } = await proxyToService()
    const response = await post(`${url}/evm-chain`, call)
    expect(await response.json()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { chainId: 1, degraded: false, covers }
    })
    const requestId = response.headers.get('x-request-id')
    expect(service.logLines.filter(line => line.includes(`"${requestId}"`))).not.toEqual([])
    const solana = await post(
      `${url}/solana?chainId=101`,
      request('svc_getSyncStatus', [], { chainId: undefined })
    )
    expect(await solana.json()).toMatchObject({ chainId: 101, result: { chainId: 101 } })
  })

  it('gets the answers to a batch in order, refused methods among them', async () => {
    const { url } = await proxyToService()
    const batch = [
      call,
      request('rpc.discover', [], { id: 'x' }),
      '7',
      request('svc_getSyncStatus', [], { id: 3 })
    ]
    const answers = (await (await post(`${url}/evm-chain`, `[${batch}]`)).json()) as Record<string, unknown>[]
    expect(answers).toMatchObject([
      { id: 1, result: { chainId: 1 } },
      { id: 'x', error: { code: -32601, data: { reason: 'METHOD_NOT_FOUND' } } },
      { id: null, error: { code: -32600 } },
      { id: 3, result: { chainId: 1 } }
    ])
  })

  it('may call what the host names, under the names of the service', async () => {
    const { url } = await proxyToService(
      { methodPrefix: 'acme_', handlers },
      { methods: ['svc_getSyncStatus'], methodPrefix: 'acme_' }
    )
    const outcomeOf = async (method: string) =>
      Object.keys((await (await post(`${url}/evm-chain`, request(method, []))).json()) as object)[2]
    expect(await outcomeOf('acme_getSyncStatus')).toBe('result')
    expect(await outcomeOf('svc_getSyncStatus')).toBe('error')
    expect(await outcomeOf('acme_getTransactionsByAddress')).toBe('error')
  })

  it('is told to wait as the service says', async () => {
    const { url } = await proxyToService({ handlers, rateLimit: { requestsPerSecond: 0.1, burst: 1 } })
    await post(`${url}/evm-chain`, call)
    const response = await post(`${url}/evm-chain`, call)
    expect(response.status).toBe(429)
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(1)
    expect(await response.json()).toMatchObject({ error: { data: { reason: 'RATE_LIMITED' } } })
  })

  it('is told that the service closes', async () => {
    const { url, service } = await proxyToService()
    service.beginClosing()
    const response = await post(`${url}/evm-chain`, call)
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
  })

  it('is answered through the Fetch form alike', async () => {
    const { proxy } = await proxyToService()
    const ask = (path: string, headers: Record<string, string> = {}) =>
      proxy.fetch(
        new Request(`http://app.example${path}`, {
          method: 'POST',
          body: call,
          headers: { ...ownPage, ...headers }
        })
      )
    expect(await (await ask('/evm-chain')).json()).toMatchObject({ result: { chainId: 1 } })
    expect((await ask('/metrics')).status).toBe(404)
    expect((await ask('/evm-chain', { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  })
})

describe('a long answer', () => {
  const pieces = 1_024
  const pieceBytes = 65_536

  /** A history of 64 MB, and how much of it was asked for. */
  function longHistory() {
    const seen = { made: 0, released: 0 }
    const changes: ServiceChanges = {
      handlers: {
        svc_getTransactionsByAddress: async () => {
          async function* chunks() {
            for (; seen.made < pieces; seen.made++) yield ['x'.repeat(pieceBytes - 3)]
          }
          return new ResultStream(chunks(), async () => {
            seen.released++
          }) as never
        }
      }
    }
    return { seen, changes }
  }
  const whole = request('svc_getTransactionsByAddress', [address])

  it('is made only as fast as a slow page reads it, and arrives whole', async () => {
    const { seen, changes } = longHistory()
    const { url, service } = await proxyToService(changes)
    const incoming = await open(`${url}/evm-chain`, whole)
    const ahead = await settled(() => seen.made)
    // What the sockets of four ends hold for themselves, of 64 MB.
    expect(ahead * pieceBytes).toBeLessThan(24_000_000)
    let length = 0
    for await (const chunk of incoming) length += chunk.length
    expect(length).toBeGreaterThan(pieces * pieceBytes - 100)
    expect(incoming.complete).toBe(true)
    await expect.poll(() => [seen.released, service.inFlight()]).toEqual([1, 0])
  })

  it('is held back through the Fetch form alike', async () => {
    const { seen, changes } = longHistory()
    const { proxy, service } = await proxyToService(changes)
    const init = { method: 'POST', body: whole, headers: ownPage }
    const reader = (await proxy.fetch(new Request('http://app.example/evm-chain', init))).body!.getReader()
    await reader.read()
    expect((await settled(() => seen.made)) * pieceBytes).toBeLessThan(16_000_000)
    await reader.cancel()
    await expect.poll(() => [seen.released, service.inFlight()]).toEqual([1, 0])
  })

  it('is let go by the service when the page leaves', async () => {
    const { seen, changes } = longHistory()
    const { url, service } = await proxyToService(changes)
    const incoming = await open(`${url}/evm-chain`, whole)
    await settled(() => seen.made)
    incoming.destroy()
    await expect.poll(() => [seen.released, service.inFlight()]).toEqual([1, 0])
    expect(seen.made).toBeLessThan(pieces)
  })

  it('that the service breaks off is broken off, never ended well', async () => {
    const target = await startTarget((_request, response) => {
      response.setHeader('content-type', 'application/json')
      response.write(`[${'1,'.repeat(100_000)}`, () => setImmediate(() => response.destroy()))
    })
    cleanUps.push(target.close)
    const { url } = await proxyTo(target.url)
    const incoming = await open(`${url}/evm-chain`, call)
    await expect(incoming.toArray()).rejects.toThrow()
    expect(incoming.complete).toBe(false)
  })

  it('in which nothing comes any more is broken off', async () => {
    const target = await startTarget((_request, response) => {
      response.setHeader('content-type', 'application/json').write(`[${'1,'.repeat(100_000)}`)
    })
    cleanUps.push(target.close)
    const { url } = await proxyTo(target.url, { idleTimeoutMs: 50 })
    const incoming = await open(`${url}/evm-chain`, call)
    await expect(incoming.toArray()).rejects.toThrow()
  })

  it('that a page does not read is given up, so that the service is let go', async () => {
    const { seen, changes } = longHistory()
    const { url, service } = await proxyToService(changes, { idleTimeoutMs: 100 })
    await open(`${url}/evm-chain`, whole)
    await expect.poll(() => [seen.released, service.inFlight()], { timeout: 5_000 }).toEqual([1, 0])
  })
})

it('a page that leaves while the service works ends the work', async () => {
  let signal: AbortSignal | undefined
  const { url } = await proxyToService({
    handlers: {
      svc_getSyncStatus: (_params, context) => {
        signal = context.signal
        return new Promise(() => {})
      }
    }
  })
  const outgoing = httpRequest(`${url}/evm-chain`, { method: 'POST', headers: ownPage }).on('error', () => {})
  outgoing.end(call)
  await expect.poll(() => signal).toBeDefined()
  outgoing.destroy()
  await expect.poll(() => signal?.aborted).toBe(true)
})

describe('when the service cannot answer, the page gets 503 and the host is told why', () => {
  const html = '<html>demo-server-key</html>'
  const json = { 'content-type': 'application/json' }
  it.each<[string, RegExp, Parameters<typeof startTarget>[0], Partial<ProxyOptions>?]>([
    [
      'the key is refused',
      /HTTP 401/,
      (_q, s) => s.writeHead(401, { ...json, 'www-authenticate': 'Basic' }).end('{}')
    ],
    [
      'it redirects',
      /HTTP 302/,
      (_q, s) => s.writeHead(302, { ...json, location: 'http://127.0.0.1:1/' }).end('{}')
    ],
    [
      'a gateway answers 502',
      /HTTP 502/,
      (_q, s) => s.writeHead(502, { 'content-type': 'text/html' }).end(html)
    ],
    [
      'a page comes with status 200',
      /HTTP 200/,
      (_q, s) => s.setHeader('content-type', 'text/html').end(html)
    ],
    [
      'an answer is packed',
      /HTTP 200/,
      (_q, s) => s.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end('x')
    ],
    ['it sends no HTTP', /cannot be reached \(HPE/, q => q.socket.end('hello\r\n\r\n')],
    ['it hangs up', /cannot be reached \(ECONNRESET/, q => q.socket.destroy()],
    [
      'it breaks off',
      /broke off its answer \(ECONNRESET/,
      (_q, s) => {
        s.setHeader('content-type', 'application/json').write('{', () => s.destroy())
      }
    ],
    ['it never answers', /ANSWER_TIMEOUT/, () => {}, { answerTimeoutMs: 50 }],
    [
      'it stops in the middle',
      /IDLE_TIMEOUT/,
      (_q, s) => {
        s.setHeader('content-type', 'application/json').write('{')
      },
      { idleTimeoutMs: 50 }
    ]
  ])('%s', async (_what, problem, answer, options) => {
    const target = await startTarget(answer)
    cleanUps.push(target.close)
    const { url, problems } = await proxyTo(target.url, options)
    const response = await post(`${url}/evm-chain`, call)
    const text = await response.text()
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
    expect(JSON.parse(text)).toMatchObject({
      id: null,
      error: { code: -32002, data: { reason: 'OVERLOADED' } }
    })
    expect(response.headers.get('www-authenticate')).toBeNull()
    expect(problems).toEqual([expect.stringMatching(problem)])
    expect(problems + text).not.toMatch(/demo-server-key|127\.0\.0\.1/)
    // The one time that a connection is used again is for those that rested.
    expect(target.received).toHaveLength(1)
  })

  it('nothing listens', async () => {
    const { url, problems } = await proxyTo('http://127.0.0.1:1')
    expect((await post(`${url}/evm-chain`, call)).status).toBe(503)
    expect(problems).toEqual(['the service cannot be reached (ECONNREFUSED)'])
  })

  it('a connection does not come about', async () => {
    const silent = createTcpServer(socket => socket.on('error', () => {}))
    await once(silent.listen(0, '127.0.0.1'), 'listening')
    cleanUps.push(() => silent.close())
    const { port } = silent.address() as { port: number }
    const { url, problems } = await proxyTo(`https://127.0.0.1:${port}`, { connectTimeoutMs: 50 })
    expect((await post(`${url}/evm-chain`, call)).status).toBe(503)
    expect(problems).toEqual(['the service cannot be reached (CONNECT_TIMEOUT)'])
  })
})

it('an answer is given also when the report of a problem fails', async () => {
  const { url } = await proxyTo('http://127.0.0.1:1', {
    onProblem: () => {
      throw new Error('the log is full')
    }
  })
  expect((await post(`${url}/evm-chain`, call)).status).toBe(503)
})

it('a resting connection that the service ends just when it is used is hidden from the page', async () => {
  let onSocket = 0
  const target = await listenOn((incoming, response) => {
    incoming.resume()
    const { socket } = incoming
    if (Reflect.get(socket, 'isUsed')) socket.destroy()
    else response.setHeader('content-type', 'application/json').end('{}')
    Reflect.set(socket, 'isUsed', true)
    onSocket++
  })
  cleanUps.push(target.close)
  const { url, problems } = await proxyTo(target.url)
  expect((await post(`${url}/evm-chain`, call)).status).toBe(200)
  expect((await post(`${url}/evm-chain`, call)).status).toBe(200)
  expect([onSocket, problems]).toEqual([3, []])
})

it('more requests at once than the host allows are refused', async () => {
  let finish: (() => void) | undefined
  const { url } = await proxyToService(
    {
      handlers: {
        svc_getSyncStatus: () =>
          new Promise(resolve => {
            finish = () => resolve({ chainId: 1, degraded: false, covers })
          })
      }
    },
    { requestsInFlight: 1 }
  )
  const first = post(`${url}/evm-chain`, call)
  await expect.poll(() => finish).toBeDefined()
  const second = await post(`${url}/evm-chain`, call)
  expect([second.status, second.headers.get('retry-after')]).toEqual([503, '1'])
  finish?.()
  expect((await first).status).toBe(200)
})

it('slow senders keep nobody else from being answered', async () => {
  const { url } = await proxyToService({ handlers }, { requestsInFlight: 1 })
  const slow = httpRequest(`${url}/evm-chain`, { method: 'POST', headers: ownPage, agent: false })
  slow.on('error', () => {}).write('[')
  cleanUps.push(() => slow.destroy())
  await once(slow, 'socket').then(([socket]) => once(socket, 'connect'))
  expect((await post(`${url}/evm-chain`, call)).status).toBe(200)
})

describe('the host decides who may call', () => {
  it('by its own request, once the origin is right and before the body is read', async () => {
    const asked: HostRequest[] = []
    const { url, proxy } = await proxyToService(
      { handlers },
      {
        authorize: async source => {
          asked.push(source)
          const { headers } = source
          return (headers instanceof Headers ? headers.get('cookie') : headers.cookie) === 'session=good'
        }
      }
    )
    expect((await post(`${url}/evm-chain`, call, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect(asked).toEqual([])
    const refused = await post(`${url}/evm-chain`, 'no JSON', { cookie: 'session=bad' })
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, null])
    expect(await refused.json()).toMatchObject({ id: null, error: { code: 40102 } })
    expect((await post(`${url}/evm-chain`, call, { cookie: 'session=good' })).status).toBe(200)
    const init = { method: 'POST', body: call, headers: { ...ownPage, cookie: 'session=good' } }
    const source = new Request('http://app.example/evm-chain', init)
    expect((await proxy.fetch(source)).status).toBe(200)
    expect(asked[2]).toBe(source)
  })

  it('with an answer of its own', async () => {
    const { url } = await proxyToService(
      { handlers },
      {
        authorize: () =>
          new Response('please pay', {
            status: 402,
            headers: { 'x-plan': 'none', 'content-type': 'text/plain' }
          })
      }
    )
    const response = await post(`${url}/evm-chain`, call)
    expect([response.status, response.headers.get('x-plan'), response.headers.get('content-type')]).toEqual([
      402,
      'none',
      'text/plain'
    ])
    expect(await response.text()).toBe('please pay')
  })

  it.each([undefined, null, 1, 'yes', {}])('and %j is no permission', async decision => {
    const { url } = await proxyToService({ handlers }, { authorize: () => decision as never })
    expect((await post(`${url}/evm-chain`, call)).status).toBe(401)
  })

  it('with an answer it got from elsewhere, unpacked by then', async () => {
    const headers = { 'content-encoding': 'gzip', 'content-length': '3', location: '/login' }
    const { url } = await proxyToService(
      { handlers },
      { authorize: () => new Response('sign in', { status: 403, headers }) }
    )
    const response = await post(`${url}/evm-chain`, call)
    expect([response.status, response.headers.get('location'), await response.text()]).toEqual([
      403,
      '/login',
      'sign in'
    ])
  })

  it('and a failure of that is told as a failure, without its text', async () => {
    const { url, problems } = await proxyToService(
      { handlers },
      {
        authorize: () => {
          throw new TypeError('no session store at db.internal')
        }
      }
    )
    const text = await (await post(`${url}/evm-chain`, call)).text()
    expect(JSON.parse(text)).toMatchObject({ error: { code: -32603, data: { reason: 'INTERNAL' } } })
    expect(text).not.toContain('db.internal')
    expect(problems).toEqual([expect.stringMatching(/^the proxy failed \(TypeError\), request [\w-]{36}$/)])
  })
})

describe('the address that the service is told', () => {
  const addressSent = async (options: Partial<ProxyOptions>, origin?: object) => {
    const target = await startTarget()
    cleanUps.push(target.close)
    const { proxy, url } = await proxyTo(target.url, options)
    if (origin === undefined) await post(`${url}/evm-chain`, call)
    else {
      const init = { method: 'POST', body: call, headers: ownPage }
      await proxy.fetch(new Request('http://app.example/evm-chain', init), origin)
    }
    return target.received[0]?.headers['x-forwarded-for']
  }

  it('is the one that a Fetch host tells', async () => {
    expect(await addressSent({}, { address: '203.0.113.7' })).toBe('203.0.113.7')
    expect(await addressSent({}, {})).toBeUndefined()
  })

  it('is the one that the host finds', async () => {
    expect(await addressSent({ clientAddress: () => '2001:db8::1' })).toBe('2001:db8::1')
    expect(await addressSent({ clientAddress: () => undefined })).toBeUndefined()
  })

  it.each(['not an address', '10.0.0.1\r\nX-A: b', '10.0.0.1, 10.0.0.2', ''])('is not %j', async address => {
    expect(await addressSent({ clientAddress: () => address })).toBeUndefined()
  })
})

describe('with a client key', () => {
  const clientKey = {
    serverKey: undefined,
    clientKey: 'demo-client-key',
    origins: ['https://dapp.example']
  } as object

  it('the service judges by the origin of the page', async () => {
    const { url } = await proxyToService({ handlers }, clientKey)
    expect((await post(`${url}/evm-chain`, call, { origin: 'https://dapp.example' })).status).toBe(200)
    expect((await post(`${url}/evm-chain`, call, { origin: 'https://other.example' })).status).toBe(503)
  })

  it('the service counts each visitor by address', async () => {
    const { url } = await proxyToService(
      {
        handlers,
        trustedProxies: ['loopback'],
        rateLimit: {
          requestsPerSecond: 100,
          burst: 100,
          perAddress: { requestsPerSecond: 0.01, burst: 1 },
          store: 'memory'
        }
      },
      { ...clientKey, clientAddress: source => String(Reflect.get(source.headers, 'x-visitor')) }
    )
    const statusFor = async (visitor: string) =>
      (await post(`${url}/evm-chain`, call, { origin: 'https://dapp.example', 'x-visitor': visitor })).status
    expect(await statusFor('203.0.113.1')).toBe(200)
    expect(await statusFor('203.0.113.1')).toBe(429)
    expect(await statusFor('203.0.113.2')).toBe(200)
  })

  it('what is no origin is not sent on', async () => {
    const target = await startTarget()
    cleanUps.push(target.close)
    const { url } = await proxyTo(target.url, clientKey)
    for (const origin of ['null', 'https://dapp.example/x', 'nonsense'])
      await post(`${url}/evm-chain`, call, { origin })
    expect(target.received.map(({ headers }) => headers.origin)).toEqual([undefined, undefined, undefined])
  })
})

it('pages of origins that the host names may ask although something changes Host', async () => {
  const { url } = await proxyToService({ handlers }, { origins: ['https://app.example'] })
  const ask = (headers: Record<string, string>) =>
    fetch(`${url}/evm-chain`, {
      method: 'POST',
      body: call,
      headers: { 'content-type': 'application/json', ...headers }
    })
  expect((await ask({ origin: 'https://app.example' })).status).toBe(200)
  expect((await ask({ origin: 'https://app.example', 'sec-fetch-site': 'same-site' })).status).toBe(200)
  expect((await ask({ origin: 'https://app.example.evil.example' })).status).toBe(403)
})

describe('options that cannot work are refused when the handler is made', () => {
  const good: ProxyOptions = {
    target: 'https://chain-data.example',
    projectId: 'demo',
    serverKey: 'demo-server-key'
  }
  it.each<[string, object]>([
    ['target', { target: 'http://chain-data.example' }],
    ['target', { target: 'http://127.0.0.1.evil.example' }],
    ['target', { target: 'http://localhost.evil.example' }],
    ['target', { target: 'https://user:pass@chain-data.example' }],
    ['target', { target: 'https://chain-data.example/?key=1' }],
    ['target', { target: 'https://chain-data.example/#x' }],
    ['target', { target: 'https://chain-data.example/evm-chain/' }],
    ['target', { target: 'ftp://chain-data.example' }],
    ['target', { target: '/chain-data' }],
    ['target', { target: undefined }],
    ['projectId', { projectId: 'de:mo' }],
    ['projectId', { projectId: '' }],
    ['serverKey', { serverKey: 'demo-server-key\r\nX-A: b' }],
    ['serverKey', { serverKey: undefined }],
    ['serverKey', { clientKey: 'demo-client-key' }],
    ['clientKey', { serverKey: undefined, clientKey: '' }],
    ['basePath', { basePath: '/api/' }],
    ['methods', { methods: ['eth_call'] }],
    ['methods', { methods: ['constructor'] }],
    ['origins', { origins: ['https://app.example/'] }],
    ['origins', { origins: ['null'] }],
    ['bodyBytes', { bodyBytes: 0 }],
    ['idleTimeoutMs', { idleTimeoutMs: Number.POSITIVE_INFINITY }]
  ])('%s: %j', (option, change) => {
    const make = () => createProxyHandler({ ...good, ...change } as ProxyOptions)
    expect(make).toThrow(ConfigError)
    expect(make).toThrow(option)
    expect(make).toThrow(/^(?!.*(demo-server-key|pass)).*expected/)
  })

  it.each([
    'https://chain-data.example/base/',
    'http://localhost:8080',
    'http://app.localhost',
    'http://127.0.0.1:8080/x',
    'http://[::1]:8080'
  ])('%s is a target', target => {
    expect(() => createProxyHandler({ ...good, target })).not.toThrow()
  })

  it('plain http beyond loopback is one when the host says so', () => {
    expect(() =>
      createProxyHandler({ ...good, target: 'http://chain-data.internal', allowInsecureHttp: true })
    ).not.toThrow()
  })
})

it('brings nothing along but modules of Node and the protocol', async () => {
  const { metafile } = await build({
    entryPoints: [fileURLToPath(new URL('../../src/proxy/index.ts', import.meta.url))],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'silent'
  })
  const outside = Object.values(metafile.inputs).flatMap(({ imports }) =>
    imports.filter(each => each.external)
  )
  const packages = new Set(outside.map(({ path }) => path).filter(path => !isBuiltin(path)))
  expect([...packages]).toEqual(['@chain-data/protocol'])
  expect(outside.map(({ path }) => path)).not.toContain('node:sqlite')
})
