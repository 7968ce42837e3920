import { expect, it } from 'vitest'
import {
  ConfigError,
  NodeContradictionError,
  NodeUnavailableError,
  StoreError,
  StoreUnavailableError
} from '../../platform/errors.ts'
import { silentLogger } from '../../platform/logger.ts'
import { toWireError } from './toWireError.ts'

const call = { requestId: 'r-1', logger: silentLogger }

it.each([
  ['a node that does not answer', new NodeUnavailableError('upstream 1 cannot be reached (ECONNREFUSED)')],
  ['a node that contradicts itself', new NodeContradictionError('block 7: no receipts')],
  ['nodes that all serve another chain', new ConfigError('chain 1: upstream 1 serves chain 5, expected 1')],
  [
    'a store whose server is away',
    new StoreUnavailableError(
      'PostgreSQL refused: terminating connection due to administrator command (57P01)'
    )
  ],
  [
    'a store that a newer program has taken over',
    new StoreError('PostgreSQL has schema version 3', { storedVersion: 3, knownVersion: 2 })
  ]
])('%s makes the chain unavailable, and the caller learns no more than that', (_, failure) => {
  const { reason, error } = toWireError(failure, call)
  expect(reason).toBe('UPSTREAM_UNAVAILABLE')
  expect(error.code).toBe(-32002)
  expect(JSON.stringify(error)).not.toMatch(/upstream 1|ECONNREFUSED|receipts|PostgreSQL|57P01/)
})

it('a store that refuses is a bug, not a moment to wait for', () => {
  expect(toWireError(new StoreError('the store is damaged'), call).reason).toBe('INTERNAL')
})

it('a bug is told as an id only', () => {
  const { reason, error } = toWireError(new TypeError('x is not a function'), call)
  expect(reason).toBe('INTERNAL')
  expect(error.data).toMatchObject({ requestId: 'r-1' })
  expect(JSON.stringify(error)).not.toContain('not a function')
})
