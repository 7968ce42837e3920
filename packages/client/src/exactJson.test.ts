import { expect, test } from 'vitest'
import { readExactJson } from './exactJson.ts'

test('short numbers, and digits in texts, are read as always', () => {
  const text = '{"a":[1,-2.5,"18446744073709551615"]}'
  expect(readExactJson(text)).toEqual(JSON.parse(text))
})

test('every digit of long whole numbers is kept, and nothing else changes', () => {
  const text = String.raw`{"a": 18446744073709551615, "b":[-9007199254740993 , 1],"c":"x, 12345678901234567\" , 12345678901234567","\\":1234567890123456.5,"e":12345678901234567e3}`
  expect(readExactJson(text)).toEqual({
    ...JSON.parse(text),
    a: '18446744073709551615',
    b: ['-9007199254740993', 1]
  })
})

test('a long text full of escapes is read', () => {
  const long = '\\"\\\\'.repeat(500_000)
  const exact = readExactJson(`{"text":"${long}","a":12345678901234567890}`)
  expect(exact).toEqual({ text: '"\\'.repeat(500_000), a: '12345678901234567890' })
})
