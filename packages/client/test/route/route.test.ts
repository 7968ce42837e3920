import type { RequestListener } from 'node:http'
import { gzipSync } from 'node:zlib'
import { ConfigurationError } from '@chain-data/client'
import { createConnection, watchAddresses } from '@chain-data/client/actions'
import { createClient } from '@chain-data/client/fetch'
import { createRoute } from '@chain-data/client/route'
import { afterEach, describe, expect, it } from 'vitest'
import { routeTo, startHost, startTarget } from './startRoute.ts'

const call = '{"jsonrpc":"2.0","id":1,"method":"svc_getSyncStatus","chainId":1,"params":[]}'
const key = Buffer.from('demo:demo-server-key').toString('base64')
const ownPage = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }
const json = { 'content-type': 'application/json' }
const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

const cleanUps: (() => unknown)[] = []
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0).reverse()) cleanUp()
})

async function target(answer?: RequestListener) {
  const started = await startTarget(answer)
  cleanUps.push(started.close)
  return started
}

async function host(baseUrl: string, allow?: readonly string[]) {
  const started = await startHost({ baseUrl, ...(allow && { allow }) })
  cleanUps.push(started.close)
  return started
}

function ask(route: (request: Request) => Promise<Response>, init: object = {}, path = '/evm-chain') {
  return route(
    new Request(`http://app.example${path}`, { method: 'POST', headers: ownPage, body: call, ...init })
  )
}

describe('the client of a page', () => {
  it('asks below the path of the route, one call and several', async () => {
    const service = await target((_request, response) => {
      const { body } = service.received.at(-1) ?? {}
      const answerTo = ({ id }: { id: number }) => ({ jsonrpc: '2.0', id, result: { chainId: 1 } })
      const calls = JSON.parse(`${body}`)
      const answer = Array.isArray(calls) ? calls.map(answerTo) : answerTo(calls)
      response.writeHead(200, json).end(JSON.stringify(answer))
    })
    const { url } = await host(service.url)
    const auth = () => ({ 'Sec-Fetch-Site': 'same-origin' })
    const client = createClient({ baseUrl: `${url}/api/chain-data`, auth, chainId: 1, retries: 0 })
    expect(await client.getSyncStatus({})).toEqual({ chainId: 1 })
    const both = await client.batch([
      { method: 'getSyncStatus' },
      { method: 'getSyncStatus', endpoint: '/solana', chainId: 101 }
    ])
    expect(both).toMatchObject([{ status: 'fulfilled' }, { status: 'fulfilled' }])
    expect(service.received.map(({ url }) => url)).toEqual(['/evm-chain', '/evm-chain', '/solana'])
    await expect(client.discover({})).rejects.toMatchObject({ reason: 'METHOD_NOT_FOUND' })
    expect(service.received).toHaveLength(3)
  })

  it('reads events as they come, and goes on after the last one', async () => {
    let write: (text: string) => void = () => {}
    let isOpen = false
    const streamHeaders = {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no'
    }
    const service = await target((_request, response) => {
      isOpen = true
      response.writeHead(200, streamHeaders).flushHeaders()
      response.once('close', () => {
        isOpen = false
      })
      write = text => response.write(text)
    })
    const { url } = await host(service.url, ['svc_watchAddresses'])
    const connection = createConnection({
      baseUrl: `${url}/api`,
      auth: () => ({ 'Sec-Fetch-Site': 'same-origin', 'Last-Event-ID': 'cursor-0' })
    })
    const events = watchAddresses(connection, { chainId: 1, addresses: [address] })
    for (const name of ['cursor-1', 'cursor-2']) {
      const next = events.next()
      await expect.poll(() => isOpen).toBe(true)
      write(`id: ${name}\ndata: {"kind":"synced","head":{"blockNumber":1,"blockHash":"0x"}}\n\n`)
      expect((await next).value).toMatchObject({ kind: 'synced', cursor: name })
    }
    await events.return()
    await expect.poll(() => isOpen).toBe(false)
    const headers = service.received[0]?.headers
    expect([headers?.accept, headers?.['last-event-id']]).toEqual([
      'text/event-stream, application/json',
      'cursor-0'
    ])
    const body = call.replace('svc_getSyncStatus', 'svc_watchAddresses')
    const answer = await fetch(`${url}/api/evm-chain`, { method: 'POST', headers: ownPage, body })
    expect(Object.fromEntries(answer.headers)).toMatchObject(streamHeaders)
    await answer.body?.cancel()
  })
})

