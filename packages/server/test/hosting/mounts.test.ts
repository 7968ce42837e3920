import express from 'express'
import createFastify from 'fastify'
import { Hono } from 'hono'
import { afterEach, describe, expect, it } from 'vitest'
import { authorization, request, startService, statusHandlers } from '../http/startService.ts'
import { listenOn } from './listenOn.ts'

const init = {
  method: 'POST',
  headers: { authorization, 'content-type': 'application/json' },
  body: request('svc_getSyncStatus', [])
}
const readByHost = 'the host has read the body already: hand on its requests before any body parser'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

describe('a host that takes its path off needs no base path', () => {
  it('Express: use', async () => {
    const service = startService({ handlers: statusHandlers })
    const host = await listenOn(express().use('/deep/chain-data', service.nodeHandler))
    cleanUps.push(host.close)
    const response = await fetch(`${host.url}/deep/chain-data/evm-chain?chainId=1`, init)
    expect(await response.json()).toMatchObject({ result: { chainId: 1 } })
    expect((await fetch(`${host.url}/evm-chain`, init)).headers.get('x-request-id')).toBeNull()
  })

  it('Hono: mount, which gives its own things as further arguments', async () => {
    const service = startService({ handlers: statusHandlers })
    const host = new Hono().mount('/deep/chain-data', service.fetch)
    const response = await host.request('/deep/chain-data/evm-chain?chainId=1', init, { address: 7 })
    expect(await response.json()).toMatchObject({ result: { chainId: 1 } })
  })
})

describe('a body parser that runs first is told to the operator, and the caller is not left waiting', () => {
  it('Express: json', async () => {
    const service = startService({ handlers: statusHandlers })
    const host = await listenOn(express().use(express.json()).use('/chain-data', service.nodeHandler))
    cleanUps.push(host.close)
    const response = await fetch(`${host.url}/chain-data/evm-chain`, init)
    expect(await response.json()).toMatchObject({ error: { data: { reason: 'INTERNAL' } } })
    expect(service.logLines.join()).toContain(readByHost)
  })

  it('Fastify: its own parser, outside a scope without one', async () => {
    const service = startService({ handlers: statusHandlers, basePath: '/chain-data' })
    const host = createFastify()
    host.all('/chain-data/*', (incoming, reply) => {
      reply.hijack()
      service.nodeHandler(incoming.raw, reply.raw)
    })
    cleanUps.push(() => host.close())
    const url = await host.listen({ host: '127.0.0.1', port: 0 })
    const response = await fetch(`${url}/chain-data/evm-chain`, init)
    expect(await response.json()).toMatchObject({ error: { data: { reason: 'INTERNAL' } } })
    expect(service.logLines.join()).toContain(readByHost)
  })

  it('Hono: a validator, which reads the Request that is handed on', async () => {
    const service = startService({ handlers: statusHandlers, basePath: '/chain-data' })
    const host = new Hono()
    host.use(async (context, next) => {
      await context.req.raw.text()
      await next()
    })
    host.all('/chain-data/*', context => service.fetch(context.req.raw))
    const response = await host.request('/chain-data/evm-chain', init)
    expect(await response.json()).toMatchObject({ error: { data: { reason: 'INTERNAL' } } })
    expect(service.logLines.join()).toContain(readByHost)
  })
})
