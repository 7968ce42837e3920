import { describe, expect, test, vi } from 'vitest'
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
  'http://evil.example/a.localhost',
  'http://10.0.0.1'
])('sends no key over plain http to %s unless told to', baseUrl => {
  expect(() => readOptions({ ...valid, baseUrl })).toThrow(
    expect.objectContaining({ code: 'CONFIGURATION', reason: 'INSECURE_BASE_URL' })
  )
  expect(readOptions({ ...valid, baseUrl, allowInsecureHttp: true }).baseUrl).toBe(baseUrl)
})

const oneWay = /^give one of serverKey, clientKey and auth \(a function or false\)$/
const badScheme = /^baseUrl must begin with https:\/\/ and a host, without spaces$/
const badPart = /^baseUrl must not have a user, a query or a fragment$/
const badEnd = /^baseUrl must end before \/evm-chain or \/solana$/

test.each([
  ['baseUrl', 'rpc.example.com', badScheme],
  ['baseUrl', '', badScheme],
  ['baseUrl', undefined, badScheme],
  ['baseUrl', '/chain-data', /^baseUrl may be a path only with auth$/],
  ['baseUrl', 'ftp://rpc.example.com', badScheme],
  ['baseUrl', 'file:///etc/passwd', badScheme],
  ['baseUrl', 'https://', badScheme],
  ['baseUrl', 'https://rpc.example.com\\@x.example', badPart],
  ['baseUrl', 'https://user:hidden@rpc.example.com', badPart],
  ['baseUrl', 'https://rpc.example.com?token=hidden', badPart],
  ['baseUrl', 'https://rpc.example.com/#svc_getTokensAndNFTs', badPart],
  ['baseUrl', 'https://rpc.example.com/v1/evm-chain', badEnd],
  ['baseUrl', 'https://rpc.example.com/solana/', badEnd],
  ['chainId', 1.5, /^chainId must be a whole number from 0; got 1.5$/],
  ['chainId', 2 ** 53, /^chainId must be a whole number/],
  ['chainId', Number.POSITIVE_INFINITY, /^chainId must be a whole number/],
  ['chainId', 'hidden', /^chainId must be a whole number from 0; got a string$/],
  ['chainId', -1, /^chainId must be a whole number from 0; got -1$/],
  ['methodPrefix', 1, /^methodPrefix must be a string$/],
  ['timeoutMs', 0, /^timeoutMs must be a whole number from 1; got 0$/],
  ['timeoutMs', -1, /^timeoutMs must be a whole number from 1/],
  ['timeoutMs', Number.NaN, /^timeoutMs must be a whole number from 1; got NaN$/],
  ['retries', -1, /^retries must be a whole number from 0/],
  ['retries', true, /^retries must be a whole number .*; got a boolean$/],
  ['maxDelayMs', -1, /^maxDelayMs must be a whole number from 0/],
  ['maxResponseBytes', 0, /^maxResponseBytes must be a whole number from 1/],
  ['maxResponseBytes', 1.5, /^maxResponseBytes must be a whole number from 1; got 1.5$/],
  ['int64', 'hidden', /^int64 must be number, string or bigint$/],
  ['clientKey', 'hidden', oneWay],
  ['auth', false, oneWay],
  ['serverKey', undefined, oneWay]
])('refuses %s %j, naming it and what was expected', (name, value, message) => {
  const read = () => readOptions({ ...valid, [name]: value })
  expect(read).toThrow(ConfigurationError)
  expect(read).toThrow(message)
  expect(read).not.toThrow(/hidden|secret-key/)
})

test('refuses what is no options at all', () => {
  for (const options of [undefined, null, 'https://rpc.example.com']) {
    expect(() => readOptions(options as never)).toThrow(ConfigurationError)
  }
})

test('completes what was left out', () => {
  expect(readOptions(valid)).toMatchObject({
    chainId: undefined,
    methodPrefix: 'svc_',
    timeoutMs: 30_000,
    retries: 2,
    maxDelayMs: 10_000,
    maxResponseBytes: 67_108_864,
    int64: 'number'
  })
  expect(readOptions({ ...valid, timeoutMs: Number.POSITIVE_INFINITY }).timeoutMs).toBe(
    Number.POSITIVE_INFINITY
  )
})

describe('ways to sign', () => {
  const { baseUrl } = valid

  test.each(['document', 'importScripts'])('a server key is refused where %s says: a browser', async name => {
    vi.stubGlobal(name, {})
    try {
      expect(() => readOptions(valid)).toThrow(
        expect.objectContaining({ code: 'CONFIGURATION', reason: 'KEY_IN_BROWSER' })
      )
      const allowed = readOptions({ ...valid, dangerouslyAllowBrowser: true })
      expect((await allowed.sign('any')).secrets).toContain('secret-key')
      const ofPage = readOptions({ baseUrl, projectId: 'project', clientKey: 'page-key' })
      expect((await ofPage.sign('any')).secrets).toContain('page-key')
    } finally {
      vi.unstubAllGlobals()
    }
  })

  test('a client key travels as a server key does', async () => {
    const headers = { Authorization: `Basic ${btoa('project:page-key')}` }
    const { sign } = readOptions({ baseUrl, projectId: 'project', clientKey: 'page-key' })
    expect(await sign('any')).toMatchObject({ headers })
  })

  test('without a key the service may be a path of the page', async () => {
    const { baseUrl, sign } = readOptions({ baseUrl: '/chain-data/', auth: false })
    expect(baseUrl).toBe('/chain-data')
    expect(await sign('any')).toEqual({ headers: {}, secrets: [] })
    expect(() => readOptions({ baseUrl: '//x.example', auth: false })).toThrow(badScheme)
  })

  test('auth is a function or false', () => {
    expect(() => readOptions({ baseUrl, auth: 'Bearer hidden' as never })).toThrow(oneWay)
  })
})