describe('an answer', () => {
  it('is passed back with the headers of the service that are for pages, unpacked', async () => {
    const shown = {
      'retry-after': '3',
      'x-request-id': 'one',
      'x-chain-data-coverage': '1;from=0',
      'x-chain-data-cursor': 'c'
    }
    const hidden = {
      'set-cookie': ['a=b', 'c=d'],
      'x-powered-by': 'x',
      location: '/x',
      'www-authenticate': 'Basic'
    }
    const service = await target((_request, response) => {
      response.writeHead(200, { ...json, ...shown, ...hidden, 'content-encoding': 'gzip' })
      response.end(gzipSync('{"result":1}'))
    })
    const answer = await ask(routeTo({ baseUrl: service.url }))
    expect(await answer.json()).toEqual({ result: 1 })
    expect(Object.fromEntries(answer.headers)).toEqual({
      ...json,
      ...shown,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff'
    })
  })

  it('comes as the page reads it, and ends at the service when the page leaves', async () => {
    let isGone = false
    let written = 0
    const piece = 'x'.repeat(65_536)
    const service = await target((_request, response) => {
      response.writeHead(200, json).once('close', () => {
        isGone = true
      })
      const write = () => {
        do written++
        while (!response.destroyed && response.write(piece))
      }
      response.on('drain', write)
      write()
    })
    const answer = await ask(routeTo({ baseUrl: service.url }))
    const reader = answer.body!.getReader()
    expect((await reader.read()).value?.length).toBeGreaterThan(0)
    // It has no end: what arrives is not collected first.
    await reader.cancel()
    await expect.poll(() => isGone).toBe(true)
    expect(written).toBeGreaterThan(0)
  })

  it('that the page no longer waits for ends at the service', async () => {
    let [isAsked, isGone] = [false, false]
    const service = await target((_request, response) => {
      isAsked = true
      response.once('close', () => {
        isGone = true
      })
    })
    const { url } = await host(service.url)
    const page = new AbortController()
    const { signal } = page
    const answer = fetch(`${url}/api/evm-chain`, { method: 'POST', headers: ownPage, body: call, signal })
    answer.catch(() => {})
    await expect.poll(() => isAsked).toBe(true)
    page.abort()
    await expect.poll(() => isGone).toBe(true)
  })

  it('that the service breaks off is broken off, never ended well', async () => {
    const service = await target((_request, response) => {
      response.writeHead(200, json).write(`[${'1,'.repeat(100_000)}`, () => response.destroy())
    })
    const { url } = await host(service.url)
    const answer = await fetch(`${url}/api/evm-chain`, { method: 'POST', headers: ownPage, body: call })
    await expect(answer.text()).rejects.toThrow()
  })
})

describe('when the service refuses', () => {
  it.each([400, 401, 403, 429, 500, 502, 503])(
    'the page gets its %i, without key, cookie and challenge',
    async status => {
      const service = await target((request, response) => {
        response.writeHead(status, {
          'content-type': 'application/json',
          'www-authenticate': 'Basic realm="x"',
          'set-cookie': 'a=b',
          'retry-after': '7'
        })
        response.end(
          JSON.stringify({ error: 'no', sent: request.headers.authorization, key: 'demo-server-key' })
        )
      })
      const answer = await ask(routeTo({ baseUrl: service.url }))
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([status, '7'])
      expect([answer.headers.get('set-cookie'), answer.headers.get('www-authenticate')]).toEqual([null, null])
      expect(await answer.json()).toEqual({ error: 'no', sent: 'Basic [redacted]', key: '[redacted]' })
    }
  )

  it.each<[string, RequestListener]>([
    ['redirects', (_q, s) => s.writeHead(302, { ...json, location: '/elsewhere' }).end('{}')],
    ['redirects with the body', (_q, s) => s.writeHead(307, { ...json, location: '/elsewhere' }).end('{}')],
    ['answers 304', (_q, s) => s.writeHead(304).end()],
    ['hangs up', q => q.socket.destroy()],
    ['sends no HTTP', q => q.socket.end('hello\r\n\r\n')]
  ])('or %s, the page gets 503 and nothing is sent again', async (_what, listener) => {
    const service = await target(listener)
    const answer = await ask(routeTo({ baseUrl: service.url }))
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    const text = await answer.text()
    expect(JSON.parse(text)).toMatchObject({
      id: null,
      error: { code: -32002, data: { reason: 'OVERLOADED' } }
    })
    expect(text).not.toMatch(/127\.0\.0\.1|demo/)
    expect(service.received).toHaveLength(1)
  })

  it('or nothing listens, the page gets 503', async () => {
    expect((await ask(routeTo({ baseUrl: 'http://127.0.0.1:1' }))).status).toBe(503)
  })

  it('or breaks off its error, the page gets the status', async () => {
    const service = await target((_request, response) => {
      response.writeHead(500, json).write('{', () => response.destroy())
    })
    expect((await ask(routeTo({ baseUrl: service.url }))).status).toBe(500)
  })
})

