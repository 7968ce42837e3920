import { ChainDataClientError, createClient, RpcError, TransportError } from '@chain-data/client'
import { errors } from '@chain-data/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  evmAccount,
  evmHistoryOf,
  evmTransaction,
  startDevnet,
  surfpoolUnsupportedReason,
  type Devnet,
  type EvmDevnet
} from '../../src/index.ts'
import {
  basicHeader,
  credentials,
  evmChainId,
  type ExpectedRefusal,
  expectRefusal,
  post,
  type RawAnswer,
  solanaChainId,
  succeed
} from './support/callService.ts'
import { expectNoSecret } from './support/expectNoSecret.ts'
import { eventually, startRoad, type Road } from './support/startRoad.ts'

const clientKey = 'a-publishable-key'
const origin = 'https://dapp.example'
const project = { ...credentials, clientKeys: [{ key: clientKey, origins: [origin] }] }
const withSolana = surfpoolUnsupportedReason() === undefined

let devnet: Devnet
let evm: EvmDevnet
let road: Road
/** Everything the service has answered in this file. */
const told: string[] = []

beforeAll(async () => {
  devnet = await startDevnet({ seed: 35 })
  evm = devnet.evm!
  road = await startRoad(devnet, { projects: [project] })
})

afterAll(async () => {
  await road?.close()
  await devnet?.stop()
})

/** One refused exchange. Members that are left out are those of a correct call of an EVM method. */
interface Row {
  readonly shows: string
  readonly path?: string
  readonly body?: string | Uint8Array<ArrayBuffer>
  readonly init?: RequestInit
  readonly expected: ExpectedRefusal
  /** Headers beside the content type that the contract names. */
  readonly headers?: Readonly<Record<string, string>>
}

const someAddress = '0x425249Cf0F2f91f488E24cF7B1AA3186748f7516'
const someAccount = '6XU36wCxWobLx5Rtsb58kmgAJKVYmMVqy4SHXxENAyAe'
const history = 'svc_getTransactionsByAddress'

/** A request as text; `undefined` takes a member away. */
function request(change: Record<string, unknown> = {}): string {
  const correct = { jsonrpc: '2.0', id: 1, method: history, chainId: evmChainId, params: [someAddress] }
  return JSON.stringify({ ...correct, ...change })
}

const onSolana = (change: Record<string, unknown> = {}) =>
  request({ method: 'enhancedGetTokensAndNFTs', chainId: solanaChainId, params: [someAccount], ...change })

async function refuses({ path = '/evm-chain', body = request(), init = {}, expected, headers }: Row) {
  const hasBody = init.method === undefined || !['GET', 'HEAD'].includes(init.method)
  const answer = await post(road.baseUrl + path, body, hasBody ? init : { ...init, body: null })
  checkRefusal(answer, expected, headers)
}

function checkRefusal(answer: RawAnswer, expected: ExpectedRefusal, headers: Row['headers'] = {}) {
  told.push(answer.text, JSON.stringify([...answer.headers]))
  expect(answer.status, answer.text).toBe(errors[expected.reason].httpStatus)
  expect(answer.headers.get('content-type')).toBe('application/json')
  for (const [name, value] of Object.entries(headers)) expect(answer.headers.get(name), name).toBe(value)
  return expectRefusal(JSON.parse(answer.text), expected)
}

const rows = (list: Row[]) => list.map(row => [row.shows, row] as const)

