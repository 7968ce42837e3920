import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { isBuiltin } from 'node:module'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { request, statusHandlers, statusOf } from '../http/startService.ts'
import { listenOn } from './startProxy.ts'
import { call, ownPage, post, useProxies } from './useProxies.ts'

const { proxyTo, proxyToService, atEnd } = useProxies()

describe('a page', () => {
  it('is answered by the service on both endpoints, with the request id of the service', async () => {
    const { url, service } = await proxyToService()
    const response = await post(`${url}/evm-chain`, call)
    expect(await response.json()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: {
        chainId: 1,
        ready: true,
        phase: 'following',
        degraded: false,
        covers: { transfers: false, internal: false, operations: false, pool: false }
      }
    })
    const requestId = response.headers.get('x-request-id')
    expect(service.logLines.filter(line => line.includes(`"${requestId}"`))).not.toEqual([])
    const solana = await post(
      `${url}/solana?chainId=101`,
      request('svc_getSyncStatus', [], { chainId: undefined })
    )
    expect(await solana.json()).toMatchObject({ chainId: 101, result: { chainId: 101 } })
  })

  it('gets the answers to a batch in order, refused methods among them', async () => {
    const { url } = await proxyToService()
    const batch = [
      call,
      request('rpc.discover', [], { id: 'x' }),
      '7',
      request('svc_getSyncStatus', [], { id: 3 })
    ]
    const answers = (await (await post(`${url}/evm-chain`, `[${batch}]`)).json()) as Record<string, unknown>[]
    expect(answers).toMatchObject([
      { id: 1, result: { chainId: 1 } },
      { id: 'x', error: { code: -32601, data: { reason: 'METHOD_NOT_FOUND' } } },
      { id: null, error: { code: -32600 } },
      { id: 3, result: { chainId: 1 } }
    ])
  })

  it('may call what the host names, under the names of the service', async () => {
    const { url } = await proxyToService(
      { methodPrefix: 'acme_', handlers: statusHandlers },
      { methods: ['svc_getSyncStatus'], methodPrefix: 'acme_' }
    )
    const outcomeOf = async (method: string) =>
      Object.keys((await (await post(`${url}/evm-chain`, request(method, []))).json()) as object)[2]
    expect(await outcomeOf('acme_getSyncStatus')).toBe('result')
    expect(await outcomeOf('svc_getSyncStatus')).toBe('error')
    expect(await outcomeOf('acme_getTransactionsByAddress')).toBe('error')
  })

  it('is told to wait as the service says', async () => {
    const { url } = await proxyToService({
      handlers: statusHandlers,
      rateLimit: { requestsPerSecond: 0.1, burst: 1 }
    })
    await post(`${url}/evm-chain`, call)
    const response = await post(`${url}/evm-chain`, call)
    expect(response.status).toBe(429)
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(1)
    expect(await response.json()).toMatchObject({ error: { data: { reason: 'RATE_LIMITED' } } })
  })

  it('is told that the service closes', async () => {
    const { url, service } = await proxyToService()
    service.beginClosing()
    const response = await post(`${url}/evm-chain`, call)
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
  })

  it('is answered through the Fetch form alike', async () => {
    const { proxy } = await proxyToService()
    const ask = (path: string, headers: Record<string, string> = {}) =>
      proxy.fetch(
        new Request(`http://app.example${path}`, {
          method: 'POST',
          body: call,
          headers: { ...ownPage, ...headers }
        })
      )
    expect(await (await ask('/evm-chain')).json()).toMatchObject({ result: { chainId: 1 } })
    expect((await ask('/metrics')).status).toBe(404)
    expect((await ask('/evm-chain', { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  })
})

it('a page that leaves while the service works ends the work', async () => {
  let signal: AbortSignal | undefined
  const { url } = await proxyToService({
    handlers: {
      svc_getSyncStatus: (_params, context) => {
        signal = context.signal
        return new Promise(() => {})
      }
    }
  })
  const outgoing = httpRequest(`${url}/evm-chain`, { method: 'POST', headers: ownPage }).on('error', () => {})
  outgoing.end(call)
  await expect.poll(() => signal).toBeDefined()
  outgoing.destroy()
  await expect.poll(() => signal?.aborted).toBe(true)
})

it('a resting connection that the service ends just when it is used is hidden from the page', async () => {
  let onSocket = 0
  const target = await listenOn((incoming, response) => {
    incoming.resume()
    const { socket } = incoming
    if (Reflect.get(socket, 'isUsed')) socket.destroy()
    else response.setHeader('content-type', 'application/json').end('{}')
    Reflect.set(socket, 'isUsed', true)
    onSocket++
  })
  atEnd(target.close)
  const { url, problems } = await proxyTo(target.url)
  expect((await post(`${url}/evm-chain`, call)).status).toBe(200)
  expect((await post(`${url}/evm-chain`, call)).status).toBe(200)
  expect([onSocket, problems]).toEqual([3, []])
})

it('more requests at once than the host allows are refused', async () => {
  let finish: (() => void) | undefined
  const { url } = await proxyToService(
    {
      handlers: {
        svc_getSyncStatus: () =>
          new Promise(resolve => {
            finish = () => resolve(statusOf(1))
          })
      }
    },
    { requestsInFlight: 1 }
  )
  const first = post(`${url}/evm-chain`, call)
  await expect.poll(() => finish).toBeDefined()
  const second = await post(`${url}/evm-chain`, call)
  expect([second.status, second.headers.get('retry-after')]).toEqual([503, '1'])
  finish?.()
  expect((await first).status).toBe(200)
})

it('slow senders keep nobody else from being answered', async () => {
  const { url } = await proxyToService({ handlers: statusHandlers }, { requestsInFlight: 1 })
  const slow = httpRequest(`${url}/evm-chain`, { method: 'POST', headers: ownPage, agent: false })
  slow.on('error', () => {}).write('[')
  atEnd(() => slow.destroy())
  await once(slow, 'socket').then(([socket]) => once(socket, 'connect'))
  expect((await post(`${url}/evm-chain`, call)).status).toBe(200)
})

it('brings nothing along but modules of Node and the protocol', async () => {
  const { metafile } = await build({
    entryPoints: [fileURLToPath(new URL('../../src/server/proxy/index.ts', import.meta.url))],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'silent'
  })
  const outside = Object.values(metafile.inputs).flatMap(({ imports }) =>
    imports.filter(each => each.external)
  )
  const packages = new Set(outside.map(({ path }) => path).filter(path => !isBuiltin(path)))
  expect([...packages]).toEqual(['@chain-data/protocol'])
  expect(outside.map(({ path }) => path)).not.toContain('node:sqlite')
})
