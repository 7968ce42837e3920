import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { readDataUri } from './dataUri.ts'
import { readInlineObject } from './readJsonObject.ts'

function read(uri: string) {
  const content = readDataUri(uri)
  if (content === undefined) throw new Error('no data URI')
  return readInlineObject(content)
}

const packed = (text: string | Buffer) => gzipSync(text).toString('base64')

test.each(['application/json', 'application/json;enc=gzip', 'application/gzip', 'application/json+gzip'])(
  'reads a gzipped object of type %s',
  type => {
    expect(read(`data:${type};base64,${packed('{"a":1}')}`)).toEqual({ data: { a: 1 }, weight: 7 + 2 * 48 })
  }
)

test('a gzip bomb is cut off, a broken one refused', () => {
  const bomb = packed(Buffer.alloc(64 * 1024 * 1024, 0x20))
  const reason = (expected: string) => expect.objectContaining({ context: { reason: expected } })
  expect(() => read(`data:;base64,${bomb}`)).toThrow(reason('ENCODING'))
  expect(() => read(`data:;base64,${packed('{"a":1}').slice(0, 12)}`)).toThrow(reason('ENCODING'))
})

test('an object as it is is weighed, and what is none is refused', () => {
  expect(read('data:application/json,{"a":"é"}')).toEqual({ data: { a: 'é' }, weight: 10 + 2 * 48 })
  expect(() => read('data:application/json,hello')).toThrow('Not JSON')
})

test('an object larger than a fetched one may be is refused', () => {
  const bytes = Buffer.from(`{"a":"${'x'.repeat(2 * 1024 * 1024)}"}`)
  const content = { mediaType: 'application/json', charset: 'utf-8', bytes }
  expect(() => readInlineObject(content)).toThrow('over 2097152 bytes')
})