describe('credentials: 401 with a challenge, before the body is looked at', () => {
  const challenge = { 'www-authenticate': 'Basic realm="chain-data", charset="UTF-8"' }
  const expected = { reason: 'UNAUTHENTICATED', id: null } as const
  const withHeader = (shows: string, authorization: string, body = request()): Row => ({
    ...{ shows, body, init: { headers: { authorization } }, expected, headers: challenge }
  })
  test.each(
    rows([
      withHeader('none', ''),
      withHeader('none, with a broken body', '', '{'),
      withHeader('a wrong key', basicHeader('demo', 'another-key')),
      withHeader('the key with more after it', basicHeader('demo', `${credentials.serverKey}\0`)),
      withHeader('an empty key', basicHeader('demo', '')),
      withHeader('an unknown project', basicHeader('nobody', credentials.serverKey)),
      withHeader('project and key the wrong way round', basicHeader(credentials.serverKey, 'demo')),
      withHeader('another scheme', `Bearer ${credentials.serverKey}`),
      withHeader('no base64', `Basic demo:${credentials.serverKey}`),
      withHeader('base64 of something without a colon', `Basic ${btoa('demo')}`)
    ])
  )('%s', async (_, row) => {
    await refuses(row)
    await refuses({ ...row, path: '/solana' })
  })

  test('a publishable key from a page that is not on its list: 403', async () => {
    const authorization = basicHeader('demo', clientKey)
    const expected = { reason: 'FORBIDDEN_ORIGIN', id: null } as const
    for (const headers of [{ authorization }, { authorization, origin: 'https://other.example' }]) {
      await refuses({ shows: '', init: { headers: headers as Record<string, string> }, expected })
    }
    const allowed = await post(`${road.baseUrl}/evm-chain`, request(), { headers: { authorization, origin } })
    expect(allowed.status).toBe(200)
    expect(JSON.parse(allowed.text)).toHaveProperty('result')
  })
})

describe('chains and methods', () => {
  const unsupported = (supportedChainIds: number[]): ExpectedRefusal => ({
    ...{ reason: 'UNSUPPORTED_CHAIN', data: { supportedChainIds } }
  })
  const onlySolana = withSolana ? [solanaChainId] : []
  const badChain = { reason: 'INVALID_PARAMS', data: { path: '/chainId' } } as const
  const unknown = { reason: 'METHOD_NOT_FOUND' } as const
  test.each(
    rows([
      { shows: 'a chain nobody serves', body: request({ chainId: 1 }), expected: unsupported([evmChainId]) },
      {
        shows: 'the id of a Solana cluster on /evm-chain',
        body: request({ chainId: solanaChainId }),
        expected: unsupported([evmChainId])
      },
      {
        shows: 'the id of an EVM chain on /solana',
        path: '/solana',
        body: onSolana({ chainId: evmChainId }),
        expected: { ...unsupported(onlySolana), chainId: evmChainId }
      },
      ...[undefined, null, '31337', 1.5, -1, 2 ** 53, [31337]].map(chainId => ({
        shows: `the chainId ${JSON.stringify(chainId)}`,
        body: request({ chainId }),
        expected: badChain
      })),
      {
        shows: 'a chainId in the URL that is no number',
        path: '/evm-chain?chainId=0x7a69',
        body: request({ chainId: undefined }),
        expected: badChain
      },
      ...['svc_nope', 'getTransactionsByAddress', 'SVC_GETTOKENSANDNFTS', '__proto__', 'constructor', ''].map(
        method => ({ shows: `the method ${method}`, body: request({ method }), expected: unknown })
      ),
      {
        shows: 'a Solana method on /evm-chain',
        body: onSolana({ chainId: evmChainId }),
        expected: unknown
      },
      {
        shows: 'an EVM method on /solana',
        path: '/solana',
        body: request({ chainId: solanaChainId }),
        expected: { ...unknown, chainId: solanaChainId }
      },
      {
        shows: 'the prefix where none belongs',
        path: '/solana',
        body: onSolana({ method: 'svc_enhancedGetTokensAndNFTs' }),
        expected: { ...unknown, chainId: solanaChainId }
      }
    ])
  )('%s', (_, row) => refuses(row))
})

