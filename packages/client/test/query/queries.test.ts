import { isConfirmed } from '@chain-data/protocol'
import { examples } from '@chain-data/protocol/examples'
import { InfiniteQueryObserver, QueryClient, QueryObserver, skipToken } from '@tanstack/query-core'
import { setupServer } from 'msw/node'
import { createPublicClient, custom } from 'viem'
import { optimism } from 'viem/chains'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createClient as createFetchClient } from '../../src/fetch.ts'
import { createClient as createAxiosClient, RpcError } from '../../src/index.ts'
import { createHandlers, httpFault, type MockOptions, rpcFault } from '../../src/msw/index.ts'
import {
  enhancedGetTokensAndNFTsQuery,
  getSyncStatusQuery,
  getTokensAndNFTsQuery,
  getTransactionsByAddressQuery,
  transactionPagesQuery,
  verifyHistoryQuery
} from '../../src/query/index.ts'
import { chainDataActions } from '../../src/viem.ts'
import { address, projectId, serverKey, solanaAddress, token } from '../support/credentials.ts'
import { startLoopbackServer } from '../support/loopbackServer.ts'

const baseUrl = 'https://rpc.example.com'
const history = examples.svc_getTransactionsByAddress[0]!.result
const confirmed = history.filter(record => isConfirmed(record))
const hashOf = (index: number) => `0x${index.toString(16).padStart(64, '0')}`
/** A long history, the newest record first. */
const longHistory = Array.from({ length: 7 }, (_, index) => ({ ...confirmed[0]!, hash: hashOf(index) }))

const server = setupServer()
let requests = 0
beforeAll(() => server.listen({ onUnhandledFrame: 'error' }))
afterEach(() => server.resetHandlers())
afterAll(() => server.close())

/** The service; every HTTP request is counted. */
function serve(options: Partial<MockOptions> = {}) {
  requests = 0
  const { fault } = options
  server.use(
    ...createHandlers({
      baseUrl,
      ...options,
      fault: exchange => {
        requests += 1
        return typeof fault === 'function' ? fault(exchange) : fault
      }
    })
  )
}

/** A cache of its own for each test; nothing of it is left behind. */
function createCache() {
  const cache = new QueryClient()
  return Object.assign(cache, { [Symbol.dispose]: () => cache.clear() })
}

test('an extended client of viem is asked about its own chain', async () => {
  const called: unknown[] = []
  const options = {
    baseUrl,
    auth: false,
    fetch: async (_url: string, { body }: { body?: string }) => {
      called.push(JSON.parse(`${body}`).chainId)
      return new Response('{"jsonrpc":"2.0","id":1,"result":{"native":"0","tokens":[],"nfts":[]}}')
    }
  } as const
  const transport = custom({ request: async () => undefined })
  const client = createPublicClient({ chain: optimism, transport }).extend(chainDataActions(options))
  const query = getTokensAndNFTsQuery(client, { address })
  expect(query.queryKey[2]).toMatchObject({ chainId: 10 })
  using cache = createCache()
  expect((await cache.fetchQuery(query)).native).toBe('0')
  expect(called).toEqual([10])
})

