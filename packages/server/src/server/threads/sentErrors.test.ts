import { StoreError } from '@chain-data/index'
import { expect, it } from 'vitest'
import { packError, unpackError } from './sentErrors.ts'

class OwnError extends Error {}

it.each([
  [new StoreError('s'), 'StoreError'],
  [new OwnError('o'), 'OwnError'],
  [new TypeError('t'), 'TypeError'],
  [Object.assign(new Error('full'), { code: 'ENOSPC' }), 'Error [ENOSPC]']
])('an error keeps class, code, message and first stack frame over a thread border: %s', (error, name) => {
  const arrived = unpackError(structuredClone(packError(error))) as Error
  expect(arrived).toBeInstanceOf(Error)
  expect(arrived).toMatchObject({ name, message: error.message })
  expect(arrived.stack?.split('\n')[1]).toContain('sentErrors.test.ts')
})

it('a cause comes along, and what is no error stays what it is', () => {
  const arrived = unpackError(structuredClone(packError(new Error('a', { cause: new StoreError('b') }))))
  expect(arrived).toMatchObject({ cause: { name: 'StoreError', message: 'b' } })
  expect(unpackError(structuredClone(packError('text')))).toBe('text')
})
