import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Devnet, startDevnet } from '../../src/index.ts'
import { type ExpectedRefusal, evmChainId, expectRefusal, post } from './support/callService.ts'
import { refuses, request, rows, someAddress } from './support/refusals.ts'
import { type Road, startRoad } from './support/startRoad.ts'

let devnet: Devnet
let road: Road

beforeAll(async () => {
  devnet = await startDevnet({ seed: 44, solana: false, pool: false })
  road = await startRoad(devnet)
})

afterAll(async () => {
  await road?.close()
  await devnet?.stop()
})

describe('bodies', () => {
  const parse = { reason: 'PARSE_ERROR', id: null } as const
  const invalid = (data?: Record<string, unknown>, id: number | null = null): ExpectedRefusal => ({
    ...{ reason: 'INVALID_REQUEST', id, ...(data === undefined ? {} : { data }) }
  })
  const deep = (depth: number) => {
    const nested = '['.repeat(depth - 1) + ']'.repeat(depth - 1)
    return request().replace(`["${someAddress}"]`, nested)
  }
  test.each(
    rows([
      ...['', ' ', '{', 'nul', '{"a":1,}', `${request()}${request()}`, "{'a':1}", 'id=1'].map(body => ({
        shows: `the text ${JSON.stringify(body.slice(0, 30))}`,
        body,
        expected: parse
      })),
      {
        shows: 'bytes that are no UTF-8',
        body: new Uint8Array([...new TextEncoder().encode(request().slice(0, -2)), 0xff, 0x7d]),
        expected: parse
      },
      ...['1', '"text"', 'null', 'true'].map(body => ({
        shows: `the value ${body}`,
        body,
        expected: invalid({ path: '' })
      })),
      { shows: 'an empty batch', body: '[]', expected: invalid() },
      {
        shows: 'a batch of 101',
        body: `[${Array(101).fill(request()).join(',')}]`,
        expected: invalid()
      },
      ...[null, true, 1.5, 2 ** 53, -(2 ** 53), '', 'x'.repeat(257), [1], { id: 1 }].map(id => ({
        shows: `the id ${JSON.stringify(id).slice(0, 20)}`,
        body: request({ id }),
        expected: invalid({ path: '/id' })
      })),
      ...[undefined, '1.0', 2, null].map(jsonrpc => ({
        shows: `the version ${JSON.stringify(jsonrpc)}`,
        body: request({ jsonrpc }),
        expected: invalid({ path: '/jsonrpc' }, 1)
      })),
      ...[undefined, 5, null, {}].map(method => ({
        shows: `the method ${JSON.stringify(method)}`,
        body: request({ method }),
        expected: invalid({ path: '/method' }, 1)
      })),
      ...[undefined, null, 'text', 5].map(params => ({
        shows: `the params ${JSON.stringify(params)}`,
        body: request({ params }),
        expected: invalid({ path: '/params' }, 1)
      })),
      { shows: 'nesting beyond 64', body: deep(65), expected: invalid() },
      { shows: 'nesting without end', body: '['.repeat(200_000), expected: invalid() }
    ])
  )('%s', (_, row) => refuses(road.baseUrl, row))

  test('nesting of 64 is taken as JSON', () =>
    refuses(road.baseUrl, {
      ...{ shows: '', body: deep(64) },
      expected: { reason: 'INVALID_PARAMS', data: { path: '/params/0' } }
    }))

  test('a batch of 100, and one of nonsense: each entry is refused for itself', async () => {
    const { text, status } = await post(`${road.baseUrl}/evm-chain`, `[1,${request({ id: 5, chainId: 2 })}]`)
    expect(status).toBe(200)
    const [first, second] = JSON.parse(text) as unknown[]
    expectRefusal(first, invalid({ path: '' }))
    expectRefusal(second, {
      ...{ reason: 'UNSUPPORTED_CHAIN', id: 5, data: { supportedChainIds: [evmChainId] } }
    })
    const full = await post(`${road.baseUrl}/evm-chain`, `[${Array(100).fill(request()).join(',')}]`)
    expect(JSON.parse(full.text)).toHaveLength(100)
  })
})

describe('transport', () => {
  const allow = { allow: 'POST, OPTIONS' }
  const mediaType = { reason: 'UNSUPPORTED_MEDIA_TYPE', id: null } as const
  test.each(
    rows([
      ...['GET', 'PUT', 'PATCH', 'DELETE'].map(method => ({
        shows: method,
        init: { method },
        expected: { reason: 'METHOD_NOT_ALLOWED', id: null } as const,
        headers: allow
      })),
      ...['/', '/evm', '/evm-chain/x', '/EVM-CHAIN', '/evm-chain//', '/solana/..%2f'].map(path => ({
        shows: `the path ${path}`,
        path,
        expected: { reason: 'NOT_FOUND', id: null } as const
      })),
      ...['', 'text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'application/xml'].map(
        type => ({
          shows: `the media type ${type || 'of nothing'}`,
          // A body of bytes, so that none is added on the way.
          body: new TextEncoder().encode(request()),
          init: { headers: { 'content-type': type } },
          expected: mediaType
        })
      ),
      {
        shows: 'a body of 1 MiB and a byte',
        body: request().padEnd(1_048_577),
        expected: { reason: 'BODY_TOO_LARGE', id: null }
      }
    ])
  )('%s', (_, row) => refuses(road.baseUrl, row))

  test('HEAD is refused without a body, and OPTIONS tells the verbs without credentials', async () => {
    const head = await fetch(`${road.baseUrl}/evm-chain`, { method: 'HEAD' })
    expect([head.status, head.headers.get('allow')]).toEqual([405, allow.allow])
    const options = await fetch(`${road.baseUrl}/evm-chain`, { method: 'OPTIONS' })
    expect([options.status, options.headers.get('allow')]).toEqual([204, allow.allow])
  })

  test('a body of exactly 1 MiB, a charset, other cases and a trailing slash are taken', async () => {
    const url = `${road.baseUrl}/solana/`.replace('solana', 'evm-chain')
    for (const [body, type] of [
      [request().padEnd(1_048_576), 'application/json'],
      [request(), 'Application/JSON; charset=UTF-8']
    ] as const) {
      const answer = await post(url, body, { headers: { 'content-type': type } })
      expect(answer.status, answer.text).toBe(200)
      expect(JSON.parse(answer.text)).toHaveProperty('result')
    }
  })
})
