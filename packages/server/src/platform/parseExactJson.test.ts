import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseExactJson } from './parseExactJson.ts'

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

it.each(['00000000000000000000000000000001', '-018446744073709551615'])(
  'refuses the integer %s, as JSON.parse does',
  text => {
    expect(() => JSON.parse(text)).toThrow(SyntaxError)
    expect(() => parseExactJson(text)).toThrow(SyntaxError)
  }
)

it('refuses an integer that would take long to read, and takes as many digits in a string', () => {
  const digits = '9'.repeat(1_000_000)
  expect(() => parseExactJson(`{"a":${digits}}`)).toThrow(SyntaxError)
  expect(parseExactJson(`{"a":"${digits}"}`)).toEqual({ a: digits })
  expect(parseExactJson('9'.repeat(4300))).toBe(BigInt('9'.repeat(4300)))
})

it('keeps a key __proto__ as a plain own key, and the last of equal keys, beside long integers too', () => {
  for (const long of ['1', '18446744073709551615']) {
    const value = parseExactJson(`{"n":${long},"__proto__":{"polluted":true},"a":1,"a":2}`) as object
    expect(Object.keys(value)).toEqual(['n', '__proto__', 'a'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(value).toMatchObject({ a: 2 })
  }
  const long = parseExactJson(
    '{"__proto__":[18446744073709551615],"b":{"__proto__":18446744073709551615}}'
  ) as object
  expect(Object.entries(long)[0]).toEqual(['__proto__', [18446744073709551615n]])
  expect(Object.entries(Object.entries(long)[1]?.[1] ?? {})).toEqual([['__proto__', 18446744073709551615n]])
})
