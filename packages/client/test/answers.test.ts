import { errors } from '@chain-data/protocol'
import { errorExamples } from '@chain-data/protocol/examples'
import { HttpResponse } from 'msw'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { caught } from './support/caught.ts'
import { address } from './support/credentials.ts'
import { type Answer, answerJson, createStubService, stubClient } from './support/stubService.ts'

const service = createStubService()
beforeAll(() => service.msw.listen({ onUnhandledFrame: 'error' }))
afterEach(() => service.reset())
afterAll(() => service.msw.close())

/** The error of a call that gets this answer; it must have come from a single request. */
async function errorFrom(answer: Answer) {
  service.answerWith(answer)
  const error = await caught(stubClient().getTokensAndNFTs({ address }))
  expect(service.received).toHaveLength(1)
  return error
}

const rpcError = (error: unknown, init?: ResponseInit): Answer =>
  answerJson({ jsonrpc: '2.0', id: 1, error }, init)

describe('every case of the error table', () => {
  test.each(Object.values(errors))('$reason', async ({ reason, code, httpStatus, retryable, message }) => {
    const example = errorExamples[reason]
    const error = await errorFrom(
      answerJson({ ...example, id: httpStatus === 200 ? 1 : null }, { status: httpStatus })
    )
    expect(error).toMatchObject({
      name: 'RpcError',
      code: 'RPC',
      rpcCode: code,
      reason,
      retryable,
      status: httpStatus
    })
    expect(error.data).toEqual(example.error.data)
    expect(error.message).toContain(message)
    // Names the argument where the service names its position.
    expect(error.message).toContain(example.error.data.extraMessage.replace('/params/0', 'address'))
    expect(error.message).toMatch(/^getTokensAndNFTs: /)
  })
})

describe('errors of other servers', () => {
  test('an error for a request that could not be read has no id', async () => {
    const error = await errorFrom(
      answerJson({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } })
    )
    expect(error).toMatchObject({ code: 'RPC', rpcCode: -32700, status: 200, retryable: false })
    expect(error).not.toHaveProperty('reason')
    expect(error).not.toHaveProperty('data')
  })

  test.each([
    [-32002, {}, true],
    [-32005, {}, false],
    [-32005, { status: 429 }, true],
    [-32000, {}, false],
    [-32603, { status: 500 }, true],
    [1, { status: 403 }, false]
  ])('code %d without a reason, %j: retryable %j', async (code, init, retryable) => {
    expect(await errorFrom(rpcError({ code, message: 'no' }, init))).toMatchObject({
      rpcCode: code,
      retryable
    })
  })

  test.each(['constructor', 'lower', '__proto__', 'A'.repeat(65), 7])('%j is no reason', async reason => {
    const error = await errorFrom(rpcError({ code: -32000, message: 'no', data: { reason } }))
    expect(error.reason).toBeUndefined()
    expect(error.retryable).toBe(false)
  })

  test('a reason that is not in the table is passed on', async () => {
    const error = await errorFrom(rpcError({ code: -32000, message: 'no', data: { reason: 'ON_FIRE' } }))
    expect(error.reason).toBe('ON_FIRE')
  })

  test('the message of a server becomes one line of bounded length', async () => {
    const error = await errorFrom(
      rpcError({ code: 1, message: `a\r\nb\u001b[31mc\u2028d${'x'.repeat(10_000)}` })
    )
    expect(error.message).toMatch(/^getTokensAndNFTs: a b \[31mc dx+ \(1\)$/)
    expect(error.message.length).toBeLessThan(600)
  })
})

describe('how long to wait', () => {
  const limited = (data: object, headers: Record<string, string>) =>
    rpcError(
      { code: -32005, message: 'Rate limit exceeded', data: { reason: 'RATE_LIMITED', ...data } },
      { status: 429, headers }
    )

  test.each([
    ['the header in seconds', limited({}, { 'Retry-After': '7' }), 7000],
    ['the exact wait in the data', limited({ retryAfterMs: 6200 }, { 'Retry-After': '7' }), 6200],
    [
      'a header beside something that is not JSON',
      () => new HttpResponse('busy', { status: 503, headers: { 'Retry-After': '2' } }),
      2000
    ]
  ])('%s', async (_title, answer, retryAfterMs) => {
    expect(await errorFrom(answer)).toMatchObject({ retryable: true, retryAfterMs })
  })

  test('a date in the header', async () => {
    const date = new Date(Date.now() + 60_000).toUTCString()
    const { retryAfterMs } = await errorFrom(limited({}, { 'Retry-After': date }))
    expect(retryAfterMs).toBeGreaterThan(50_000)
    expect(retryAfterMs).toBeLessThanOrEqual(60_000)
  })

  test('nothing said, nothing known', async () => {
    expect(await errorFrom(limited({}, {}))).not.toHaveProperty('retryAfterMs')
  })
})

