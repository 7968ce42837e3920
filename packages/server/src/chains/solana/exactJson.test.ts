import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseExactJson } from './exactJson.ts'

it('keeps every digit of integers beyond 2^53', () => {
  expect(parseExactJson('{"a":18446744073709551615,"b":[-9007199254740993],"c":9007199254740991}')).toEqual({
    a: 18446744073709551615n,
    b: [-9007199254740993n],
    c: 9007199254740991
  })
})

it('leaves digits inside strings and fractions alone', () => {
  const text = '{"18446744073709551615":"\\"18446744073709551615\\\\","f":18446744073709551615.5,"e":1e20}'
  expect(parseExactJson(text)).toEqual(JSON.parse(text))
})

it('agrees with JSON.parse wherever numbers are safe', () => {
  const safe = fc.oneof(fc.string(), fc.maxSafeInteger(), fc.boolean(), fc.constant(null))
  fc.assert(
    fc.property(fc.oneof(fc.array(safe), fc.dictionary(fc.string(), safe)), value => {
      const text = JSON.stringify(value)
      expect(parseExactJson(text)).toEqual(JSON.parse(text))
    })
  )
})

it('refuses what is no JSON', () => {
  expect(() => parseExactJson('{"a":184467440737095516150x}')).toThrow(SyntaxError)
})
