import { QueryClient } from '@tanstack/query-core'
import { HttpResponse } from 'msw'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { chainData } from '../src/kit.ts'
import { solanaTransactionPagesQuery } from '../src/query/index.ts'
import { solanaAddress as address, projectId, serverKey } from './support/credentials.ts'
import { baseUrl, createStubService, stubClient } from './support/stubService.ts'
import { transports } from './support/transports.ts'

const service = createStubService()
beforeAll(() => service.msw.listen({ onUnhandledFrame: 'error' }))
afterEach(() => service.reset())
afterAll(() => service.msw.close())

const u64 = '18446744073709551615'
const chainId = 103
const covers = { fromSlot: 0, toSlot: 9, reason: 'genesis', continuity: true, tokenAccounts: 1 }
const history = ['s5', 's4', 's3', 's2', 's1']
const stillReading = { code: -32002, message: 'still', data: { reason: 'STILL_READING', progress: {} } }

/** Answers pages of the history as the service does. @param waits - So many calls find it still reading. */
function serve(signatures = history, waits = 0) {
  let left = waits
  service.answerWith(({ body }) => {
    const envelope = { jsonrpc: '2.0', id: body.id, chainId }
    if (left-- > 0) {
      return HttpResponse.json({
        ...envelope,
        error: { ...stillReading, data: { ...stillReading.data, retryAfterMs: 1 } }
      } as never)
    }
    const [, { limit = 1_000, before } = {}] = body.params as [string, { limit?: number; before?: string }?]
    const transactions = signatures
      .slice(before === undefined ? 0 : signatures.indexOf(before) + 1)
      .slice(0, limit)
      .map(signature => ({
        signature,
        fee: u64,
        lamports: { pre: u64, post: '1' },
        tokens: [{ pre: '0', post: u64 }]
      }))
    return HttpResponse.json({
      ...envelope,
      result: { transactions, covers, continuity: { gaps: [] } }
    } as never)
  })
}

const asked = () => service.received.map(({ body }) => body.params[1])
type Pages = AsyncIterable<{ readonly transactions: readonly { readonly signature: string }[] }>
async function collect(pages: Pages): Promise<string[][]> {
  const all: string[][] = []
  for await (const page of pages) all.push(page.transactions.map(({ signature }) => signature))
  return all
}

describe.each(transports)('over %s', (_transport, create) => {
  const client = stubClient({}, create)

  test('goes from page to page by the last signature, until a short page', async () => {
    serve()
    const pages = client.iterateSolanaTransactions({ address, chainId, limit: 2, tokenAccounts: 'all' })
    expect(await collect(pages)).toEqual([['s5', 's4'], ['s3', 's2'], ['s1']])
    expect(asked()).toEqual([
      { limit: 2, tokenAccounts: 'all' },
      { limit: 2, before: 's4', tokenAccounts: 'all' },
      { limit: 2, before: 's2', tokenAccounts: 'all' }
    ])
  })

  test('shows no empty page but the first, which says what was covered', async () => {
    serve(history.slice(0, 4))
    expect(await collect(client.iterateSolanaTransactions({ address, chainId, limit: 2 }))).toHaveLength(2)
    serve([])
    expect(await collect(client.iterateSolanaTransactions({ address, chainId }))).toEqual([[]])
  })

  test('asks again while the host is still reading', async () => {
    serve(history, 2)
    expect(await collect(client.iterateSolanaTransactions({ address, chainId }))).toEqual([history])
    expect(service.received).toHaveLength(3)
  })

  test('ends where a host repeats itself', async () => {
    service.answerWith(({ body }) =>
      HttpResponse.json({
        jsonrpc: '2.0',
        id: body.id,
        chainId,
        result: { transactions: [{ signature: 's1' }] }
      } as never)
    )
    expect(await collect(client.iterateSolanaTransactions({ address, chainId, limit: 1 }))).toEqual([['s1']])
  })

  test.each(['number', 'string', 'bigint'] as const)(
    'amounts keep every digit where int64 is %s',
    async int64 => {
      serve(['s1'])
      const { transactions } = await stubClient({ int64 } as never, create).enhancedGetTransactionsByAddress({
        address,
        chainId
      })
      const [{ fee, lamports, tokens } = {}] = transactions as never as [
        { fee: string; lamports: object; tokens: object[] }?
      ]
      expect({ fee, lamports, tokens }).toEqual({
        ...{ fee: u64, lamports: { pre: u64, post: '1' } },
        tokens: [{ pre: '0', post: u64 }]
      })
    }
  )
})

test('a client of kit has the pages too', async () => {
  serve()
  const { chainData: plugin } = chainData({ baseUrl, projectId, serverKey, chainId })({})
  expect(await collect(plugin.iterateSolanaTransactions({ address, limit: 3 }))).toEqual([
    ['s5', 's4', 's3'],
    ['s2', 's1']
  ])
  expect(new URL(service.received[0]!.url).pathname).toBe('/solana')
})

test('an infinite query reads the same pages and knows its end', async () => {
  serve()
  const query = solanaTransactionPagesQuery(stubClient({}), { address, chainId, limit: 2 })
  const { pages } = await new QueryClient().fetchInfiniteQuery({ ...query, pages: 9 })
  expect(pages.map(({ transactions }) => transactions.map(({ signature }) => signature))).toEqual([
    ['s5', 's4'],
    ['s3', 's2'],
    ['s1']
  ])
  expect(query.queryKey).toEqual(['chain-data', 'solanaPages', { address, chainId, limit: 2 }])
})