describe('a request', () => {
  it.each([
    [{ origin: 'http://app.example' }, 200],
    [{ origin: 'https://app.example' }, 200],
    [{ origin: 'https://other.example' }, 403],
    [{ origin: 'https://app.example', host: 'internal:3000' }, 403],
    [{ origin: 'https://app.example', host: 'app.example:443' }, 200],
    [{ origin: 'https://app.example', host: 'app.example, other.example' }, 403]
  ])('without Sec-Fetch-Site and with %j is answered with %i', async (sent, status) => {
    const service = await target()
    const headers = { 'content-type': 'application/json', ...sent }
    expect((await ask(routeTo({ baseUrl: service.url }), { headers })).status).toBe(status)
  })

  it.each([undefined, '2'])(
    'that does not end is refused at its limit, whatever its length is said to be (%s)',
    async length => {
      const service = await target()
      let pulled = 0
      const body = new ReadableStream({
        pull(controller) {
          pulled++
          controller.enqueue(new Uint8Array(65_536).fill(32))
        }
      })
      const headers = { ...ownPage, ...(length && { 'content-length': length }) }
      const answer = await ask(routeTo({ baseUrl: service.url }), { body, duplex: 'half', headers })
      expect([answer.status, pulled]).toEqual([413, expect.toSatisfy(count => count <= 19)])
      expect(service.received).toEqual([])
    }
  )

  it('of half a million levels is refused', async () => {
    const answer = await ask(routeTo({ baseUrl: 'http://127.0.0.1:1' }), {
      body: '['.repeat(500_000) + ']'.repeat(500_000)
    })
    expect(await answer.json()).toMatchObject({ error: { data: { reason: 'INVALID_REQUEST' } } })
  })

  it('refused for its method names the call, and by default 1', async () => {
    const route = routeTo({ baseUrl: 'http://127.0.0.1:1', allow: [] })
    const idOf = async (id: string) => {
      const answer = await ask(route, { body: call.replace('"id":1,', id) })
      return ((await answer.json()) as { id: unknown }).id
    }
    expect(await idOf('"id":"x",')).toBe('x')
    expect(await idOf('')).toBe(1)
    expect(await idOf('"id":{},')).toBeNull()
  })

  it('below any path goes to the endpoint below the base URL, with the chain of its URL', async () => {
    const service = await target()
    await ask(routeTo({ baseUrl: `${service.url}/base/` }), {}, '/any/where/solana/?chainId=101')
    expect(service.received[0]?.url).toBe('/base/solana?chainId=101')
    expect(service.received[0]?.headers.authorization).toBe(`Basic ${key}`)
  })
})

describe('options that cannot work are refused when the route is made', () => {
  const good = {
    baseUrl: 'https://chain-data.example',
    projectId: 'demo',
    serverKey: 'demo-server-key',
    allow: []
  }
  it.each([
    { baseUrl: 'http://chain-data.example' },
    { baseUrl: 'https://user:pass@chain-data.example' },
    { baseUrl: 'https://chain-data.example/evm-chain' },
    { baseUrl: '/chain-data' },
    { projectId: 'de:mo' },
    { serverKey: 'demo-server-key\r\nX-A: b' },
    { serverKey: undefined as never }
  ])('%j', change => {
    expect(() => createRoute({ ...good, ...change })).toThrow(ConfigurationError)
    expect(() => createRoute({ ...good, ...change })).toThrow(/^(?!.*(demo-server-key|pass))/)
  })

  it('plain http beyond loopback is an address when the host says so', () => {
    const baseUrl = 'http://chain-data.internal'
    expect(() => createRoute({ ...good, baseUrl, allowInsecureHttp: true })).not.toThrow()
  })
})
