import { type ErrorReason, errors, isConfirmed, type MethodName, wireName } from '@chain-data/protocol'
import { errorExamples, examples } from '@chain-data/protocol/examples'
import { checkFailure, checkResult } from '@chain-data/protocol/validators'
import type { RequestHandler } from 'msw'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  createHandlers,
  delayFault,
  httpFault,
  type Malformation,
  type MockOptions,
  malformedFault,
  networkFault,
  rpcFault
} from '../../src/msw/index.ts'
import { address, projectId, serverKey, solanaAddress, token } from '../support/credentials.ts'

/** What both versions of msw have. */
interface Server {
  use(...handlers: RequestHandler[]): void
  resetHandlers(): void
  close(): void
}

const baseUrl = 'https://rpc.example.com/v1'
const tokensMethod = 'svc_getTokensAndNFTs'
const historyMethod = 'svc_getTransactionsByAddress'
const call = { jsonrpc: '2.0', id: 7, method: tokensMethod, chainId: 1, params: [address] }
const tokens = examples.svc_getTokensAndNFTs[0]!.result
const history = examples.svc_getTransactionsByAddress[0]!.result

interface Sent {
  readonly path?: string
  readonly headers?: Record<string, string>
  readonly verb?: string
  readonly signal?: AbortSignal
}

/** Sends a body as it is and reads what comes back, whatever it is. */
async function send(body: unknown, { path = '/evm-chain', headers = {}, verb = 'POST', signal }: Sent = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await fetch(baseUrl + path, {
    method: verb,
    headers: { 'Content-Type': 'application/json', ...headers },
    ...(verb === 'GET' ? {} : { body: text }),
    ...(signal ? { signal } : {})
  })
  const answer = await response.text()
  let json: unknown
  try {
    json = JSON.parse(answer)
  } catch {
    json = undefined
  }
  return { status: response.status, headers: response.headers, text: answer, json: json as never }
}

/**
 * The behaviour of the handlers, whichever version of msw is behind the name `msw`.
 *
 * @param listen - Starts the server so that a request without a handler fails; each version says that differently.
 */
