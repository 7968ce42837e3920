import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { buildClient } from './buildClient.ts'
import type { CallOptions, ClientOptions } from './ClientOptions.ts'
import type { HttpRequest, HttpResponse, Transport } from './transport.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

type Step = Partial<HttpResponse> & {
  headers?: Record<string, string>
  /** What the library under the transport throws. */
  error?: object
  never?: boolean
}

const fine: Step = { status: 200 }

/** A client whose requests end as the steps say, one after the other; the last one again and again. */
function clientOf(steps: Step[], options: Partial<ClientOptions<'number'>> = {}) {
  const sent: (HttpRequest & { readonly url: string })[] = []
  const transport: Transport = async (url, request) => {
    const { headers = {}, error, never, ...rest } = steps[Math.min(sent.length, steps.length - 1)] ?? fine
    sent.push({ url, ...request })
    if (never) return new Promise(() => {})
    if (error) throw error
    const { id } = JSON.parse(request.body)
    const text = `{"jsonrpc":"2.0","id":${id},"result":"done"}`
    return { status: 200, text, header: name => headers[name], ...rest }
  }
  const all = { baseUrl: 'https://rpc.example.com', projectId: 'p', serverKey: 'key', chainId: 1, ...options }
  const client = buildClient(all as ClientOptions, transport)
  const call = (more: CallOptions = {}) =>
    client.request({ method: 'acme_any', params: [], endpoint: '/evm-chain', ...more }) as Promise<unknown>
  return { call, client, sent }
}

const network: Step = { error: { code: 'ECONNRESET' } }
const text = ''

/** Lets everything happen that does not need time, and then as much time as is still waited for. */
async function finish<T>(promise: Promise<T>): Promise<T | { code: string; reason?: string }> {
  const outcome = promise.catch(error => error)
  await vi.runAllTimersAsync()
  return outcome
}

describe('sent again', () => {
  test.each([
    ['a network error', network],
    ...[408, 425, 429, 500, 502, 503, 504].map(status => [`status ${status}`, { status, text }] as const),
    [
      'an RPC error that may pass',
      {
        text: '{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"m","data":{"reason":"NOT_SYNCED"}}}'
      }
    ]
  ] as [string, Step][])('%s', async (_title, step) => {
    const { call, sent } = clientOf([step, fine])
    expect(await finish(call())).toBe('done')
    expect(sent).toHaveLength(2)
    // The same request, its id included: whoever logs it sees one call.
    expect(sent[1]?.body).toBe(sent[0]?.body)
  })
})

describe('sent once', () => {
  test.each([
    ['a bad certificate', { error: { cause: { code: 'CERT_HAS_EXPIRED' } } }],
    ['an answer that is too large', { text: undefined }],
    ...[301, 307, 400, 401, 403, 404, 405, 413, 415, 501].map(
      status => [`status ${status}`, { status, text }] as const
    ),
    ['a page with status 200', { text: '<h1>hello</h1>' }],
    [
      'an RPC error that stays',
      {
        text: '{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"m","data":{"reason":"UNSUPPORTED_CHAIN"}}}'
      }
    ]
  ] as [string, Step][])('%s', async (_title, step) => {
    const { call, sent } = clientOf([step])
    expect(await finish(call())).toHaveProperty('code')
    expect(sent).toHaveLength(1)
  })
})

describe('attempts', () => {
  test.each([
    [{}, {}, 3],
    [{ retries: 0 }, {}, 1],
    [{ retries: 5 }, {}, 6],
    [{ retries: 5 }, { retries: 1 }, 2]
  ])('of a client with %j and a call with %j: at most %d', async (options, more, expected) => {
    const { call, sent } = clientOf([network], options)
    expect(await finish(call(more))).toMatchObject({ code: 'NETWORK', reason: 'ECONNRESET' })
    expect(sent).toHaveLength(expected)
  })

  test('are told to onAnswer, once, and only of an answer with a result', async () => {
    const onAnswer = vi.fn()
    await finish(clientOf([network, { headers: { 'x-request-id': 'r-1' } }]).call({ onAnswer }))
    const answer = {
      status: 200,
      attempts: 2,
      text: '{"jsonrpc":"2.0","id":1,"result":"done"}',
      header: expect.any(Function),
      requestId: 'r-1'
    }
    expect(onAnswer.mock.calls).toEqual([[answer]])
    expect(onAnswer.mock.calls[0]?.[0].header('x-request-id')).toBe('r-1')
    await finish(clientOf([{ status: 404, text }]).call({ onAnswer }))
    expect(onAnswer).toHaveBeenCalledOnce()
  })
})

