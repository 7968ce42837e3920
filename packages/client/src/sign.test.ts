import { expect, test } from 'vitest'
import { ConfigurationError } from './errors.ts'
import { basicAuth } from './sign.ts'

/** The `Authorization` header of a request. */
async function authorizationOf(projectId: string, key: string): Promise<string | undefined> {
  return (await basicAuth(projectId, key)('method')).headers.Authorization
}

test('encodes the example of RFC 7617, section 2.1, in UTF-8', async () => {
  expect(await authorizationOf('test', '123£')).toBe('Basic dGVzdDoxMjPCow==')
})

test.each([
  ['demo', 'demo-server-key'],
  ['é', 'Grüße'],
  ['проект', '鍵🔑'],
  ['p', 'a:b:c'],
  ['p', 'k'.repeat(100_000)]
])('encodes %s as Node does', async (projectId, serverKey) => {
  const expected = Buffer.from(`${projectId}:${serverKey}`, 'utf8').toString('base64')
  expect(await authorizationOf(projectId, serverKey)).toBe(`Basic ${expected}`)
})

test('half a surrogate pair becomes U+FFFD, as TextEncoder makes it', async () => {
  const expected = Buffer.from(new TextEncoder().encode('p:a\ud800b')).toString('base64')
  expect(await authorizationOf('p', 'a\ud800b')).toBe(`Basic ${expected}`)
})

test.each([
  ['a:b', 'secret-key'],
  ['', 'secret-key'],
  ['p', ''],
  ['p\n', 'secret-key'],
  ['p', 'secret-key\r\nX-Evil: 1'],
  ['p', undefined as unknown as string],
  [7 as unknown as string, 'secret-key']
])('refuses %j with %j without showing the key', (projectId, key) => {
  const encode = () => basicAuth(projectId, key)
  expect(encode).toThrow(ConfigurationError)
  expect(encode).toThrow(/projectId and key must be texts/)
  expect(encode).not.toThrow(/secret-key/)
})
