import { expect, it } from 'vitest'
import { ConfigError, NodeContradictionError, NodeUnavailableError } from '../platform/errors.ts'
import { silentLogger } from '../platform/logger.ts'
import { toWireError } from './toWireError.ts'

const call = { requestId: 'r-1', logger: silentLogger }

it.each([
  ['a node that does not answer', new NodeUnavailableError('upstream 1 cannot be reached (ECONNREFUSED)')],
  ['a node that contradicts itself', new NodeContradictionError('block 7: no receipts')],
  ['nodes that all serve another chain', new ConfigError('chain 1: upstream 1 serves chain 5, expected 1')]
])('%s makes the chain unavailable, and the caller learns no more than that', (_, failure) => {
  const { reason, error } = toWireError(failure, call)
  expect(reason).toBe('UPSTREAM_UNAVAILABLE')
  expect(error.code).toBe(-32002)
  expect(JSON.stringify(error)).not.toMatch(/upstream 1|ECONNREFUSED|receipts/)
})

it('a bug is told as an id only', () => {
  const { reason, error } = toWireError(new TypeError('x is not a function'), call)
  expect(reason).toBe('INTERNAL')
  expect(error.data).toMatchObject({ requestId: 'r-1' })
  expect(JSON.stringify(error)).not.toContain('not a function')
})
