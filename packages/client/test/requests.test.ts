import { methodFacts, wireName } from '@chain-data/protocol'
import { examples } from '@chain-data/protocol/examples'
import axios from 'axios'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type ChainOptional, type Client, createClient } from '../src/index.ts'
import { caught } from './support/caught.ts'
import { address, projectId, serverKey, solanaAddress, token } from './support/credentials.ts'
import { answerResult, baseUrl, createStubService, stubClient } from './support/stubService.ts'

const service = createStubService()
beforeAll(() => service.msw.listen({ onUnhandledFrame: 'error' }))
afterEach(() => service.reset())
afterAll(() => service.msw.close())

const contract = '0x6D5fCEd0C74F22a1B145ef48B25527Ce9BF829bF'
const hash = '0x8d116ece1738f7d93d9c172411e20b8f6b0d549b6f03675a1600a35a099950d8'

interface Case {
  readonly title: string
  readonly call: (client: Client<ChainOptional>) => Promise<unknown>
  readonly url: string
  readonly sent: { method: string; params: unknown[]; chainId?: number }
}

const evm = `${baseUrl}/evm-chain`
const solana = `${baseUrl}/solana`

const cases: Case[] = [
  {
    title: 'getTransactionsByAddress, whole history',
    call: client => client.getTransactionsByAddress({ address }),
    url: evm,
    sent: { method: 'svc_getTransactionsByAddress', chainId: 1, params: [address] }
  },
  {
    title: 'getTransactionsByAddress, a page of another chain',
    call: client => client.getTransactionsByAddress({ address, chainId: 137, limit: 5, before: hash }),
    url: evm,
    sent: {
      method: 'svc_getTransactionsByAddress',
      chainId: 137,
      params: [address, { limit: 5, before: hash }]
    }
  },
  {
    title: 'getTransactionsByAddress, only a limit',
    call: client => client.getTransactionsByAddress({ address, limit: 5, before: undefined }),
    url: evm,
    sent: { method: 'svc_getTransactionsByAddress', chainId: 1, params: [address, { limit: 5 }] }
  },
  {
    title: 'getTransactionsByAddress, only a cursor',
    call: client => client.getTransactionsByAddress({ address, before: hash }),
    url: evm,
    sent: { method: 'svc_getTransactionsByAddress', chainId: 1, params: [address, { before: hash }] }
  },
  {
    title: 'getTokensAndNFTs, everything',
    call: client => client.getTokensAndNFTs({ address }),
    url: evm,
    sent: { method: 'svc_getTokensAndNFTs', chainId: 1, params: [address] }
  },
  {
    title: 'getTokensAndNFTs, some contracts',
    call: client => client.getTokensAndNFTs({ address, tokenAddresses: [contract] }),
    url: evm,
    sent: { method: 'svc_getTokensAndNFTs', chainId: 1, params: [address, [contract]] }
  },
  {
    title: 'getTokensAndNFTs, an empty list',
    call: client => client.getTokensAndNFTs({ address, tokenAddresses: [] }),
    url: evm,
    sent: { method: 'svc_getTokensAndNFTs', chainId: 1, params: [address, []] }
  },
  {
    title: 'enhancedGetTokensAndNFTs, form B without options',
    call: client => client.enhancedGetTokensAndNFTs({ address: solanaAddress, chainId: 101 }),
    url: solana,
    sent: { method: 'enhancedGetTokensAndNFTs', chainId: 101, params: [solanaAddress] }
  },
  {
    title: 'enhancedGetTokensAndNFTs, parsing metadata',
    call: client =>
      client.enhancedGetTokensAndNFTs({ address: solanaAddress, chainId: 101, parseMetadataUri: true }),
    url: solana,
    sent: {
      method: 'enhancedGetTokensAndNFTs',
      chainId: 101,
      params: [solanaAddress, { parseMetadataUri: true }]
    }
  },
  {
    title: 'enhancedGetTokensAndNFTs, expressly not parsing metadata',
    call: client => client.enhancedGetTokensAndNFTs({ address: solanaAddress, parseMetadataUri: false }),
    url: solana,
    sent: {
      method: 'enhancedGetTokensAndNFTs',
      chainId: 1,
      params: [solanaAddress, { parseMetadataUri: false }]
    }
  },
  {
    title: 'getSyncStatus of an EVM chain',
    call: client => client.getSyncStatus({}),
    url: evm,
    sent: { method: 'svc_getSyncStatus', chainId: 1, params: [] }
  },
  {
    title: 'getSyncStatus of a Solana cluster',
    call: client => client.getSyncStatus({ chainId: 103, endpoint: '/solana' }),
    url: solana,
    sent: { method: 'svc_getSyncStatus', chainId: 103, params: [] }
  },
  {
    title: 'verifyHistory',
    call: client => client.verifyHistory({ address }),
    url: evm,
    sent: { method: 'svc_verifyHistory', chainId: 1, params: [address] }
  },
  {
    title: 'verifyHistory, against the headers',
    call: client => client.verifyHistory({ address, verify: 'roots' }),
    url: evm,
    sent: { method: 'svc_verifyHistory', chainId: 1, params: [address, { verify: 'roots' }] }
  },
  {
    title: 'getTransactionsByAddress, with what is attached',
    call: client => client.getTransactionsByAddress({ address, include: ['transfers', 'internal'] }),
    url: evm,
    sent: {
      method: 'svc_getTransactionsByAddress',
      chainId: 1,
      params: [address, { include: ['transfers', 'internal'] }]
    }
  },
  {
    title: 'request of a method of the document',
    call: client =>
      client.request({ method: 'enhancedGetTokensAndNFTs', params: [{ accountAddress: solanaAddress }] }),
    url: solana,
    sent: { method: 'enhancedGetTokensAndNFTs', chainId: 1, params: [{ accountAddress: solanaAddress }] }
  },
  {
    title: 'request of a method of its own',
    call: client =>
      client.request({ method: 'acme_echo', params: [1, null, { a: [] }], endpoint: '/solana' }),
    url: solana,
    sent: { method: 'acme_echo', chainId: 1, params: [1, null, { a: [] }] }
  },
  {
    title: 'request of a method named like a property of objects',
    call: client => client.request({ method: 'constructor', params: [], endpoint: '/evm-chain' }),
    url: evm,
    sent: { method: 'constructor', chainId: 1, params: [] }
  }
]

