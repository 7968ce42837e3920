import { expect, test } from 'vitest'
import { exactJson } from '../../platform/exactJson.ts'
import { charsetOf, readJsonObject, toUtf8 } from './readJsonObject.ts'

const read = (text: string, charset?: string) => readJsonObject(Buffer.from(text), charset)

test('keeps unknown keys, nulls and order as they are', () => {
  const text = '{"z":null,"a":{"b":[1,null,{}]},"name":""}'
  expect(JSON.stringify(read(text))).toBe(text)
})

test('a key __proto__ is passed on and changes nothing', () => {
  const text = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'
  const data = read(text)
  expect(JSON.stringify(data)).toBe(text)
  expect('polluted' in {}).toBe(false)
  expect(Object.getPrototypeOf(data)).toBe(Object.prototype)
  expect('polluted' in data).toBe(false)
})

test('a byte order mark and other charsets are understood', () => {
  expect(read('\ufeff{"a":1}')).toEqual({ a: 1 })
  expect(readJsonObject(Buffer.from('{"a":"é"}', 'latin1'), 'latin1')).toEqual({ a: 'é' })
})

const swapped = (text: string) => Buffer.from(text, 'utf16le').swap16()
const mark = '\ufeff'

test.each<[string, Buffer, string | undefined]>([
  ['UTF-16 with a mark, little-endian', Buffer.from(`${mark}{"a":"é€"}`, 'utf16le'), undefined],
  ['UTF-16 with a mark, big-endian', swapped(`${mark}{"a":"é€"}`), undefined],
  ['UTF-16 without a mark, little-endian', Buffer.from('{"a":"é€"}', 'utf16le'), undefined],
  ['UTF-16 without a mark, big-endian', swapped('{"a":"é€"}'), undefined],
  ['UTF-8 with a mark, whatever the charset', Buffer.from(`${mark}{"a":"é€"}`), 'shift_jis'],
  ['UTF-8 that is called latin1, as servers do unasked', Buffer.from('{"a":"é€"}'), 'latin1'],
  ['windows-1252', Buffer.from('{"a":"é\x80"}', 'latin1'), 'windows-1252']
])('%s is read', (_what, bytes, charset) => {
  expect(readJsonObject(bytes, charset)).toEqual({ a: 'é€' })
  const text = toUtf8(bytes, charset ?? 'utf-8')
  expect(Buffer.from(text).toString()).toBe('{"a":"é€"}')
})

test.each([
  ['application/json', 'utf-8'],
  ['application/json; charset=UTF-8', 'utf-8'],
  ['application/json;charset="iso-8859-1"', 'windows-1252'],
  ['text/plain; x=1; charset=Shift_JIS; y=2', 'shift_jis'],
  ['application/json; charset=utf-7', 'utf-8'],
  ['', 'utf-8']
])('the charset of %j is %s', (contentType, charset) => {
  expect(charsetOf(contentType)).toBe(charset)
})

test('reads 64 levels and refuses 65, also a million, also behind strings with brackets', () => {
  const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`
  expect(read(nested(64))).toHaveProperty('a')
  expect(() => read(nested(65))).toThrow('nested deeper')
  expect(() => read('['.repeat(1_000_000))).toThrow('nested deeper')
  expect(read(`{"a":"${'[{'.repeat(1000)}\\"["}`)).toHaveProperty('a')
})

test.each(['', 'null', '[]', '[{}]', '1', '"{}"', 'true', '<html>', '{', '{"a":1}x', "{'a':1}", '{"a":NaN}'])(
  '%j is no JSON object',
  text => {
    expect(() => read(text)).toThrow(expect.objectContaining({ context: { reason: 'CONTENT' } }))
  }
)

test('an unknown charset is refused', () => {
  expect(() => read('{}', 'utf-7')).toThrow(expect.objectContaining({ context: { reason: 'CONTENT' } }))
})

test('passes integers on with every digit, and equal keys as the last one', () => {
  const text =
    '{"supply":115792089237316195423570985008687907853269984665640564039457584007913129639935,"a":1,"a":2}'
  expect(exactJson(read(text))).toBe(text.replace('"a":1,', ''))
})

test('bytes that are no UTF-8 do not spoil the object', () => {
  const bytes = Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff, 0xc3]), Buffer.from('","a":1}')])
  expect(readJsonObject(bytes)).toEqual({ name: '\ufffd\ufffd', a: 1 })
})
