import { describe, expect, it } from 'vitest'
import type { HostRequest, ProxyOptions } from '../../src/server/proxy/index.ts'
import { statusHandlers } from '../http/startService.ts'
import { startTarget } from './startProxy.ts'
import { call, ownPage, post, useProxies } from './useProxies.ts'

const { proxyTo, proxyToService, atEnd } = useProxies()

describe('the host decides who may call', () => {
  it('by its own request, once the origin is right and before the body is read', async () => {
    const asked: HostRequest[] = []
    const { url, proxy } = await proxyToService(
      { handlers: statusHandlers },
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
      { handlers: statusHandlers },
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

  it.each([204, 205, 304])('with status %i, which has no body, in both forms', async status => {
    const options = { authorize: () => new Response(null, { status }) }
    const { url, proxy } = await proxyToService({ handlers: statusHandlers }, options)
    expect((await post(`${url}/evm-chain`, call)).status).toBe(status)
    const init = { method: 'POST', body: call, headers: ownPage }
    expect((await proxy.fetch(new Request('http://app.example/evm-chain', init))).status).toBe(status)
  })

  it.each([undefined, null, 1, 'yes', {}])('and %j is no permission', async decision => {
    const { url } = await proxyToService({ handlers: statusHandlers }, { authorize: () => decision as never })
    expect((await post(`${url}/evm-chain`, call)).status).toBe(401)
  })

  it('with an answer it got from elsewhere, unpacked by then', async () => {
    const headers = { 'content-encoding': 'gzip', 'content-length': '3', location: '/login' }
    const { url } = await proxyToService(
      { handlers: statusHandlers },
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
      { handlers: statusHandlers },
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
    atEnd(target.close)
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
    const { url } = await proxyToService({ handlers: statusHandlers }, clientKey)
    expect((await post(`${url}/evm-chain`, call, { origin: 'https://dapp.example' })).status).toBe(200)
    expect((await post(`${url}/evm-chain`, call, { origin: 'https://other.example' })).status).toBe(503)
  })

  it('the service counts each visitor by address', async () => {
    const { url } = await proxyToService(
      {
        handlers: statusHandlers,
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
    atEnd(target.close)
    const { url } = await proxyTo(target.url, clientKey)
    for (const origin of ['null', 'https://dapp.example/x', 'nonsense'])
      await post(`${url}/evm-chain`, call, { origin })
    expect(target.received.map(({ headers }) => headers.origin)).toEqual([undefined, undefined, undefined])
  })
})

it('pages of origins that the host names may ask although something changes Host', async () => {
  const { url } = await proxyToService({ handlers: statusHandlers }, { origins: ['https://app.example'] })
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

describe('a host that says its names', () => {
  const hosts = ['App.example', '127.0.0.1:3000', '[::1]', 'app.example:443']
  it.each([
    ['app.example', 200],
    ['app.example:8443', 200],
    ['127.0.0.1:3000', 200],
    ['[::1]:80', 200],
    ['127.0.0.1:3001', 403],
    ['127.0.0.1', 403],
    ['evil.example:3000', 403],
    ['app.example.evil.example', 403],
    ['app.example, evil.example', 403]
  ])('answers a page that reached it as %s with %i', async (host, status) => {
    const { proxy } = await proxyToService({ handlers: statusHandlers }, { hosts })
    // As a page of that name, whoever owns the name.
    const headers = { ...ownPage, host, origin: `http://${host}` }
    const init = { method: 'POST', body: call, headers }
    expect((await proxy.fetch(new Request('http://app.example/evm-chain', init))).status).toBe(status)
  })
})