describe.each([
  ['axios', createAxiosClient],
  ['fetch', createFetchClient]
])('with a client over %s', (_name, createClient) => {
  const client = createClient({ baseUrl, projectId, serverKey })

  test('each builder gives what its method gives', async () => {
    serve()
    using cache = createCache()
    expect(await cache.fetchQuery(getTokensAndNFTsQuery(client, { address, chainId: 1 }))).toMatchObject(
      examples.svc_getTokensAndNFTs[0]!.result
    )
    expect(
      await cache.fetchQuery(getTransactionsByAddressQuery(client, { address, chainId: 1, limit: 2 }))
    ).toMatchObject(history.slice(0, 2))
    const solana = { accountAddress: solanaAddress, chainId: 103, parseMetadataUri: true }
    const holdings = await cache.fetchQuery(enhancedGetTokensAndNFTsQuery(client, solana))
    expect(holdings.nfts[0]!.metadata.data.uriData).toBeDefined()
    const status = await cache.fetchQuery(getSyncStatusQuery(client, { chainId: 103, endpoint: '/solana' }))
    expect(status.chainId).toBe(103)
    const certificate = await cache.fetchQuery(verifyHistoryQuery(client, { address, chainId: 31337 }))
    expect(certificate.native.parts.received).toBe(
      BigInt(examples.svc_verifyHistory[0]!.result.native.parts.received)
    )
  })

  test('records with something attached are another answer than those without', async () => {
    serve()
    using cache = createCache()
    const ask = (include?: readonly ('transfers' | 'internal')[]) =>
      cache.fetchQuery({
        ...getTransactionsByAddressQuery(client, { address, chainId: 1, limit: 50, include }),
        staleTime: Number.POSITIVE_INFINITY
      })
    const attached = (records: readonly object[]) => records.filter(record => 'transfers' in record).length
    expect(attached(await ask())).toBe(0)
    expect(attached(await ask(['transfers']))).toBe(confirmed.length)
    expect(attached(await ask())).toBe(0)
    expect(requests).toBe(2)
    const pages = transactionPagesQuery(client, { address, chainId: 1, include: ['transfers'] })
    expect(pages.queryKey).not.toEqual(transactionPagesQuery(client, { address, chainId: 1 }).queryKey)
    const { pages: read } = await cache.fetchInfiniteQuery(pages)
    expect(attached(read.flat())).toBe(confirmed.length)
  })

  test('one answer serves all who ask for the same, in whatever letter case', async () => {
    serve()
    using cache = createCache()
    const staleTime = Number.POSITIVE_INFINITY
    for (const spelling of [address, address.toLowerCase(), `0x${address.slice(2).toUpperCase()}`]) {
      await cache.fetchQuery({
        ...getTokensAndNFTsQuery(client, { address: spelling, chainId: 1 }),
        staleTime
      })
    }
    expect(requests).toBe(1)
    await cache.fetchQuery({ ...getTokensAndNFTsQuery(client, { address, chainId: 10 }), staleTime })
    await cache.fetchQuery({
      ...getTokensAndNFTsQuery(client, { address, chainId: 1, scope: 'b' }),
      staleTime
    })
    expect(requests).toBe(3)
  })

  test('a call that names no chain is asked about that of the client, and its key names it', async () => {
    serve()
    using cache = createCache()
    const own = createClient({ baseUrl, projectId, serverKey, chainId: 10 })
    for (const query of [getTokensAndNFTsQuery(own, { address }), transactionPagesQuery(own, { address })]) {
      expect(query.queryKey[2]).toMatchObject({ chainId: 10 })
    }
    const explicit = getTokensAndNFTsQuery(own, { address, chainId: 10 })
    expect(getTokensAndNFTsQuery(own, { address }).queryKey).toEqual(explicit.queryKey)
    await cache.fetchQuery(getTokensAndNFTsQuery(own, { address }))
    expect(cache.getQueryData(explicit.queryKey)?.native).toBe(
      examples.svc_getTokensAndNFTs[0]!.result.native
    )
  })

  test('skipToken keeps a query from being sent, under a key that names its method', async () => {
    serve()
    using cache = createCache()
    const query = getTokensAndNFTsQuery(client, skipToken)
    const pages = transactionPagesQuery(client, skipToken)
    const observer = new QueryObserver(cache, query)
    const ofPages = new InfiniteQueryObserver(cache, pages)
    const ends = [observer.subscribe(() => {}), ofPages.subscribe(() => {})]
    for (const result of [observer.getCurrentResult(), ofPages.getCurrentResult()]) {
      expect(result).toMatchObject({ status: 'pending', fetchStatus: 'idle' })
    }
    expect([query.queryKey.slice(0, 2), pages.queryKey.slice(0, 2)]).toEqual([
      ['chain-data', 'getTokensAndNFTs'],
      ['chain-data', 'pages']
    ])
    observer.setOptions(getTokensAndNFTsQuery(client, { address, chainId: 1 }))
    await expect.poll(() => observer.getCurrentResult().status).toBe('success')
    // That of the arguments alone.
    expect(requests).toBe(1)
    for (const end of ends) end()
  })

  test('a beginning of the key invalidates every answer of the method', async () => {
    serve()
    using cache = createCache()
    const query = getTokensAndNFTsQuery(client, { address, chainId: 1 })
    await cache.fetchQuery(query)
    await cache.invalidateQueries({ queryKey: ['chain-data', 'getTransactionsByAddress'] })
    expect(cache.getQueryState(query.queryKey)?.isInvalidated).toBe(false)
    await cache.invalidateQueries({ queryKey: ['chain-data', 'getTokensAndNFTs', { chainId: 1 }] })
    expect(cache.getQueryState(query.queryKey)?.isInvalidated).toBe(true)
  })

  test('cancelling ends the HTTP exchange', async () => {
    let closed = false
    await using service = await startLoopbackServer((_request, response) => {
      response.once('close', () => {
        closed = true
      })
    })
    server.close()
    try {
      const slow = createClient({ baseUrl: service.url, projectId, serverKey })
      using cache = createCache()
      const query = getTokensAndNFTsQuery(slow, { address, chainId: 1 })
      const observer = new QueryObserver(cache, query)
      const unsubscribe = observer.subscribe(() => {})
      await service.firstRequest
      unsubscribe()
      await expect.poll(() => closed).toBe(true)
      expect(cache.getQueryState(query.queryKey)?.status).toBe('pending')
    } finally {
      server.listen({ onUnhandledFrame: 'error' })
    }
  })

  test('the client alone decides about another try', async () => {
    serve({ fault: ({ count }) => (count === 1 ? httpFault(503) : undefined) })
    using cache = createCache()
    await cache.fetchQuery(getTokensAndNFTsQuery(client, { address, chainId: 1 }))
    expect(requests).toBe(2)

    serve({ fault: rpcFault('UNSUPPORTED_CHAIN', { supportedChainIds: [5] }) })
    // An application's own default would try three times more.
    cache.setDefaultOptions({ queries: { retry: 3, retryDelay: 0 } })
    const outcome = cache.fetchQuery(getTokensAndNFTsQuery(client, { address, chainId: 2 }))
    await expect(outcome).rejects.toMatchObject({ reason: 'UNSUPPORTED_CHAIN', retryable: false })
    expect(requests).toBe(1)
  })

  describe('pages', () => {
    const pagesOf = (data: { pages: readonly (readonly { hash: string }[])[] } | undefined) =>
      data?.pages.map(page => page.map(record => record.hash))

    test('follow the history to its end', async () => {
      serve({ methods: { svc_getTransactionsByAddress: longHistory } })
      using cache = createCache()
      const observer = new InfiniteQueryObserver(
        cache,
        transactionPagesQuery(client, { address, chainId: 1, limit: 3 })
      )
      const unsubscribe = observer.subscribe(() => {})
      await expect.poll(() => observer.getCurrentResult().status).toBe('success')
      while (observer.getCurrentResult().hasNextPage) await observer.fetchNextPage()
      const { data } = observer.getCurrentResult()
      unsubscribe()
      const hashes = longHistory.map(record => record.hash)
      expect(pagesOf(data)).toEqual([hashes.slice(0, 3), hashes.slice(3, 6), hashes.slice(6)])
      expect(data?.pageParams).toEqual([undefined, hashes[2], hashes[5]])
    })

    test('go on behind a first page that pending records fill', async () => {
      const pending = Array.from({ length: 4 }, (_, index) => ({ ...history[0]!, hash: hashOf(100 + index) }))
      serve({ methods: { svc_getTransactionsByAddress: [...pending, ...longHistory] } })
      using cache = createCache()
      const query = transactionPagesQuery(client, { address, chainId: 1, limit: 2 })
      const data = await cache.fetchInfiniteQuery({ ...query, pages: 20 })
      expect(pagesOf(data)?.flat()).toEqual([...pending, ...longHistory].map(record => record.hash))
    })

    test('of an address without transactions are one empty page', async () => {
      serve({ methods: { svc_getTransactionsByAddress: [] } })
      using cache = createCache()
      const query = transactionPagesQuery(client, { address, chainId: 1 })
      expect((await cache.fetchInfiniteQuery({ ...query, pages: 3 })).pages).toEqual([[]])
    })

    test('end when a host goes round in circles', async () => {
      const [first, second] = [longHistory.slice(0, 2), longHistory.slice(2, 4)]
      serve({
        methods: {
          svc_getTransactionsByAddress: ({ params: [, page] }) =>
            page?.before === hashOf(1) ? second : first
        }
      })
      using cache = createCache()
      const query = transactionPagesQuery(client, { address, chainId: 1, limit: 2 })
      const { pages } = await cache.fetchInfiniteQuery({ ...query, pages: 10 })
      expect(pages).toHaveLength(3)
    })

    test('tell of a reorg that removed the cursor, and a refetch recovers', async () => {
      let reorged = false
      serve({
        methods: {
          svc_getTransactionsByAddress: ({ params: [, page] }) => {
            if (!reorged) return longHistory.slice(0, 2)
            return page?.before === hashOf(1) ? rpcFault('CURSOR_REORGED') : longHistory.slice(4, 5)
          }
        }
      })
      using cache = createCache()
      const observer = new InfiniteQueryObserver(
        cache,
        transactionPagesQuery(client, { address, chainId: 1, limit: 2 })
      )
      const unsubscribe = observer.subscribe(() => {})
      await expect.poll(() => observer.getCurrentResult().status).toBe('success')
      reorged = true
      const { error } = await observer.fetchNextPage()
      expect(error).toBeInstanceOf(RpcError)
      expect(error).toMatchObject({ reason: 'CURSOR_REORGED' })
      const { data } = await observer.refetch()
      unsubscribe()
      expect(pagesOf(data)).toEqual([[hashOf(4)]])
    })
  })

  test('a client that gives bigints keeps them in the cache', async () => {
    const exact = createClient({ baseUrl, projectId, serverKey, int64: 'bigint' })
    const holdings = examples.enhancedGetTokensAndNFTs[0]!.result
    const lamportsString = '18446744073709551615'
    const rich = { ...holdings, lamports: BigInt(lamportsString), lamportsString }
    serve({ methods: { enhancedGetTokensAndNFTs: rich } })
    using cache = createCache()
    const query = enhancedGetTokensAndNFTsQuery(exact, { address: solanaAddress, chainId: 103 })
    const data = await cache.fetchQuery(query)
    const { lamports }: { lamports: bigint } = data
    expect(lamports).toBe(18446744073709551615n)
    expect((await cache.fetchQuery(query)).lamports).toBe(lamports)
  })

  test('no part of a query holds the credentials', () => {
    const queries = [
      getTokensAndNFTsQuery(client, { address, chainId: 1, timeoutMs: 5000, retries: 0 }),
      transactionPagesQuery(client, { address, chainId: 1, timeoutMs: 5000 })
    ]
    for (const query of queries) {
      const text = JSON.stringify([query, query.queryKey])
      for (const secret of [projectId, serverKey, token]) expect(text).not.toContain(secret)
      expect(text).not.toContain('5000')
    }
  })
})
