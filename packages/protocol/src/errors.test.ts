import { describe, expect, it } from 'vitest'
import { createErrorObject, errors, methodFacts } from './index.ts'
import { checkFailure } from './validators.ts'

it('the error table holds exactly the cases of the contract', () => {
  const rows = Object.values(errors).map(({ reason, code, httpStatus }) => [reason, code, httpStatus])
  expect(rows).toEqual([
    ['PARSE_ERROR', -32700, 200],
    ['INVALID_REQUEST', -32600, 200],
    ['METHOD_NOT_FOUND', -32601, 200],
    ['INVALID_PARAMS', -32602, 200],
    ['INTERNAL', -32603, 200],
    ['UNSUPPORTED_CHAIN', -32001, 200],
    ['UPSTREAM_UNAVAILABLE', -32002, 200],
    ['NOT_SYNCED', -32002, 200],
    ['STILL_READING', -32002, 200],
    ['HISTORY_UNPROVABLE', -32007, 200],
    ['INDEX_DAMAGED', -32002, 200],
    ['RESPONSE_TOO_LARGE', -32003, 200],
    ['CURSOR_REORGED', -32004, 200],
    ['CURSOR_EXPIRED', -32004, 200],
    ['RATE_LIMITED', -32005, 429],
    ['TOO_MANY_RESULTS', -32005, 200],
    ['FORBIDDEN_ORIGIN', -32006, 403],
    ['UNAUTHENTICATED', 40102, 401],
    ['NOT_FOUND', -32600, 404],
    ['METHOD_NOT_ALLOWED', -32600, 405],
    ['UNSUPPORTED_MEDIA_TYPE', -32600, 415],
    ['BODY_TOO_LARGE', -32600, 413],
    ['OVERLOADED', -32002, 503]
  ])
})

it('only what may pass by itself is retryable', () => {
  const retryable = Object.values(errors).filter(each => each.retryable)
  expect(retryable.map(each => each.reason)).toEqual([
    'UPSTREAM_UNAVAILABLE',
    'NOT_SYNCED',
    'STILL_READING',
    'INDEX_DAMAGED',
    'RATE_LIMITED',
    'OVERLOADED'
  ])
})

it('each row stands under its reason, and methods list known reasons only', () => {
  for (const [key, { reason }] of Object.entries(errors)) expect(reason).toBe(key)
  for (const facts of Object.values(methodFacts)) {
    for (const reason of facts.errors) expect(errors).toHaveProperty(reason)
  }
})

describe('createErrorObject', () => {
  it('takes code and message from the table and puts the reason into the data', () => {
    const error = createErrorObject('UNSUPPORTED_CHAIN', {
      extraMessage: 'No chain 5.',
      supportedChainIds: [1]
    })
    expect(error).toEqual({
      code: -32001,
      message: 'Unsupported chainId',
      data: { reason: 'UNSUPPORTED_CHAIN', extraMessage: 'No chain 5.', supportedChainIds: [1] }
    })
    expect(checkFailure({ jsonrpc: '2.0', id: 1, error })).toBeUndefined()
  })
})
