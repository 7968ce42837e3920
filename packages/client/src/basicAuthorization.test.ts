import { expect, test } from 'vitest'
import { basicAuthorization } from './basicAuthorization.ts'
import { ConfigurationError } from './errors.ts'

test('encodes the example of RFC 7617, section 2.1, in UTF-8', () => {
  expect(basicAuthorization('test', '123£')).toBe('Basic dGVzdDoxMjPCow==')
})

test.each([
  ['demo', 'demo-server-key'],
  ['é', 'Grüße'],
  ['проект', '鍵🔑'],
  ['p', 'a:b:c'],
  ['p', 'k'.repeat(100_000)]
])('encodes %s as Node does', (projectId, serverKey) => {
  const expected = Buffer.from(`${projectId}:${serverKey}`, 'utf8').toString('base64')
  expect(basicAuthorization(projectId, serverKey)).toBe(`Basic ${expected}`)
})

test.each([
  ['a:b', 'secret-key', /projectId must not contain ':'/],
  ['', 'secret-key', /projectId must be a string that is not empty/],
  ['p', '', /serverKey must be a string that is not empty/],
  ['p\n', 'secret-key', /projectId must not contain control characters/],
  ['p', 'secret-key\r\nX-Evil: 1', /serverKey must not contain control characters/],
  ['p', undefined as unknown as string, /serverKey must be a string/],
  [7 as unknown as string, 'secret-key', /projectId must be a string/]
])('refuses %j with %j without showing the key', (projectId, serverKey, message) => {
  const encode = () => basicAuthorization(projectId, serverKey)
  expect(encode).toThrow(ConfigurationError)
  expect(encode).toThrow(message)
  expect(encode).not.toThrow(/secret-key/)
})
