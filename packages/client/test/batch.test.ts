import { limits, type MethodName, methodFacts, wireName } from '@chain-data/protocol'
import { HttpResponse } from 'msw'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { largestBatch } from '../src/batch.ts'
import { methods } from '../src/generated/methods.gen.ts'
import { ChainDataClientError } from '../src/index.ts'
import { caught } from './support/caught.ts'
import { address, solanaAddress } from './support/credentials.ts'
import { baseUrl, createStubService, stubClient } from './support/stubService.ts'
import { transports } from './support/transports.ts'

const service = createStubService()
beforeAll(() => service.msw.listen({ onUnhandledFrame: 'error' }))
afterEach(() => service.reset())
afterAll(() => service.msw.close())

interface Entry {
  id: number
  method: string
  chainId: number
  params: unknown[]
}

/** Answers each entry by itself; `undefined` leaves it out. The order is turned round. */
function serve(answer: (entry: Entry, post: number) => object | undefined): void {
  service.answerWith(({ text }) => {
    const entries = JSON.parse(text) as Entry[]
    const answers = entries.flatMap(entry => answer(entry, service.received.length) ?? [])
    return HttpResponse.json(answers.reverse() as never)
  })
}

const success = ({ id, method }: Entry) => ({
  jsonrpc: '2.0',
  id,
  result: method.endsWith('getTransactionsByAddress') ? [{ method }] : { method }
})
const refusal = ({ id }: Entry, reason: string, code: number, data: object = {}) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message: 'no', data: { reason, ...data } }
})
const posts = () => service.received.map(({ text }) => JSON.parse(text) as Entry[])

const history = { method: 'svc_getTransactionsByAddress', params: [address] } as const
const evm = { method: 'getTokensAndNFTs', address } as const
const solana = { method: 'enhancedGetTokensAndNFTs', accountAddress: solanaAddress, chainId: 101 } as const