describe('params', () => {
  const bad = (path: string, chainId?: number): ExpectedRefusal => ({
    ...{ reason: 'INVALID_PARAMS', data: { path } },
    ...(chainId === undefined ? {} : { chainId })
  })
  const evmRow = (shows: string, params: unknown, path: string, method = history): Row => ({
    ...{ shows, body: request({ method, params }), expected: bad(path) }
  })
  const solanaRow = (shows: string, params: unknown, path: string): Row => ({
    ...{ shows, path: '/solana', body: onSolana({ params }), expected: bad(path, solanaChainId) }
  })
  const hash = `0x${'12'.repeat(32)}`
  const addresses: [string, unknown][] = [
    ['no address', ''],
    ['nothing after 0x', '0x'],
    ['19 bytes', someAddress.slice(0, 40)],
    ['20 bytes and a half', `${someAddress}0`],
    ['no 0x', someAddress.slice(2)],
    ['0X', someAddress.replace('0x', '0X')],
    ['a letter that is no digit', `${someAddress.slice(0, 41)}g`],
    ['a space around', ` ${someAddress}`],
    ['a line end after', `${someAddress}\n`],
    ['a number', 0x42],
    ['null', null],
    ['an object', { address: someAddress }],
    ['a name', 'vitalik.eth'],
    ['a Solana account', someAccount]
  ]
  const holdings = 'svc_getTokensAndNFTs'
  test.each(
    rows([
      ...addresses.flatMap(([shows, address]) => [
        evmRow(`history of: ${shows}`, [address], '/params/0'),
        evmRow(`holdings of: ${shows}`, [address], '/params/0', holdings),
        evmRow(`holdings in: ${shows}`, [someAddress, [someAddress, address]], '/params/1/1', holdings)
      ]),
      evmRow('history: params by name', { address: someAddress }, '/params'),
      evmRow('history: none', [], '/params'),
      evmRow('history: one too many', [someAddress, {}, 1], '/params'),
      evmRow('history: options that are null', [someAddress, null], '/params/1'),
      evmRow('history: options that are a list', [someAddress, []], '/params/1'),
      evmRow('history: limit 0', [someAddress, { limit: 0 }], '/params/1/limit'),
      evmRow('history: limit 1001', [someAddress, { limit: 1001 }], '/params/1/limit'),
      evmRow('history: half a record', [someAddress, { limit: 1.5 }], '/params/1/limit'),
      evmRow('history: limit as text', [someAddress, { limit: '5' }], '/params/1/limit'),
      evmRow('history: before nothing', [someAddress, { before: null }], '/params/1/before'),
      evmRow('history: before half a hash', [someAddress, { before: hash.slice(0, 60) }], '/params/1/before'),
      evmRow('history: before a hash nobody knows', [someAddress, { before: hash }], '/params/1/before'),
      evmRow('history: an unknown option', [someAddress, { offset: 1 }], '/params/1/offset'),
      evmRow('holdings: none', [], '/params', holdings),
      evmRow('holdings: a list that is an address', [someAddress, someAddress], '/params/1', holdings),
      evmRow('holdings: 101 contracts', [someAddress, Array(101).fill(someAddress)], '/params/1', holdings),
      evmRow('holdings: one too many', [someAddress, [], 1], '/params', holdings),
      evmRow('sync status: params', [1], '/params', 'svc_getSyncStatus')
    ])
  )('%s', (_, row) => refuses(row))

  const accounts: [string, unknown][] = [
    ['no account', ''],
    ['an EVM address', someAddress],
    ['31 characters', someAccount.slice(0, 31)],
    ['45 characters', `${someAccount}2`],
    ['a character base58 does not have', `0${someAccount.slice(1)}`],
    ['44 characters that are 33 bytes', 'z'.repeat(44)],
    ['33 characters that are 33 bytes', '1'.repeat(33)],
    ['32 characters that are 24 bytes', '2'.repeat(32)],
    ['a space around', `${someAccount} `],
    ['a number', 7],
    ['null', null]
  ]
  test
    .skipIf(!withSolana)
    .each(
      rows([
        ...accounts.map(([shows, account]) => solanaRow(shows, [account], '/params/0')),
        ...accounts.map(([shows, accountAddress]) =>
          solanaRow(`form A: ${shows}`, [{ accountAddress }], '/params/0/accountAddress')
        ),
        solanaRow('params by name', { accountAddress: someAccount }, '/params'),
        solanaRow('none', [], '/params'),
        solanaRow('one too many', [someAccount, {}, {}], '/params'),
        solanaRow('form A without an account', [{}], '/params/0/accountAddress'),
        solanaRow(
          'an option that is no boolean',
          [someAccount, { parseMetadataUri: 'yes' }],
          '/params/1/parseMetadataUri'
        ),
        solanaRow('an unknown option', [someAccount, { parseUri: true }], '/params/1/parseUri'),
        solanaRow('options that are null', [someAccount, null], '/params/1'),
        solanaRow(
          'an option given twice',
          [{ accountAddress: someAccount, parseMetadataUri: true }, { parseMetadataUri: true }],
          '/params/0/parseMetadataUri'
        )
      ])
    )('of Solana: %s', (_, row) => refuses(row))

  test('a waiting transaction is no place to go on from', async () => {
    const before = evmTransaction(evm.world, 'pending transfer').hash
    await refuses(evmRow('', [someAddress, { before }], '/params/1/before'))
  })
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
  )('%s', (_, row) => refuses(row))

  test('nesting of 64 is taken as JSON', () =>
    refuses({
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
  )('%s', (_, row) => refuses(row))

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

describe('limits of the host', () => {
  test('beyond the quota: 429 with a true Retry-After, 200 inside a batch, and all well after the wait', async () => {
    const limited = await startRoad(devnet, { rateLimit: { requestsPerSecond: 2, burst: 3 } })
    try {
      const url = `${limited.baseUrl}/evm-chain`
      const batch = `[${[1, 2, 3, 4].map(id => request({ id })).join(',')}]`
      const answer = await post(url, batch)
      expect(answer.status).toBe(200)
      const [one, , , four] = JSON.parse(answer.text) as { error?: { data: { retryAfterMs: number } } }[]
      expect(one).toHaveProperty('result')
      const retryAfterMs = four?.error?.data.retryAfterMs
      expectRefusal(four, { reason: 'RATE_LIMITED', id: 4, data: { retryAfterMs } })
      expect(retryAfterMs).toBeGreaterThan(0)

      const single = await post(url, request())
      const { error } = JSON.parse(single.text) as { error: { data: { retryAfterMs: number } } }
      const waitMs = error.data.retryAfterMs
      const retryAfter = String(Math.ceil(waitMs / 1000))
      const expected = { reason: 'RATE_LIMITED', id: null, data: { retryAfterMs: waitMs } } as const
      checkRefusal(single, expected, { 'retry-after': retryAfter })
      await expectClientError(
        limited.client.getSyncStatus({ chainId: evmChainId }),
        { reason: 'RATE_LIMITED', rpcCode: -32005, status: 429, retryable: true },
        error => expect(error.retryAfterMs).toBeGreaterThan(0)
      )
      // Broken bodies are no way around it.
      expect((await post(url, '{')).status).toBe(429)
      await new Promise(resolve => setTimeout(resolve, waitMs))
      expect((await post(url, request())).status).toBe(200)
    } finally {
      await limited.close()
    }
  })

  test('an unpaged history beyond maxUnpaged is refused, never cut; pages are not', async () => {
    const address = evmAccount(evm.world, 'alice').address
    const whole = evmHistoryOf(evm.world, address).map(({ hash }) => hash)
    const [tight, exact] = await Promise.all([
      startRoad(devnet, { history: { maxUnpaged: whole.length - 1 } }),
      startRoad(devnet, { history: { maxUnpaged: whole.length } })
    ])
    try {
      const maxUnpaged = whole.length - 1
      const expected = { reason: 'TOO_MANY_RESULTS', data: { maxUnpaged } } as const
      const { error } = checkRefusal(
        await post(`${tight.baseUrl}/evm-chain`, request({ params: [address] })),
        expected
      )
      expect(error.data.extraMessage).toMatch(/limit.*before/)
      await expectClientError(tight.client.getTransactionsByAddress({ chainId: evmChainId, address }), {
        ...{ reason: 'TOO_MANY_RESULTS', rpcCode: -32005, status: 200, retryable: false }
      })
      const hashesOf = async ({ client }: Road, page = {}) =>
        (await client.getTransactionsByAddress({ chainId: evmChainId, address, ...page })).map(r => r.hash)
      expect(await hashesOf(tight, { limit: 1000 })).toEqual(whole)
      expect(await hashesOf(exact)).toEqual(whole)
    } finally {
      await Promise.all([tight.close(), exact.close()])
    }
  })

  test('an answer beyond responseBytes is refused as a whole', async () => {
    const small = await startRoad(devnet, { limits: { responseBytes: 2_000 } })
    try {
      const address = evmAccount(evm.world, 'alice').address
      for (const method of [history, 'svc_getTokensAndNFTs']) {
        const answer = await post(`${small.baseUrl}/evm-chain`, request({ method, params: [address] }))
        checkRefusal(answer, { reason: 'RESPONSE_TOO_LARGE' })
      }
      await expectClientError(small.client.getTransactionsByAddress({ chainId: evmChainId, address }), {
        ...{ reason: 'RESPONSE_TOO_LARGE', rpcCode: -32003, status: 200, retryable: false }
      })
    } finally {
      await small.close()
    }
  })
})

describe('the typed client', () => {
  const chainId = evmChainId
  const as = (options: object) => createClient({ baseUrl: road.baseUrl, ...credentials, ...options })
  const rpc = (reason: keyof typeof errors) => {
    const { code, httpStatus, retryable } = errors[reason]
    return { reason, rpcCode: code, status: httpStatus, retryable }
  }
  test.each([
    ['a wrong key', 'UNAUTHENTICATED', () => as({ serverKey: 'wrong' }).getSyncStatus({ chainId })],
    [
      'a publishable key outside its pages',
      'FORBIDDEN_ORIGIN',
      () => as({ serverKey: clientKey }).getSyncStatus({ chainId })
    ],
    [
      'an unknown chain',
      'UNSUPPORTED_CHAIN',
      () => as({}).getTransactionsByAddress({ chainId: 1, address: someAddress })
    ],
    [
      'an EVM chain on /solana',
      'UNSUPPORTED_CHAIN',
      () => as({}).enhancedGetTokensAndNFTs({ chainId, address: someAccount })
    ],
    ['another prefix', 'METHOD_NOT_FOUND', () => as({ methodPrefix: 'x_' }).getSyncStatus({ chainId })],
    [
      'an unknown method',
      'METHOD_NOT_FOUND',
      () => as({}).request({ method: 'eth_call', params: [], chainId, endpoint: '/evm-chain' })
    ],
    [
      'a malformed address',
      'INVALID_PARAMS',
      () => as({}).getTransactionsByAddress({ chainId, address: '0x12' })
    ],
    [
      'a malformed token address',
      'INVALID_PARAMS',
      () => as({}).getTokensAndNFTs({ chainId, address: someAddress, tokenAddresses: ['0x'] })
    ],
    [
      'a limit too large',
      'INVALID_PARAMS',
      () => as({}).getTransactionsByAddress({ chainId, address: someAddress, limit: 1001 })
    ],
    [
      'a wrong base URL',
      'NOT_FOUND',
      () => as({ baseUrl: `${road.baseUrl}/api` }).getSyncStatus({ chainId })
    ],
    [
      'a body too large',
      'BODY_TOO_LARGE',
      () => as({}).getTransactionsByAddress({ chainId, address: 'a'.repeat(1_100_000) })
    ]
  ] as const)('%s: %s', async (_, reason, call) => {
    await expectClientError(call(), rpc(reason))
  })

  test('a service that is not there, and one that is not this service', async () => {
    for (const [baseUrl, code] of [
      ['http://127.0.0.1:9', 'NETWORK'],
      [devnet.metadata.url, 'HTTP']
    ] as const) {
      const error = await as({ baseUrl })
        .getSyncStatus({ chainId })
        .catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(TransportError)
      expect((error as TransportError).code).toBe(code)
      expectNoSecret(error, credentials.serverKey)
    }
  })
})

describe('a reorg', () => {
  test('takes a cursor away: CURSOR_REORGED names the last common block; cursors below go on working', async () => {
    const { driver, world } = evm
    const frank = evmAccount(world, 'frank').address
    const common = await driver.mine()
    const { hash: blockHash } = (await driver.rpc(
      'eth_getBlockByNumber',
      `0x${common.number.toString(16)}`,
      false
    )) as { hash: string }
    await driver.send({ label: 'below the cursor', from: 'alice', to: frank, valueWei: 1n })
    const lost = await driver.send({ label: 'the cursor', from: 'alice', to: frank, valueWei: 2n })
    await driver.mine({ blocks: 3 })
    const page = { chainId: evmChainId, address: frank, limit: 1 }
    const newest = async () => (await road.client.getTransactionsByAddress(page))[0]?.hash
    await eventually(
      async () => ((await newest()) === lost.hash ? true : undefined),
      () => 'the cursor to be indexed'
    )
    const whole = await road.client.getTransactionsByAddress({ chainId: evmChainId, address: frank })
    await driver.reorg(3)
    await eventually(
      async () => ((await newest()) === lost.hash ? undefined : true),
      () => 'the reorg to be seen'
    )
    const expected = {
      reason: 'CURSOR_REORGED',
      data: { lastCommonBlock: { blockNumber: common.number, blockHash } }
    } as const
    for (const params of [
      [frank, { before: lost.hash }],
      [frank, { before: lost.hash, limit: 5 }]
    ]) {
      checkRefusal(await post(`${road.baseUrl}/evm-chain`, request({ params })), expected)
    }
    await expectClientError(
      road.client.getTransactionsByAddress({ ...page, before: lost.hash }),
      { reason: 'CURSOR_REORGED', rpcCode: -32004, status: 200, retryable: false },
      error => expect(error.data).toMatchObject(expected.data)
    )
    const older = whole[2]!
    const { result } = await succeed(road.baseUrl, {
      ...{ method: history, params: [frank, { before: older.hash }] }
    })
    expect(result).toStrictEqual(whole.slice(3))
  })
})

test('nothing of all this was answered or logged with a key in it', async () => {
  expect(told.length).toBeGreaterThan(100)
  expect(road.logLines.length).toBeGreaterThan(100)
  const metrics = await (await fetch(`${road.baseUrl}/metrics`)).text()
  for (const text of [...told, ...road.logLines, metrics]) {
    for (const key of [credentials.serverKey, clientKey]) expectNoSecret(text, key)
  }
})

/** What a client error must say; its class follows from `rpcCode`. */
async function expectClientError(
  call: Promise<unknown>,
  expected: { reason: string; rpcCode: number; status: number; retryable: boolean },
  more: (error: RpcError) => void = () => {}
) {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown
  )
  expect(error).toBeInstanceOf(ChainDataClientError)
  expect(error).toBeInstanceOf(RpcError)
  const { code, reason, rpcCode, status, retryable } = error as RpcError
  expect({ code, reason, rpcCode, status, retryable }).toEqual({ code: 'RPC', ...expected })
  expectNoSecret(error, credentials.serverKey)
  more(error as RpcError)
}