describe('the pause', () => {
  async function pausesOf(steps: Step[], options: Partial<ClientOptions<'number'>> = {}): Promise<number[]> {
    const { call, sent } = clientOf(steps, { timeoutMs: 3_600_000, ...options })
    const times: number[] = []
    const outcome = call().catch(() => {})
    while (vi.getTimerCount() > 0 && times.length < 20) {
      await vi.advanceTimersByTimeAsync(0)
      const before = Date.now()
      const had = sent.length
      if (vi.getTimerCount() <= 1) break
      await vi.advanceTimersToNextTimerAsync()
      if (sent.length > had) times.push(Date.now() - before)
    }
    await vi.runAllTimersAsync()
    await outcome
    return times
  }

  test('doubles, up to maxDelayMs, and any part of it may be waited for', async () => {
    const random = vi.spyOn(Math, 'random').mockReturnValue(1)
    expect(await pausesOf([network], { retries: 5, maxDelayMs: 1500 })).toEqual([250, 500, 1000, 1500, 1500])
    random.mockReturnValue(0.5)
    expect(await pausesOf([network])).toEqual([125, 250])
  })

  test('is what the server asks for, and a part of ours on top', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    const busy = { status: 503, text, headers: { 'retry-after': '7' } }
    expect(await pausesOf([busy, fine])).toEqual([7125])
  })

  test('that the server asks for beyond maxDelayMs is not waited for', async () => {
    const { call, sent } = clientOf([{ status: 503, text, headers: { 'retry-after': '11' } }])
    const outcome = call().catch(error => error)
    await vi.advanceTimersByTimeAsync(0)
    expect(await outcome).toMatchObject({ code: 'HTTP', status: 503, retryAfterMs: 11_000 })
    expect([sent.length, vi.getTimerCount()]).toEqual([1, 0])
  })

  test('that no timer can wait for is not begun', async () => {
    const year = { status: 503, text, headers: { 'retry-after': '31536000' } }
    const options = { maxDelayMs: Number.POSITIVE_INFINITY, timeoutMs: Number.POSITIVE_INFINITY }
    const { call, sent } = clientOf([year], options)
    expect(await finish(call())).toMatchObject({ code: 'HTTP', retryAfterMs: 31_536_000_000 })
    expect(sent).toHaveLength(1)
  })

  test('that the deadline would end in is not waited for', async () => {
    const busy = { status: 503, text, headers: { 'retry-after': '7' } }
    const { call, sent } = clientOf([busy], { timeoutMs: 6999 })
    const outcome = call().catch(error => error)
    await vi.advanceTimersByTimeAsync(0)
    expect(await outcome).toMatchObject({ code: 'HTTP', status: 503 })
    expect([sent.length, vi.getTimerCount()]).toEqual([1, 0])
  })
})

describe('one deadline', () => {
  test('covers all attempts and pauses', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1)
    const { call, sent } = clientOf([network, { never: true }], { timeoutMs: 1000 })
    const outcome = call().catch(error => error)
    await vi.advanceTimersByTimeAsync(999)
    expect(sent).toHaveLength(2)
    expect(sent[1]?.signal.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(await outcome).toMatchObject({ code: 'TIMEOUT', retryable: true })
    expect(sent[1]?.signal.aborted).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('covers an auth that never answers', async () => {
    const { call, sent } = clientOf([fine], {
      auth: () => new Promise(() => {}),
      projectId: undefined,
      serverKey: undefined,
      timeoutMs: 50
    } as never)
    expect(await finish(call())).toMatchObject({ code: 'TIMEOUT' })
    expect(sent).toHaveLength(0)
  })
})

test('a signal ends a pause at once and leaves no timer and no listener', async () => {
  const controller = new AbortController()
  const { call, sent } = clientOf([network])
  const outcome = call({ signal: controller.signal }).catch(error => error)
  await vi.advanceTimersByTimeAsync(0)
  expect([sent.length, vi.getTimerCount()]).toEqual([1, 2])
  controller.abort()
  expect(await outcome).toMatchObject({ code: 'ABORTED', retryable: false })
  expect(vi.getTimerCount()).toBe(0)
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
  await vi.runAllTimersAsync()
  expect(sent).toHaveLength(1)
})

test('auth is asked before every attempt, and its headers go beside ours', async () => {
  let asked = 0
  const auth = async () => ({ Authorization: `Bearer ${++asked}`, 'X-Session': 's' })
  const { call, sent } = clientOf([{ status: 503, text }, fine], {
    auth,
    projectId: undefined,
    serverKey: undefined
  } as never)
  expect(await finish(call())).toBe('done')
  expect(sent.map(({ headers }) => headers)).toEqual(
    [1, 2].map(count => ({
      Authorization: `Bearer ${count}`,
      'X-Session': 's',
      Accept: 'application/json',
      'Content-Type': 'application/json'
    }))
  )
})

test('without auth nothing signs', async () => {
  const { call, sent } = clientOf([fine], {
    auth: false,
    projectId: undefined,
    serverKey: undefined
  } as never)
  expect(await finish(call())).toBe('done')
  expect(Object.keys(sent[0]?.headers ?? {})).toEqual(['Accept', 'Content-Type'])
})
