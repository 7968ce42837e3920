import { expect, test } from 'vitest'
import { createRedactor } from './redact.ts'

const redact = createRedactor(['s3cret', 'abc'])

test('blanks out secrets in texts and member names, at any depth, and nothing else', () => {
  const value = { a: ['x s3cret s3cret y', 1, null, true], 's3cret-name': { deep: 's3cret' } }
  expect(redact(value)).toEqual({
    a: ['x [redacted] [redacted] y', 1, null, true],
    '[redacted]-name': { deep: '[redacted]' }
  })
  expect(value.a[0]).toBe('x s3cret s3cret y')
})

test('leaves texts alone that only contain a very short key', () => {
  expect(redact('abcdef')).toBe('abcdef')
})

test('copies a member named __proto__ as a member', () => {
  const copy = redact(JSON.parse('{"__proto__": {"polluted": "s3cret"}}'))
  expect(JSON.stringify(copy)).toBe('{"__proto__":{"polluted":"[redacted]"}}')
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
})

test('survives any nesting, and drops what is deeper than 64 levels', () => {
  const deep: unknown = JSON.parse(`${'['.repeat(100_000)}"s3cret"${']'.repeat(100_000)}`)
  expect(JSON.stringify(redact(deep))).toBe(`${'['.repeat(65)}null${']'.repeat(65)}`)
})
