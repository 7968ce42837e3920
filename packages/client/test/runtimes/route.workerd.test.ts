import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTarget } from '../route/startRoute.ts'
import { bundle, sourceConditions } from './bundle.ts'
import { findWorkerd, type RunningWorker, startWorker } from './workerd.ts'

const binary = findWorkerd()
if (binary === undefined) process.stderr.write('the route in workerd is skipped: there is no binary\n')

describe.skipIf(binary === undefined)('a route in workerd', () => {
  let service: Awaited<ReturnType<typeof startTarget>>
  let worker: RunningWorker
  beforeAll(async () => {
    service = await startTarget((request, response) => {
      const head = { 'content-type': 'application/json', 'set-cookie': 'a=b' }
      if (request.url?.startsWith('/solana')) response.writeHead(302, { location: '/evm-chain' }).end()
      else if (request.headers.accept !== 'text/event-stream')
        response.writeHead(200, head).end('{"result":1}')
      else response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
    })
    const { outputFiles } = await bundle({
      program: `
        import { createRoute } from '@chain-data/client/route'
        const [projectId, serverKey] = ['demo', 'demo-server-key']
        const allow = ['svc_getSyncStatus']
        export default { fetch: createRoute({ baseUrl: '${service.url}', projectId, serverKey, allow }) }`,
      format: 'esm',
      conditions: [...sourceConditions, 'workerd', 'worker', 'browser']
    })
    worker = await startWorker(binary ?? '', outputFiles[0]?.text ?? '')
  })
  afterAll(async () => {
    await worker?.[Symbol.asyncDispose]()
    service?.close()
  })

  const call = '{"jsonrpc":"2.0","id":1,"method":"svc_getSyncStatus","chainId":1,"params":[]}'
  const ask = (headers: Record<string, string> = {}, path = '/evm-chain', body = call) =>
    fetch(`${worker.url}/api${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', ...headers },
      body
    })

  test('answers a page with the key of the worker', async () => {
    const answer = await ask({ cookie: 'session=secret' })
    expect([await answer.json(), answer.headers.get('set-cookie')]).toEqual([{ result: 1 }, null])
    const { headers } = service.received.at(-1) ?? {}
    expect(headers?.authorization).toBe(`Basic ${btoa('demo:demo-server-key')}`)
    expect(headers?.cookie).toBeUndefined()
  })

  test('refuses other sites, other methods and large bodies, and follows no redirect', async () => {
    const before = service.received.length
    expect((await ask({ 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    const other = await ask({}, '/evm-chain', call.replace('svc_getSyncStatus', 'rpc.discover'))
    expect(await other.json()).toMatchObject({ error: { code: -32601 } })
    expect((await ask({}, '/evm-chain', ' '.repeat(1_048_577))).status).toBe(413)
    expect(service.received).toHaveLength(before)
    expect((await ask({}, '/solana')).status).toBe(503)
    expect(service.received).toHaveLength(before + 1)
  })

  test('passes events on as they come', async () => {
    const answer = await ask({ accept: 'text/event-stream' })
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader.read()).value).toBe('data: 1\n\n')
    await reader.cancel()
  })
})
