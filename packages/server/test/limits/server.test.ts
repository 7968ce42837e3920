import { afterEach, expect, it } from 'vitest'
import { type ConfigInput, createServer, type Server } from '../../src/index.ts'
import { silentLogger } from '../../src/platform/logger.ts'

let server: Server | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

/** A whole server, over a node that nobody asks. */
async function start(limits: Partial<ConfigInput>) {
  server = await createServer(
    {
      store: 'sqlite::memory:',
      projects: [
        {
          projectId: 'demo',
          serverKey: 'demo-server-key',
          clientKeys: [{ key: 'demo-client-key', origins: ['https://dapp.example'] }]
        }
      ],
      chains: { solana: [{ chainId: 103, rpcUrls: ['http://127.0.0.1:1'] }] },
      ...limits
    },
    { logger: silentLogger }
  )
  return server
}

const statusBody = JSON.stringify({ jsonrpc: '2.0', method: 'rpc.discover', chainId: 103, params: [] })

async function ask(key: string, forwarded: string, body = statusBody): Promise<number> {
  const headers = {
    authorization: `Basic ${btoa(`demo:${key}`)}`,
    origin: 'https://dapp.example',
    'content-type': 'application/json',
    'x-forwarded-for': forwarded
  }
  const request = new Request('http://service/solana', { method: 'POST', body, headers })
  return (await server!.fetch(request, { address: '10.0.0.1' })).status
}

it('limits wrong keys and pages by the address that a trusted proxy names, as configured', async () => {
  await start({
    listen: { trustedProxies: ['10.0.0.0/8'] },
    login: { attempts: 2, windowMs: 60_000 },
    rateLimit: {
      clientKeys: { requestsPerSecond: 0.01, burst: 3 },
      perAddress: { requestsPerSecond: 0.01, burst: 2 }
    }
  })
  const wrong = [await ask('no', '192.0.2.1'), await ask('no', '192.0.2.1'), await ask('no', '192.0.2.1')]
  expect(wrong).toEqual([401, 401, 429])
  expect(await ask('demo-server-key', '192.0.2.2')).toBe(200)

  const page = 'demo-client-key'
  const one = [await ask(page, '192.0.2.3'), await ask(page, '192.0.2.3'), await ask(page, '192.0.2.3')]
  expect(one).toEqual([200, 200, 429])
  expect([await ask(page, '192.0.2.4'), await ask(page, '192.0.2.5')]).toEqual([200, 429])
  expect(await ask('demo-server-key', '192.0.2.3')).toBe(200)
})

it('has no limits where they are switched off', async () => {
  await start({ login: false, rateLimit: false, overload: false })
  for (let attempt = 0; attempt < 25; attempt++) expect(await ask('no', '192.0.2.1')).toBe(401)
  for (let attempt = 0; attempt < 60; attempt++) expect(await ask('demo-client-key', '192.0.2.1')).toBe(200)
})