describe('HTTP refusals without a JSON-RPC error', () => {
  test.each([
    [204, false],
    [301, false],
    [302, false],
    [400, false],
    [401, false],
    [403, false],
    [404, false],
    [408, true],
    [425, true],
    [429, true],
    [500, true],
    [501, false],
    [502, true],
    [503, true],
    [504, true]
  ])('status %d: retryable %j', async (status, retryable) => {
    const body = status === 204 ? null : '<html>no</html>'
    const error = await errorFrom(
      () => new HttpResponse(body, { status, headers: { Location: 'https://x.example/' } })
    )
    expect(error).toMatchObject({
      name: 'TransportError',
      code: 'HTTP',
      reason: `STATUS_${status}`,
      status,
      retryable
    })
  })

  test('a result with another status than 200 is no result', async () => {
    const error = await errorFrom(answerJson({ jsonrpc: '2.0', id: 1, result: [] }, { status: 500 }))
    expect(error).toMatchObject({ code: 'HTTP', status: 500 })
  })
})

describe('status 200, but no answer to this request', () => {
  const text = (body: string, type = 'application/json'): Answer => {
    return () => new HttpResponse(body, { headers: { 'Content-Type': type } })
  }

  test.each<[string, string, Answer]>([
    ['a page', 'NOT_JSON', text('<!doctype html><h1>Welcome</h1>', 'text/html; charset=utf-8')],
    ['nothing', 'EMPTY_BODY', text('')],
    ['white space', 'EMPTY_BODY', text(' \n')],
    ['half an answer', 'NOT_JSON', text('{"jsonrpc":"2.0","id":1,"result":[')],
    ['two answers in a row', 'NOT_JSON', text('{"jsonrpc":"2.0","id":1,"result":1}{}')],
    ['an array', 'NOT_AN_OBJECT', answerJson([{ jsonrpc: '2.0', id: 1, result: [] }])],
    ['null', 'NOT_AN_OBJECT', answerJson(null)],
    ['a text', 'NOT_AN_OBJECT', answerJson('ok')],
    ['another object', 'WRONG_VERSION', answerJson({ ok: true })],
    ['another version', 'WRONG_VERSION', answerJson({ jsonrpc: '1.0', id: 1, result: [] })],
    ['another id', 'WRONG_ID', answerJson({ jsonrpc: '2.0', id: 2, result: [] })],
    ['the id as text', 'WRONG_ID', answerJson({ jsonrpc: '2.0', id: '1', result: [] })],
    ['no id', 'WRONG_ID', answerJson({ jsonrpc: '2.0', result: [] })],
    ['a result without id', 'WRONG_ID', answerJson({ jsonrpc: '2.0', id: null, result: [] })],
    [
      'an error with another id',
      'WRONG_ID',
      answerJson({ jsonrpc: '2.0', id: 2, error: { code: 1, message: 'm' } })
    ],
    [
      'a result and an error',
      'RESULT_AND_ERROR',
      answerJson({ jsonrpc: '2.0', id: 1, result: [], error: { code: 1, message: 'm' } })
    ],
    ['neither', 'NO_RESULT', answerJson({ jsonrpc: '2.0', id: 1 })],
    ['an error that is a text', 'MALFORMED_ERROR', answerJson({ jsonrpc: '2.0', id: 1, error: 'no' })],
    ['an error that is null', 'MALFORMED_ERROR', answerJson({ jsonrpc: '2.0', id: 1, error: null })],
    [
      'an error without code',
      'MALFORMED_ERROR',
      answerJson({ jsonrpc: '2.0', id: 1, error: { message: 'no' } })
    ],
    ['an error without message', 'MALFORMED_ERROR', answerJson({ jsonrpc: '2.0', id: 1, error: { code: 1 } })]
  ])('%s', async (_title, reason, answer) => {
    const error = await errorFrom(answer)
    expect(error).toMatchObject({
      name: 'ProtocolError',
      code: 'PROTOCOL',
      reason,
      status: 200,
      retryable: false
    })
  })

  test('of a page nothing is told', async () => {
    const error = await errorFrom(text('<p>some page</p>', 'text/html; charset=utf-8'))
    expect(error.message).toBe(
      'getTokensAndNFTs: no valid answer from https://rpc.example.com (NOT_JSON, attempt 1 of 1)'
    )
  })

  test('a JSON answer counts whatever its media type says', async () => {
    service.answerWith(
      ({ body }) => new HttpResponse(JSON.stringify({ jsonrpc: '2.0', id: body.id, result: 5 }))
    )
    const call = { method: 'acme_any', params: [], endpoint: '/evm-chain' } as const
    await expect(stubClient().request(call)).resolves.toBe(5)
  })
})