export function describeHandlers<S extends Server>(server: S, listen: (server: S) => void): void {
  beforeAll(() => listen(server))
  afterEach(() => server.resetHandlers())
  afterAll(() => server.close())

  const serve = (options: Partial<MockOptions> = {}) => server.use(...createHandlers({ baseUrl, ...options }))

  describe('default answers', () => {
    // The examples' pages leave records out; here pages are cut from the whole history, and have a test below.
    // An account has one certificate: the first that the document shows. Streams have a test with the client.
    const shown = Object.entries(examples).flatMap(([method, list]) =>
      list
        .filter(({ params }) => method !== historyMethod || params.length === 1)
        .filter(() => method !== 'svc_watchAddresses')
        .filter((_example, place) => !/^svc_verify/.test(method) || place === 0)
        .map(example => ({ method: wireName(method as MethodName), title: example.name, example }))
    )
    test.each(shown)('$method: $title', async ({ method, example }) => {
      serve()
      const { chainId, endpoint, params, result } = example
      const { status, json, headers } = await send(
        { jsonrpc: '2.0', id: 3, method, chainId, params },
        { path: endpoint }
      )
      const expected = { jsonrpc: '2.0', id: 3, ...(endpoint === '/solana' ? { chainId } : {}), result }
      expect(json).toEqual(expected)
      expect(status).toBe(200)
      expect(headers.get('Content-Type')).toBe('application/json')
    })

    test('are of the schema for any account and any chain', async () => {
      serve()
      const calls = [
        ['/evm-chain', historyMethod, [`0x${'ab'.repeat(20)}`]],
        ['/evm-chain', tokensMethod, [`0x${'ab'.repeat(20)}`, []]],
        ['/solana', 'enhancedGetTokensAndNFTs', [solanaAddress, { parseMetadataUri: true }]],
        ['/solana', 'svc_getSyncStatus', []],
        ['/evm-chain', historyMethod, [address, { include: ['transfers', 'internal'] }]],
        ['/evm-chain', 'svc_verifyHistory', [`0x${'ab'.repeat(20)}`]],
        ['/solana', 'svc_verifySolanaHistory', [solanaAddress]],
        ['/evm-chain', 'rpc.discover', []]
      ] as const
      for (const [path, method, params] of calls) {
        const { json } = await send({ ...call, method: wireName(method), params, chainId: 4321 }, { path })
        expect(checkResult(method, (json as { result: unknown }).result), method).toBeUndefined()
      }
    })

    test('restrict tokens to the listed contracts', async () => {
      serve()
      const wanted = tokens.tokens[0]!.address
      const { json } = await send({ ...call, params: [address, [wanted.toUpperCase().replace('0X', '0x')]] })
      const { result } = json as { result: typeof tokens }
      expect(result.tokens.map(each => each.address)).toEqual([wanted])
      expect(result.nfts).toEqual([])
      expect(result.native).toBe(tokens.native)
    })

    test('have transfers attached where they are asked for', async () => {
      serve()
      const ask = async (options: object) => {
        const { json } = await send({ ...call, method: historyMethod, params: [address, options] })
        return (json as { result: { status: number; transfers?: unknown[]; internal?: unknown[] }[] }).result
      }
      for (const { transfers, internal } of await ask({ limit: 100 })) {
        expect([transfers, internal]).toEqual([undefined, undefined])
      }
      const attached = (await ask({ include: ['transfers'] })).filter(({ status }) => status > 2)
      expect(attached.flatMap(({ transfers }) => transfers)).toHaveLength(1)
      expect(attached.every(({ internal }) => internal === undefined)).toBe(true)
      const pending = (await ask({ include: ['transfers', 'internal'] })).filter(({ status }) => status < 2)
      expect(pending.every(({ transfers }) => transfers === undefined)).toBe(true)
    })

    test('page through the history and come to its end', async () => {
      serve()
      const pages: (typeof history)[] = []
      let before: string | undefined
      for (;;) {
        const page = { limit: 2, ...(before === undefined ? {} : { before }) }
        const { json } = await send({ ...call, method: historyMethod, params: [address, page] })
        const { result } = json as { result: typeof history }
        if (result.length === 0) break
        pages.push(result)
        // A page of pending records only has no cursor: the first confirmed one of the history follows.
        before = result.findLast(record => isConfirmed(record))?.hash ?? 'none'
        if (before === 'none') before = history.find(record => isConfirmed(record))?.hash
      }
      const seen = pages.flat().map(record => record.hash)
      expect(new Set(seen).size).toBe(seen.length)
      expect(seen.at(-1)).toBe(history.at(-1)!.hash)
    })

    test('refuse a cursor that is no record of theirs', async () => {
      serve()
      const before = `0x${'00'.repeat(32)}`
      const { json } = await send({ ...call, method: historyMethod, params: [address, { before }] })
      expect(json).toMatchObject({ error: { code: -32602, data: { path: '/params/1/before' } } })
    })
  })

  describe('the envelope', () => {
    test.each([0, -5, 9007199254740991, '1', 'a"b\\c\u2028é', '0'.repeat(256), '𝒳'.repeat(256)])(
      'echoes the id %j exactly',
      async id => {
        serve()
        expect((await send({ ...call, id })).json).toMatchObject({ id })
      }
    )

    test('takes a missing id for 1', async () => {
      serve()
      const { id: _id, ...rest } = call
      expect((await send(rest)).json).toMatchObject({ id: 1, result: tokens })
    })

    test.each([
      ['null', null],
      ['a fraction', 1.5],
      ['2^53', 9007199254740992],
      ['an empty string', ''],
      ['257 characters', 'x'.repeat(257)],
      ['an object', {}]
    ])('refuses %s as id, with the id null', async (_title, id) => {
      serve()
      const { json, status } = await send({ ...call, id })
      expect(json).toMatchObject({ id: null, error: { code: -32600, data: { reason: 'INVALID_REQUEST' } } })
      expect(status).toBe(200)
    })

    test.each<[string, unknown, ErrorReason]>([
      ['no JSON', '{"jsonrpc":', 'PARSE_ERROR'],
      ['a text', '"x"', 'INVALID_REQUEST'],
      ['an empty batch', [], 'INVALID_REQUEST'],
      ['a batch of 101', Array.from({ length: 101 }, () => call), 'INVALID_REQUEST'],
      ['another version', { ...call, jsonrpc: '1.0' }, 'INVALID_REQUEST'],
      ['no method', { ...call, method: undefined }, 'INVALID_REQUEST'],
      ['no params', { ...call, params: undefined }, 'INVALID_REQUEST'],
      ['an unknown method', { ...call, method: 'svc_getBalance' }, 'METHOD_NOT_FOUND'],
      ['a property of objects as method', { ...call, method: 'constructor' }, 'METHOD_NOT_FOUND'],
      ['a method of the other endpoint', { ...call, method: 'enhancedGetTokensAndNFTs' }, 'METHOD_NOT_FOUND'],
      ['no chain', { ...call, chainId: undefined }, 'INVALID_PARAMS'],
      ['a chain as text', { ...call, chainId: '1' }, 'INVALID_PARAMS'],
      ['a chain that is not served', { ...call, chainId: 5 }, 'UNSUPPORTED_CHAIN'],
      ['params by name', { ...call, params: { address } }, 'INVALID_PARAMS'],
      ['a short address', { ...call, params: ['0x12'] }, 'INVALID_PARAMS']
    ])('%s is refused as the table says', async (_title, body, reason) => {
      serve({ chainIds: { '/evm-chain': [1, 10] } })
      const { json } = await send(body)
      expect(json).toMatchObject({ error: { code: errors[reason].code, data: { reason } } })
      expect(checkFailure(json)).toBeUndefined()
    })

    test('names the chains that are served', async () => {
      serve({ chainIds: { '/evm-chain': [1, 10] } })
      const { json } = await send({ ...call, chainId: 5 })
      expect(json).toMatchObject({ error: { data: { supportedChainIds: [1, 10] } } })
    })

    test('takes the chain from the URL when the body has none, and a trailing slash', async () => {
      serve({ methods: { [tokensMethod]: ({ chainId }) => ({ ...tokens, native: String(chainId) }) } })
      const { chainId: _chainId, ...rest } = call
      const { json } = await send(rest, { path: '/evm-chain/?chainId=137' })
      expect(json).toMatchObject({ result: { native: '137' } })
    })

    test('is answered under another prefix, and not under svc_ then', async () => {
      serve({ methodPrefix: 'acme_' })
      expect((await send({ ...call, method: 'acme_getTokensAndNFTs' })).json).toMatchObject({
        result: tokens
      })
      expect((await send(call)).json).toMatchObject({ error: { code: -32601 } })
      const discovered = await send({ ...call, method: 'rpc.discover', params: [] })
      expect(discovered.text).toContain('"acme_getTokensAndNFTs"')
    })

    test('is for POST with JSON, and says so', async () => {
      serve()
      const get = await send('', { verb: 'GET' })
      expect([get.status, get.headers.get('Allow')]).toEqual([405, 'POST, OPTIONS'])
      const text = await send(call, { headers: { 'Content-Type': 'text/plain' } })
      expect([text.status, text.json]).toMatchObject([
        415,
        { error: { data: { reason: 'UNSUPPORTED_MEDIA_TYPE' } } }
      ])
      expect((await send('', { verb: 'OPTIONS' })).status).toBe(204)
    })

    test('lets in the one pair of credentials, and answers 401 to all others', async () => {
      serve({ credentials: { projectId, key: serverKey } })
      expect((await send(call, { headers: { Authorization: `Basic ${token}` } })).status).toBe(200)
      for (const Authorization of ['', 'Basic', `basic ${token}`, `Basic ${btoa('a:b')}`]) {
        const { status, headers, json } = await send(call, { headers: { Authorization } })
        expect(status).toBe(401)
        expect(headers.get('WWW-Authenticate')).toBe('Basic realm="chain-data", charset="UTF-8"')
        expect(json).toEqual(errorExamples.UNAUTHENTICATED)
      }
    })
  })

  describe('a batch', () => {
    test('is answered in order, each entry by itself', async () => {
      serve()
      const { json, status } = await send([
        { ...call, id: 'b' },
        { ...call, id: 1, method: 'svc_nope' },
        7,
        { ...call, id: 2, method: historyMethod }
      ])
      expect(status).toBe(200)
      expect(json).toMatchObject([
        { id: 'b', result: tokens },
        { id: 1, error: { code: -32601 } },
        { id: null, error: { code: -32600 } },
        { id: 2, result: history }
      ])
    })

    test('carries an entry over its quota with status 200', async () => {
      serve({ methods: { [historyMethod]: rpcFault('RATE_LIMITED', { retryAfterMs: 900 }) } })
      const { json, status } = await send([call, { ...call, id: 8, method: historyMethod }])
      expect(status).toBe(200)
      expect(json).toMatchObject([
        { id: 7, result: tokens },
        { id: 8, error: { code: -32005, data: { retryAfterMs: 900 } } }
      ])
    })
  })

  describe('overrides', () => {
    test('a fixed answer, and one made from the call', async () => {
      serve({
        methods: {
          [tokensMethod]: { native: '5', tokens: [], nfts: [] } as never,
          [historyMethod]: ({ params: [asked], chainId, id, endpoint, method }) =>
            asked === address
              ? [{ ...history[0]!, data: JSON.stringify([chainId, id, endpoint, method]) }]
              : undefined
        }
      })
      expect((await send(call)).json).toMatchObject({ result: { native: '5' } })
      const { json } = await send({ ...call, method: historyMethod })
      expect(json).toMatchObject({ result: [{ data: `[1,7,"/evm-chain","${historyMethod}"]` }] })
      const other = await send({ ...call, method: historyMethod, params: [`0x${'01'.repeat(20)}`] })
      expect(other.json).toMatchObject({ result: history })
    })

    test('a fixed history is cut into pages', async () => {
      const confirmed = history.filter(record => isConfirmed(record))
      serve({ methods: { [historyMethod]: confirmed } })
      const params = [address, { limit: 1, before: confirmed[0]!.hash }]
      const { json } = await send({ ...call, method: historyMethod, params })
      expect(json).toMatchObject({ result: [{ hash: confirmed[1]!.hash }] })
    })

    test('a bigint is written with every digit', async () => {
      const example = examples.enhancedGetTokensAndNFTs[0]!.result
      serve({ methods: { enhancedGetTokensAndNFTs: { ...example, lamports: 18446744073709551615n } } })
      const method = 'enhancedGetTokensAndNFTs'
      const { text } = await send(
        { ...call, method, params: [solanaAddress], chainId: 103 },
        { path: '/solana' }
      )
      expect(text).toContain('"chainId":103,"result":{"lamports":18446744073709551615,')
    })
  })

  describe('faults', () => {
    test.each(Object.values(errors))('the case $reason', async ({ reason, code, httpStatus, message }) => {
      serve({ methods: { [tokensMethod]: rpcFault(reason, { extraMessage: 'told by a test' }) } })
      const { status, json } = await send(call)
      expect(status).toBe(httpStatus)
      expect(json).toMatchObject({
        id: httpStatus === 200 ? 7 : null,
        error: { code, message, data: { reason, extraMessage: 'told by a test' } }
      })
      expect(checkFailure(json)).toBeUndefined()
    })

    test('a wait is in the data in milliseconds and in the header in whole seconds, never shorter', async () => {
      serve({ fault: rpcFault('RATE_LIMITED', { retryAfterMs: 1001 }) })
      const { status, headers, json } = await send(call)
      expect([status, headers.get('Retry-After')]).toEqual([429, '2'])
      expect(json).toMatchObject({ id: null, error: { data: { retryAfterMs: 1001 } } })
    })

    test('of a whole exchange come before the methods, and in turn', async () => {
      const asked: unknown[] = []
      const faults = [
        httpFault(503, { headers: { 'Retry-After': '1' } }),
        httpFault(502, { body: '<p>bad gateway</p>' })
      ]
      serve({
        fault: ({ endpoint, count }) => {
          asked.push([endpoint, count])
          return faults.shift()
        },
        methods: {
          [tokensMethod]: call => {
            asked.push(call.method)
            return tokens
          }
        }
      })
      const [first, second, third] = [await send(call), await send(call), await send(call)]
      expect([first.status, first.headers.get('Retry-After'), first.text]).toEqual([503, '1', ''])
      expect([second.status, second.text]).toEqual([502, '<p>bad gateway</p>'])
      expect(third.json).toMatchObject({ result: tokens })
      expect(asked).toEqual([['/evm-chain', 1], ['/evm-chain', 2], ['/evm-chain', 3], tokensMethod])
    })

    test('of the table meet every entry of a batch', async () => {
      serve({ fault: rpcFault('UPSTREAM_UNAVAILABLE') })
      const { json } = await send([call, { ...call, id: 8 }])
      expect(json).toMatchObject([
        { id: 7, error: { code: -32002 } },
        { id: 8, error: { code: -32002 } }
      ])
    })

    test('a connection that fails', async () => {
      serve({ methods: { [tokensMethod]: networkFault() } })
      await expect(send(call)).rejects.toThrow(TypeError)
    })

    test('a delay comes before the answer, and before another fault', async () => {
      serve({
        methods: { [tokensMethod]: delayFault(1), [historyMethod]: delayFault(1, httpFault(504)) }
      })
      expect((await send(call)).json).toMatchObject({ result: tokens })
      expect((await send({ ...call, method: historyMethod })).status).toBe(504)
    })

    test('an endless delay ends with the signal of the caller', async () => {
      serve({ fault: delayFault(Number.POSITIVE_INFINITY) })
      const controller = new AbortController()
      const outcome = send(call, { signal: controller.signal }).catch((error: unknown) => error)
      controller.abort()
      expect(await outcome).toMatchObject({ name: 'AbortError' })
    })

    const text = JSON.stringify({ jsonrpc: '2.0', id: 7, result: tokens })
    test.each<[Malformation, (answer: { text: string; json: never; type: string | null }) => void]>([
      [
        'html',
        ({ type, text }) => expect([type, text[0]]).toEqual([expect.stringContaining('text/html'), '<'])
      ],
      ['empty', answer => expect(answer.text).toBe('')],
      ['truncated', answer => expect(answer.text).toBe(text.slice(0, Math.ceil(text.length / 2)))],
      ['wrongId', ({ json }) => expect(json).toMatchObject({ id: expect.any(String), result: tokens })],
      ['wrongVersion', ({ json }) => expect(json).toMatchObject({ jsonrpc: '1.0', id: 7, result: tokens })],
      [
        'resultAndError',
        ({ json }) => expect(json).toMatchObject({ id: 7, result: null, error: { code: -32603 } })
      ],
      ['noResult', ({ json }) => expect(json).toEqual({ jsonrpc: '2.0', id: 7 })],
      ['wrongShape', ({ json }) => expect(json).toMatchObject([{ id: 7, result: tokens }])],
      ['missingEntry', ({ json }) => expect(json).toEqual([])],
      ['reversed', ({ json }) => expect(json).toMatchObject({ id: 7, result: tokens })]
    ])('malformed: %s', async (malformation, check) => {
      serve({ methods: { [tokensMethod]: malformedFault(malformation) } })
      const answer = await send(call)
      expect(answer.status).toBe(200)
      check({ ...answer, type: answer.headers.get('Content-Type') })
    })

    test.each<[Malformation, unknown]>([
      ['missingEntry', [{ id: 7 }]],
      ['reversed', [{ id: 8 }, { id: 7 }]],
      ['wrongShape', { id: 7 }]
    ])('a malformed batch: %s', async (malformation, expected) => {
      serve({ fault: malformedFault(malformation) })
      const { json } = await send([call, { ...call, id: 8 }])
      expect(json).toMatchObject(expected as object)
      expect(Array.isArray(json) ? (json as unknown[]).length : 1).toBe(
        Array.isArray(expected) ? expected.length : 1
      )
    })
  })

  test('what cannot work is said when the handlers are made', () => {
    expect(() => createHandlers({ baseUrl: 'rpc.example.com' })).toThrow(/baseUrl/)
    expect(() => createHandlers({ baseUrl: 'https://x.example/?a=1' })).toThrow(/baseUrl/)
    expect(() => rpcFault('NO_SUCH_REASON' as never)).toThrow(/NO_SUCH_REASON/)
    expect(() => httpFault(99)).toThrow(/200 to 599/)
    expect(() => delayFault(-1)).toThrow(/delayMs/)
  })
}
