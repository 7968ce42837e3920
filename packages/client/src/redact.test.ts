import { expect, test } from 'vitest'
import { redact } from './redact.ts'

const secrets = ['s3cret', 'abc']

test('blanks out secrets in texts and member names, at any depth, and nothing else', () => {
  const value = { a: ['x s3cret s3cret y', 1, null, true], 's3cret-name': { deep: 's3cret' } }
  expect(redact(value, secrets)).toEqual({
    a: ['x [redacted] [redacted] y', 1, null, true],
    '[redacted]-name': { deep: '[redacted]' }
  })
  expect(value.a[0]).toBe('x s3cret s3cret y')
})

test('leaves texts alone that only contain a very short key', () => {
  expect(redact('abcdef', secrets)).toBe('abcdef')
})

test('copies a member named __proto__ as a member', () => {
  const copy = redact(JSON.parse('{"__proto__": {"polluted": "s3cret"}}'), secrets) as object
  expect(JSON.stringify(copy)).toBe('{"__proto__":{"polluted":"[redacted]"}}')
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
})

test('finds a secret with quotes, backslashes and characters beyond ASCII', () => {
  const odd = 'clé/"\\🔑\u2028'
  expect(redact([`a ${odd} b`], [odd])).toEqual(['a [redacted] b'])
})

test('gives up as a whole on a nesting that cannot be copied', () => {
  const deep: unknown = JSON.parse(`${'['.repeat(100_000)}"s3cret"${']'.repeat(100_000)}`)
  expect(redact(deep, secrets)).toBe('[redacted]')
})

test('gives up as a whole where a secret stands as a number', () => {
  expect(redact({ a: 123456 }, ['123456'])).toBe('[redacted]')
})

test('has nothing to copy where nothing came', () => {
  expect(redact(undefined, secrets)).toBeUndefined()
})
