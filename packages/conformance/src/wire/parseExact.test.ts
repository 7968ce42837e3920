import { expect, it } from 'vitest'
import { digitsOf, ExactNumber, parseExact } from './parseExact.ts'

it('keeps every digit of numbers that would be rounded or written in another way', () => {
  const text = '{"a":18446744073709551615,"b":1.0,"c":-7,"d":"12345678901234567890","e":[1e2,0.5]}'
  const value = parseExact(text) as Record<string, unknown>
  expect(digitsOf(value.a)).toBe('18446744073709551615')
  expect(digitsOf(value.b)).toBe('1.0')
  expect(digitsOf(value.c)).toBe('-7')
  expect(value.d).toBe('12345678901234567890')
  expect(value.e).toEqual([new ExactNumber('1e2'), 0.5])
})

it('keeps them wherever they stand', () => {
  expect(digitsOf(parseExact('18446744073709551615'))).toBe('18446744073709551615')
  expect(parseExact('[ -9007199254740993 ]')).toEqual([new ExactNumber('-9007199254740993')])
  expect(parseExact('{"a": -0}')).toEqual({ a: new ExactNumber('-0') })
  expect(parseExact('{"a":\n1E2}')).toEqual({ a: new ExactNumber('1E2') })
})

it('leaves digits in texts alone, behind escapes too', () => {
  expect(parseExact('["\\"18446744073709551615","\\\\",18]')).toEqual(['"18446744073709551615', '\\', 18])
})

it('throws where the text is no JSON', () => {
  expect(() => parseExact('{"a":01}')).toThrow(SyntaxError)
  expect(() => parseExact('{')).toThrow(SyntaxError)
})
