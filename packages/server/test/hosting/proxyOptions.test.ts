import { describe, expect, it } from 'vitest'
import { ConfigError, createProxyHandler, type ProxyOptions } from '../../src/server/proxy/index.ts'

describe('options that cannot work are refused when the handler is made', () => {
  const good: ProxyOptions = {
    target: 'https://chain-data.example',
    projectId: 'demo',
    serverKey: 'demo-server-key'
  }
  it.each<[string, object]>([
    ['target', { target: 'http://chain-data.example' }],
    ['target', { target: 'http://127.0.0.1.evil.example' }],
    ['target', { target: 'http://localhost.evil.example' }],
    ['target', { target: 'https://user:pass@chain-data.example' }],
    ['target', { target: 'https://chain-data.example/?key=1' }],
    ['target', { target: 'https://chain-data.example/#x' }],
    ['target', { target: 'https://chain-data.example/evm-chain/' }],
    ['target', { target: 'ftp://chain-data.example' }],
    ['target', { target: '/chain-data' }],
    ['target', { target: undefined }],
    ['projectId', { projectId: 'de:mo' }],
    ['projectId', { projectId: '' }],
    ['serverKey', { serverKey: 'demo-server-key\r\nX-A: b' }],
    ['serverKey', { serverKey: undefined }],
    ['serverKey', { clientKey: 'demo-client-key' }],
    ['clientKey', { serverKey: undefined, clientKey: '' }],
    ['basePath', { basePath: '/api/' }],
    ['methods', { methods: ['eth_call'] }],
    ['methods', { methods: ['constructor'] }],
    ['origins', { origins: ['https://app.example/'] }],
    ['origins', { origins: ['null'] }],
    ['hosts', { hosts: [] }],
    ['hosts', { hosts: 'app.example' }],
    ['hosts', { hosts: ['https://app.example'] }],
    ['hosts', { hosts: ['app.example/x'] }],
    ['hosts', { hosts: ['app.example', undefined] }],
    ['bodyBytes', { bodyBytes: 0 }],
    ['idleTimeoutMs', { idleTimeoutMs: Number.POSITIVE_INFINITY }]
  ])('%s: %j', (option, change) => {
    const make = () => createProxyHandler({ ...good, ...change } as ProxyOptions)
    expect(make).toThrow(ConfigError)
    expect(make).toThrow(option)
    expect(make).toThrow(/^(?!.*(demo-server-key|pass)).*expected/)
  })

  it.each([
    'https://chain-data.example/base/',
    'http://localhost:8080',
    'http://app.localhost',
    'http://127.0.0.1:8080/x',
    'http://[::1]:8080'
  ])('%s is a target', target => {
    expect(() => createProxyHandler({ ...good, target })).not.toThrow()
  })

  it('plain http beyond loopback is one when the host says so', () => {
    expect(() =>
      createProxyHandler({ ...good, target: 'http://chain-data.internal', allowInsecureHttp: true })
    ).not.toThrow()
  })
})
