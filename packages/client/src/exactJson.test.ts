import { expect, test } from 'vitest'
import { readExactJson } from './exactJson.ts'

test('both readings of short numbers are one', () => {
  const { plain, exact } = readExactJson('{"a":[1,-2.5,"18446744073709551615"]}')
  expect(plain).toEqual({ a: [1, -2.5, '18446744073709551615'] })
  expect(exact).toBe(plain)
})

test('the exact reading keeps every digit of long whole numbers, and nothing else changes', () => {
  const text = String.raw`{"a": 18446744073709551615, "b":[-9007199254740993 , 1],"c":"x, 12345678901234567\" , 12345678901234567","\\":1234567890123456.5,"e":12345678901234567e3}`
  const { plain, exact } = readExactJson(text)
  expect(plain).toEqual(JSON.parse(text))
  expect(exact).toEqual({
    ...JSON.parse(text),
    a: '18446744073709551615',
    b: ['-9007199254740993', 1]
  })
})

test('a long text full of escapes is read', () => {
  const long = '\\"\\\\'.repeat(500_000)
  const { exact } = readExactJson(`{"text":"${long}","a":12345678901234567890}`)
  expect(exact).toEqual({ text: '"\\'.repeat(500_000), a: '12345678901234567890' })
})

test.each(['', '{', 'undefined', '<html>', '{"a":12345678901234567890'])('%j is not JSON', text => {
  expect(readExactJson(text)).toEqual({ plain: undefined, exact: undefined })
})
