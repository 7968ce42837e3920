import { inspect } from 'node:util'
import { expect, test, vi } from 'vitest'
import {
  ChainDataClientError,
  ConfigurationError,
  ProtocolError,
  RpcError,
  TransportError
} from './errors.ts'

const samples = {
  ConfigurationError: new ConfigurationError('m', { code: 'CONFIGURATION', reason: 'INVALID_OPTION' }),
  TransportError: new TransportError('m', { code: 'NETWORK', reason: 'ECONNRESET', retryable: true }),
  ProtocolError: new ProtocolError('m', { code: 'PROTOCOL', reason: 'NOT_JSON', status: 200 }),
  RpcError: new RpcError('m', {
    code: 'RPC',
    rpcCode: -32001,
    status: 200,
    reason: 'UNSUPPORTED_CHAIN',
    data: { a: 1 }
  })
}
const classes = { ConfigurationError, TransportError, ProtocolError, RpcError }

test('another copy of the package recognises each class, and only that one', async () => {
  vi.resetModules()
  const copy: typeof import('./errors.ts') = await import('./errors.ts')
  expect(copy.RpcError).not.toBe(RpcError)
  for (const [name, error] of Object.entries(samples)) {
    expect(error instanceof copy.ChainDataClientError, name).toBe(true)
    expect(error instanceof ChainDataClientError, name).toBe(true)
    for (const other of Object.keys(classes) as (keyof typeof classes)[]) {
      expect(error instanceof copy[other], `${name} as ${other} of the copy`).toBe(other === name)
      expect(error instanceof classes[other], `${name} as ${other}`).toBe(other === name)
    }
  }
})

test.each([new Error('m'), { code: 'RPC' }, null, undefined, 'RPC', new TypeError('m')])(
  '%s is none of them',
  value => {
    expect(value instanceof ChainDataClientError).toBe(false)
    expect(value instanceof RpcError).toBe(false)
  }
)

test('a class derived by a user keeps the ordinary meaning of instanceof', () => {
  class Mine extends RpcError {}
  const mine = new Mine('m', { code: 'RPC', rpcCode: 1, status: 200 })
  expect(mine instanceof Mine).toBe(true)
  expect(mine instanceof RpcError).toBe(true)
  expect(samples.RpcError instanceof Mine).toBe(false)
})

test('is an Error whose stack and console output begin with the name of its class', () => {
  for (const [name, error] of Object.entries(samples)) {
    expect(error).toBeInstanceOf(Error)
    expect(error.name).toBe(name)
    expect(error.stack).toMatch(new RegExp(`^${name}: m\n`))
    expect(inspect(error)).toMatch(new RegExp(`^${name}: m\n`))
    expect(error.cause).toBeUndefined()
  }
})

test('as JSON it holds the facts that are there, and nothing that was added to it', () => {
  const error = Object.assign(
    new RpcError('m', { code: 'RPC', rpcCode: -32005, status: 429, retryable: true, retryAfterMs: 5 }),
    {
      config: { headers: { Authorization: 'hidden' } }
    }
  )
  expect(JSON.parse(JSON.stringify(error))).toEqual({
    name: 'RpcError',
    message: 'm',
    code: 'RPC',
    retryable: true,
    retryAfterMs: 5,
    status: 429,
    rpcCode: -32005
  })
})