describe.each(transports)('over %s', (_transport, create) => {
  test('one POST per endpoint; outcomes in the order of the calls, matched by id', async () => {
    serve(success)
    const outcomes = await stubClient({ methodPrefix: 'acme_' }, create).batch([evm, solana, history])
    expect(outcomes.map(outcome => outcome.status === 'fulfilled' && outcome.value)).toEqual([
      { method: 'acme_getTokensAndNFTs' },
      { method: 'enhancedGetTokensAndNFTs' },
      [{ method: 'acme_getTransactionsByAddress' }]
    ])
    expect(service.received.map(({ url }) => url).sort()).toEqual([
      `${baseUrl}/evm-chain`,
      `${baseUrl}/solana`
    ])
    expect(
      posts()
        .flat()
        .map(({ chainId }) => chainId)
        .sort()
    ).toEqual([1, 1, 101])
  })

  test('each call fails alone: refused, missing, twice, broken, or never sent', async () => {
    serve(entry => {
      const kind = entry.params[1]
      if (kind === 'refused') return refusal(entry, 'UNSUPPORTED_CHAIN', -32001)
      if (kind === 'missing') return undefined
      if (kind === 'twice') return [success(entry), success(entry)]
      if (kind === 'broken') return { jsonrpc: '2.0', id: entry.id }
      return success(entry)
    })
    const open = (kind: string) =>
      ({ method: 'acme_any', params: [1, kind], endpoint: '/evm-chain' }) as const
    const outcomes = await stubClient({}, create).batch([
      open('fine'),
      open('refused'),
      open('missing'),
      open('twice'),
      open('broken'),
      { ...open('chain'), chainId: 1.5 },
      { ...open('params'), params: [1n] },
      open('fine')
    ])
    expect(
      outcomes.map(outcome => (outcome.status === 'rejected' ? outcome.reason.reason : outcome.status))
    ).toEqual([
      'fulfilled',
      'UNSUPPORTED_CHAIN',
      'MISSING_ENTRY',
      'DUPLICATE_ENTRY',
      'NO_RESULT',
      'INVALID_OPTION',
      'INVALID_ARGUMENT',
      'fulfilled'
    ])
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(ChainDataClientError)
    }
    expect(service.received).toHaveLength(1)
  })

  test('more than a hundred calls are split', async () => {
    serve(success)
    const outcomes = await stubClient({}, create).batch(Array.from({ length: 250 }, () => evm))
    expect(outcomes).toHaveLength(250)
    expect(outcomes.every(({ status }) => status === 'fulfilled')).toBe(true)
    expect(
      posts()
        .map(({ length }) => length)
        .sort()
    ).toEqual([100, 100, 50])
    expect(
      new Set(
        posts()
          .flat()
          .map(({ id }) => id)
      ).size
    ).toBe(250)
  })

  test('only what may pass is sent again', async () => {
    serve((entry, post) => {
      if (entry.params[0] === 'never') return refusal(entry, 'INVALID_PARAMS', -32602)
      if (entry.params[0] === 'later' && post === 1) {
        return refusal(entry, 'RATE_LIMITED', -32005, { retryAfterMs: 5 })
      }
      if (entry.params[0] === 'in an hour')
        return refusal(entry, 'RATE_LIMITED', -32005, { retryAfterMs: 3.6e6 })
      return success(entry)
    })
    const outcomes = await stubClient({ retries: 2, maxDelayMs: 20 }, create).batch(
      ['now', 'never', 'later', 'in an hour'].map(
        when => ({ method: 'acme_any', params: [when], endpoint: '/evm-chain' }) as const
      )
    )
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected'])
    expect(posts().map(post => post.map(({ params }) => params[0]))).toEqual([
      ['now', 'never', 'later', 'in an hour'],
      ['later']
    ])
  })

  test.each([
    [
      'an RPC error',
      () => HttpResponse.json({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'no' } }),
      'RPC',
      undefined
    ],
    ['a page', () => new HttpResponse('<h1>hello</h1>'), 'PROTOCOL', 'NOT_JSON'],
    ['one result', () => HttpResponse.json({ jsonrpc: '2.0', id: 99, result: 1 }), 'PROTOCOL', 'WRONG_ID'],
    ['a number', () => HttpResponse.json(7), 'PROTOCOL', 'NOT_AN_OBJECT'],
    ['status 403', () => new HttpResponse('', { status: 403 }), 'HTTP', 'STATUS_403'],
    ['an empty list', () => HttpResponse.json([]), 'PROTOCOL', 'MISSING_ENTRY']
  ])('%s for the whole batch is the outcome of each call', async (_title, answer, code, reason) => {
    service.answerWith(answer)
    const outcomes = await stubClient({}, create).batch([evm, history])
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code, ...(reason && { reason }) } })
    }
    expect(service.received).toHaveLength(1)
  })

  test('auth is asked once for each POST, and where it fails, each call says so', async () => {
    serve((entry, post) =>
      entry.params[0] === 'later' && post === 1 ? refusal(entry, 'OVERLOADED', -32002) : success(entry)
    )
    const auth = vi.fn(async () => ({ Authorization: 'Bearer token' }))
    const keys = { projectId: undefined, serverKey: undefined, retries: 1, maxDelayMs: 1 }
    const calls = ['now', 'later', 'later'].map(
      when => ({ method: 'acme_any', params: [when], endpoint: '/evm-chain' }) as const
    )
    const outcomes = await stubClient({ ...keys, auth } as never, create).batch(calls)
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled'])
    expect(posts().map(({ length }) => length)).toEqual([3, 2])
    expect(auth).toHaveBeenCalledTimes(2)
    auth.mockRejectedValue(new Error('no token'))
    const failed = await stubClient({ ...keys, auth } as never, create).batch(calls)
    expect(failed.map(outcome => outcome.status === 'rejected' && outcome.reason.reason)).toEqual(
      calls.map(() => 'AUTH_FAILED')
    )
    expect(service.received).toHaveLength(2)
  })

  test('what was answered before the deadline stays answered', async () => {
    serve((entry, post) =>
      entry.method === 'acme_busy' && post > 0 ? refusal(entry, 'OVERLOADED', -32002) : success(entry)
    )
    const busy = { method: 'acme_busy', params: [], endpoint: '/evm-chain' } as const
    const outcomes = await stubClient({ maxDelayMs: 2 }, create).batch([evm, busy], {
      retries: 1_000_000,
      timeoutMs: 150
    })
    expect(outcomes).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: { retryable: true } }
    ])
  })

  test('nothing asked, nothing sent', async () => {
    await expect(stubClient({}, create).batch([])).resolves.toEqual([])
    expect(service.received).toHaveLength(0)
  })

  test('is refused as a whole only for what belongs to the whole', async () => {
    const client = stubClient({}, create)
    expect(await caught(client.batch(undefined as never))).toMatchObject({ reason: 'INVALID_ARGUMENT' })
    expect(await caught(client.batch([evm], { timeoutMs: -1 }))).toMatchObject({ reason: 'INVALID_OPTION' })
  })
})

test('every method with one answer goes where the document says', async () => {
  const answered = (Object.keys(methodFacts) as MethodName[]).filter(name => !methodFacts[name].streams)
  expect(methods).toHaveLength(answered.length)
  for (const method of answered) {
    const [endpoint] = methodFacts[method].endpoints
    const isForm = methodFacts[method].wireName !== undefined
    await stubClient().request({ method: wireName(method), params: [], ...(isForm && { endpoint }) } as never)
    expect(service.received.at(-1)?.url).toBe(baseUrl + endpoint)
  }
})

test('the largest batch is that of the document, and only rpc.discover goes without a chain', () => {
  expect(largestBatch).toBe(limits.batchRequests)
  expect(Object.entries(methodFacts).flatMap(([name, facts]) => (facts.needsChain ? [] : [name]))).toEqual([
    'rpc.discover'
  ])
})
