import { expect, test } from 'vitest'
import type { ClientOptions } from './ClientOptions.ts'
import { ConfigurationError } from './errors.ts'
import { readOptions } from './readOptions.ts'

const valid: ClientOptions = {
  baseUrl: 'https://rpc.example.com',
  projectId: 'project',
  serverKey: 'secret-key'
}

test.each([
  ['https://rpc.example.com', 'https://rpc.example.com'],
  ['https://rpc.example.com/', 'https://rpc.example.com'],
  ['https://rpc.example.com:8443/v1/chain//', 'https://rpc.example.com:8443/v1/chain'],
  ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
  ['http://127.8.9.1', 'http://127.8.9.1'],
  ['http://localhost:8080/', 'http://localhost:8080'],
  ['http://chain.localhost', 'http://chain.localhost'],
  ['http://[::1]:8080', 'http://[::1]:8080']
])('takes %s for %s', (baseUrl, expected) => {
  expect(readOptions({ ...valid, baseUrl }).baseUrl).toBe(expected)
})

test.each([
  'http://rpc.example.com',
  'http://127.evil.example',
  'http://localhost.evil.example',
  'http://10.0.0.1'
])('sends no key over plain http to %s unless told to', baseUrl => {
  expect(() => readOptions({ ...valid, baseUrl })).toThrow(
    expect.objectContaining({ code: 'CONFIGURATION', reason: 'INSECURE_BASE_URL' })
  )
  expect(readOptions({ ...valid, baseUrl, allowInsecureHttp: true }).baseUrl).toBe(baseUrl)
})

test.each([
  ['baseUrl', 'rpc.example.com', /baseUrl must be an absolute URL/],
  ['baseUrl', '', /baseUrl must be an absolute URL/],
  ['baseUrl', undefined, /baseUrl must be an absolute URL/],
  ['baseUrl', 'ftp://rpc.example.com', /baseUrl must be an absolute URL/],
  ['baseUrl', 'file:///etc/passwd', /baseUrl must be an absolute URL/],
  ['baseUrl', 'https://user:hidden@rpc.example.com', /baseUrl must be an absolute URL/],
  ['baseUrl', 'https://rpc.example.com?token=hidden', /baseUrl must be an absolute URL/],
  ['baseUrl', 'https://rpc.example.com/#svc_getTokensAndNFTs', /baseUrl must be an absolute URL/],
  ['baseUrl', 'https://rpc.example.com/v1/evm-chain', /baseUrl must not end in \/evm-chain/],
  ['baseUrl', 'https://rpc.example.com/solana/', /baseUrl must not end in .*\/solana/],
  ['chainId', 1.5, /chainId must be a whole number, not 1.5/],
  ['chainId', 2 ** 53, /chainId must be a whole number/],
  ['chainId', 'hidden', /chainId must be a whole number, not a value of type string/],
  ['methodPrefix', 1, /methodPrefix must be a string/],
  ['timeoutMs', 0, /timeoutMs must be above 0/],
  ['timeoutMs', -1, /timeoutMs must be above 0/],
  ['timeoutMs', Number.NaN, /timeoutMs must be above 0/],
  ['timeoutMs', 2 ** 31, /timeoutMs must be above 0 and at most 2147483647/],
  ['maxResponseBytes', 0, /maxResponseBytes must be a whole number above 0/],
  ['maxResponseBytes', Number.POSITIVE_INFINITY, /maxResponseBytes must be a whole number/]
])('refuses %s %j, naming it and what was expected', (name, value, message) => {
  const read = () => readOptions({ ...valid, [name]: value })
  expect(read).toThrow(ConfigurationError)
  expect(read).toThrow(message)
  expect(read).not.toThrow(/hidden|secret-key/)
})

test('refuses what is no options at all', () => {
  for (const options of [undefined, null, 'https://rpc.example.com']) {
    expect(() => readOptions(options as never)).toThrow(/needs an object with baseUrl/)
  }
})

test('completes what was left out', () => {
  expect(readOptions(valid)).toMatchObject({
    chainId: undefined,
    methodPrefix: 'svc_',
    timeoutMs: 30_000,
    maxResponseBytes: 67_108_864
  })
  expect(readOptions({ ...valid, timeoutMs: Number.POSITIVE_INFINITY }).timeoutMs).toBe(
    Number.POSITIVE_INFINITY
  )
})