describe('what goes on the wire', () => {
  test.each(cases)('$title', async ({ call, url, sent }) => {
    await call(stubClient())
    const [request] = service.received
    expect(service.received).toHaveLength(1)
    expect(request?.url).toBe(url)
    expect(request?.body).toEqual({ jsonrpc: '2.0', id: 1, ...sent })
  })

  test('one POST with JSON and the Basic header, in UTF-8', async () => {
    await stubClient().getTokensAndNFTs({ address })
    const { headers } = service.received[0]!
    expect(headers.get('authorization')).toBe(`Basic ${token}`)
    expect(headers.get('content-type')).toBe('application/json')
    expect(headers.get('accept')).toBe('application/json')
  })

  test('each request of a client has an id of its own', async () => {
    const client = stubClient()
    await Promise.all([client.getTokensAndNFTs({ address }), client.getTransactionsByAddress({ address })])
    await client.getSyncStatus({})
    expect(service.received.map(({ body }) => body.id).sort()).toEqual([1, 2, 3])
  })

  test('another prefix replaces that of the prefixed methods only', async () => {
    const client = stubClient({ methodPrefix: 'acme_' })
    await client.getTransactionsByAddress({ address })
    await client.getTokensAndNFTs({ address })
    await client.enhancedGetTokensAndNFTs({ address: solanaAddress })
    await client.getSyncStatus({})
    await client.request({ method: 'svc_getTokensAndNFTs', params: [address] })
    await client.request({ method: 'rpc.discover', params: [] })
    await client.request({ method: 'svc_somethingElse', params: [], endpoint: '/evm-chain' })
    expect(service.received.map(({ body }) => body.method)).toEqual([
      'acme_getTransactionsByAddress',
      'acme_getTokensAndNFTs',
      'enhancedGetTokensAndNFTs',
      'acme_getSyncStatus',
      'acme_getTokensAndNFTs',
      'rpc.discover',
      'svc_somethingElse'
    ])
  })

  test('a path in the base URL stays in front of the endpoint', async () => {
    const client = createClient({ baseUrl: `${baseUrl}/v1/tenant/`, projectId, serverKey, chainId: 1 })
    await client.getTokensAndNFTs({ address })
    expect(service.received[0]?.url).toBe(`${baseUrl}/v1/tenant/evm-chain`)
  })

  test('rpc.discover goes out without a chain when nobody names one', async () => {
    const client = createClient({ baseUrl, projectId, serverKey })
    await client.request({ method: 'rpc.discover', params: [] })
    expect(service.received[0]?.body).toEqual({ jsonrpc: '2.0', id: 1, method: 'rpc.discover', params: [] })
  })

  test('defaults and interceptors of the application on axios do not take part', async () => {
    const seen: unknown[] = []
    const interceptor = axios.interceptors.request.use(config => {
      seen.push(config)
      return config
    })
    axios.defaults.headers.common['X-Application'] = 'yes'
    axios.defaults.baseURL = 'https://elsewhere.example.com'
    try {
      await stubClient().getTokensAndNFTs({ address })
    } finally {
      axios.interceptors.request.eject(interceptor)
      delete axios.defaults.headers.common['X-Application']
      delete axios.defaults.baseURL
    }
    expect(seen).toEqual([])
    expect(service.received[0]?.headers.has('x-application')).toBe(false)
  })
})

