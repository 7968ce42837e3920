import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/platform/errors.ts'
import { requireBasePath } from '../../src/server/http/requestForm.ts'
import { request, startService, statusHandlers } from '../http/startService.ts'

const call = request('svc_getSyncStatus', [])

describe('a service below a path', () => {
  const service = startService({ handlers: statusHandlers, basePath: '/api/chain-data' })

  it.each(['/api/chain-data/evm-chain', '/api/chain-data/evm-chain/', '/api/chain-data/evm-chain?chainId=1'])(
    'answers at %s',
    async path => {
      const response = await service.post(path, call)
      expect(await response.json()).toMatchObject({ result: { chainId: 1 } })
    }
  )

  it('has its pages there too', async () => {
    const response = await service.fetch(new Request('http://service/api/chain-data/health/live'))
    expect(await response.json()).toEqual({ live: true })
    const page = await service.fetch(new Request('http://service/api/chain-data/'))
    expect(page.headers.get('content-type')).toMatch(/^text\/html/)
  })

  it.each([
    '/evm-chain',
    '/health/live',
    '/',
    '/api/chain-data',
    '/api/chain-data-2/evm-chain',
    '/api/chain-dataevm-chain',
    '/api//chain-data/evm-chain',
    '/API/chain-data/evm-chain',
    '/api/chain-data/api/chain-data/evm-chain',
    '/api/chain-data//evm-chain'
  ])('has nothing at %s', async path => {
    const response = await service.post(path, call)
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ id: null, error: { data: { reason: 'NOT_FOUND' } } })
  })

  it('is served there by node:http as well', async () => {
    const listener = await service.listen()
    try {
      expect((await fetch(`${listener.url}/api/chain-data/health/live`)).status).toBe(200)
      expect((await fetch(`${listener.url}/health/live`)).status).toBe(404)
    } finally {
      await listener.close(0)
    }
  })
})

it.each(['', '/api', '/api/chain-data', '/v1.0/a_b~c'])('%j is a base path', basePath => {
  expect(() => requireBasePath(basePath)).not.toThrow()
})

it.each(['/', 'api', '/api/', '//api', '/api?x=1', '/api#x', '/a b', '/%61pi', 'http://host/api', '/api\\x'])(
  '%j is no base path, and the error says what one is',
  basePath => {
    expect(() => requireBasePath(basePath)).toThrow(ConfigError)
    expect(() => requireBasePath(basePath)).toThrow('expected a path such as "/api/chain-data"')
  }
)
