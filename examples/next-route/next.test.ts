import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeHost } from '../describeHost.ts'
import { type RunningExample, sourceConditions, startExample } from '../startExample.ts'

const folder = new URL('./', import.meta.url)
const next = createRequire(import.meta.url).resolve('next/dist/bin/next')

// Without any setting of the service: it is not started by a build, or that would fail.
beforeAll(async () => {
  const env = {
    PATH: process.env.PATH ?? '',
    NODE_ENV: 'production',
    NODE_OPTIONS: sourceConditions,
    NEXT_TELEMETRY_DISABLED: '1'
  } as const
  await promisify(execFile)(process.execPath, [next, 'build'], { cwd: fileURLToPath(folder), env })
}, 120_000)

const command = [next, 'start', '--port', '0', '--hostname', '127.0.0.1']
describeHost({
  name: 'a Next host',
  folder,
  command,
  basePath: '/api/chain-data',
  // Next ends like a process that the signal has ended.
  exitCode: 143
})

describe('the route for pages of the application', () => {
  const asked: (string | undefined)[] = []
  let open: ServerResponse | undefined
  const service = createServer((request, response) => {
    asked.push(request.headers.authorization)
    request.resume()
    if (request.headers.accept === 'text/event-stream') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
      open = response
    } else response.setHeader('content-type', 'application/json').end('{"result":1}')
  })
  let host: RunningExample
  beforeAll(async () => {
    await once(service.listen(0, '127.0.0.1'), 'listening')
    const { port } = service.address() as { port: number }
    host = await startExample(command, fileURLToPath(folder), {
      CHAIN_DATA_URL: `http://127.0.0.1:${port}`,
      CHAIN_DATA_SERVER_KEY: 'secret-of-the-host',
      // Of the service in this application.
      CHAIN_DATA_STORE: 'sqlite::memory:',
      CHAIN_DATA_PROJECT: 'demo:demo-server-key',
      CHAIN_DATA_EVM_31337: 'http://127.0.0.1:1'
    })
  })
  afterAll(() => {
    host?.child.kill('SIGKILL')
    service.closeAllConnections()
    service.close()
  })

  const ask = (headers: Record<string, string>, method = 'svc_getSyncStatus', init: RequestInit = {}) =>
    fetch(`${host.url}/api/keyless/evm-chain`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, chainId: 31337, params: [] }),
      ...init
    })
  const ownPage = { 'sec-fetch-site': 'same-origin' }

  it('asks the service with the key of the host, for its own pages and the listed methods only', async () => {
    expect(await (await ask(ownPage)).json()).toEqual({ result: 1 })
    expect(asked).toEqual([`Basic ${Buffer.from('demo:secret-of-the-host').toString('base64')}`])
    expect((await ask({ 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await ask({ origin: 'https://evil.example' })).status).toBe(403)
    expect((await ask({ origin: host.url })).status).toBe(200)
    expect(await (await ask(ownPage, 'rpc.discover')).json()).toMatchObject({ error: { code: -32601 } })
    const body = `[${' '.repeat(1_048_576)}]`
    expect((await ask(ownPage, '', { body })).status).toBe(413)
    expect(asked).toHaveLength(2)
  })

  it('passes events on as they come, until the page leaves', async () => {
    const answer = await ask({ ...ownPage, accept: 'text/event-stream' }, 'svc_watchAddresses')
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader.read()).value).toBe('data: 1\n\n')
    const closed = once(open!, 'close')
    await reader.cancel()
    await closed
  })
})