describe('what comes back', () => {
  const shown = Object.entries(examples).flatMap(([method, list]) =>
    list.map(example => ({ ...example, method: wireName(method as keyof typeof methodFacts) }))
  )

  test.each(shown)('$method: $name', async ({ method, chainId, endpoint, params, result }) => {
    service.answerWith(answerResult(result))
    const call = { method, chainId, endpoint, params } as Parameters<Client<ChainOptional>['request']>[0]
    const given = await stubClient().request(call)
    // Amounts of a certificate have become exact numbers.
    const asTexts = (_name: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)
    expect(JSON.parse(JSON.stringify(given, asTexts))).toEqual(result)
    const [{ url, body }] = service.received as [(typeof service.received)[number]]
    expect(url).toBe(baseUrl + endpoint)
    expect(body).toMatchObject({ method, chainId, params })
  })

  test.each([[[]], [null], [0], [''], [false]])('a result of %j is a result', async result => {
    service.answerWith(answerResult(result))
    const call = { method: 'acme_any', params: [], endpoint: '/evm-chain' } as const
    await expect(stubClient().request(call)).resolves.toEqual(result)
  })

  test('exact texts stand beside numbers that JSON.parse rounds', async () => {
    service.answerWith(
      ({ body }) =>
        new Response(
          `{"jsonrpc":"2.0","id":${body.id},"chainId":101,"result":{"lamports":18446744073709551615,"lamportsString":"18446744073709551615","nfts":[],"tokens":[]}}`,
          { headers: { 'Content-Type': 'application/json' } }
        )
    )
    const holdings = await stubClient().enhancedGetTokensAndNFTs({ address: solanaAddress })
    expect(holdings.lamportsString).toBe('18446744073709551615')
    expect(BigInt(holdings.lamports)).not.toBe(18446744073709551615n)
  })
})

describe('what is never sent', () => {
  const withoutDefault = () =>
    createClient({ baseUrl, projectId, serverKey }) as unknown as Client<ChainOptional>

  test.each([
    [
      'no chain, getTransactionsByAddress',
      'CHAIN_ID_MISSING',
      () => withoutDefault().getTransactionsByAddress({ address })
    ],
    ['no chain, getTokensAndNFTs', 'CHAIN_ID_MISSING', () => withoutDefault().getTokensAndNFTs({ address })],
    [
      'no chain, enhancedGetTokensAndNFTs',
      'CHAIN_ID_MISSING',
      () => withoutDefault().enhancedGetTokensAndNFTs({ address })
    ],
    ['no chain, getSyncStatus', 'CHAIN_ID_MISSING', () => withoutDefault().getSyncStatus({})],
    [
      'a chain id with a fraction',
      'INVALID_OPTION',
      () => stubClient().getTokensAndNFTs({ address, chainId: 1.5 })
    ],
    [
      'a chain id as text',
      'INVALID_OPTION',
      () => stubClient().getTokensAndNFTs({ address, chainId: '1' as never })
    ],
    [
      'a deadline of nothing',
      'INVALID_OPTION',
      () => stubClient().getTokensAndNFTs({ address, timeoutMs: 0 })
    ],
    [
      'a bigint among the params',
      'INVALID_ARGUMENT',
      () => stubClient().getTransactionsByAddress({ address, limit: 1n as never })
    ],
    [
      'an open method without endpoint',
      'ENDPOINT_MISSING',
      () => stubClient().request({ method: 'acme_any', params: [] } as never)
    ],
    [
      'an endpoint that is none',
      'ENDPOINT_MISSING',
      () => stubClient().request({ method: 'acme_any', params: [], endpoint: '/../x' } as never)
    ]
  ])('%s', async (_title, reason, call) => {
    const error = await caught(call())
    expect(error).toMatchObject({
      name: 'ConfigurationError',
      code: 'CONFIGURATION',
      reason,
      retryable: false
    })
    expect(service.received).toEqual([])
  })
})

test('every method of the document is reachable through request', () => {
  expect(Object.keys(examples).sort()).toEqual(Object.keys(methodFacts).sort())
})

test('a call without an object of arguments is refused by name, and nothing is sent', async () => {
  const client = stubClient() as unknown as Record<string, (call?: unknown) => Promise<unknown>>
  for (const name of [
    'getTransactionsByAddress',
    'getTokensAndNFTs',
    'enhancedGetTokensAndNFTs',
    'request'
  ]) {
    for (const call of [undefined, null, address]) {
      const error = await caught(client[name]!(call))
      expect(error).toMatchObject({ code: 'CONFIGURATION', reason: 'INVALID_ARGUMENT' })
      expect(error.message).toContain(`${name}: takes one object; got `)
    }
  }
})

test('the client has each method under one name, without a prefix or a namespace, and nothing unknown', () => {
  const answered = Object.entries(methodFacts).filter(([, { streams }]) => !streams)
  const names = answered.map(([name]) => name.replace(/^(svc_|rpc\.)/, ''))
  // The last one makes it a connection.
  expect(Object.keys(stubClient()).sort()).toEqual(
    [
      ...names,
      'batch',
      'chainId',
      'iterateSolanaTransactions',
      'iterateTransactions',
      'request',
      'send'
    ].sort()
  )
})
