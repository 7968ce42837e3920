import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer as createHttpServer, get as httpGet, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { chainFiles, loadSqliteDriver, openSqliteWriter } from '@chain-data/index/test'
import { afterEach, describe, expect, it } from 'vitest'
import { patient } from '../../../../../.config/patience.ts'
import { ConfigError, type ConfigInput, createServer, type Server } from '../../index.ts'
import { silentLogger } from '../../platform/logger.ts'
import { createKey } from '../projects/keyDigest.ts'

/** Nothing listens there: what needs no node must work all the same. */
const deadNode = 'http://127.0.0.1:1'
const config: ConfigInput = {
  listen: { port: 0 },
  store: 'sqlite::memory:',
  projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
  chains: {
    evm: [
      { chainId: 31337, rpcUrls: [deadNode] },
      { chainId: 5, rpcUrls: [deadNode] }
    ],
    solana: [{ chainId: 103, rpcUrls: [deadNode] }]
  }
}

const servers: Server[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map(server => server.close()))
})

async function start(change: Partial<ConfigInput> = {}): Promise<Server> {
  const server = await createServer({ ...config, ...change }, { logger: silentLogger })
  servers.push(server)
  return server
}

const call = {
  method: 'POST',
  headers: {
    authorization: `Basic ${Buffer.from('demo:demo-server-key').toString('base64')}`,
    'content-type': 'application/json'
  },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'svc_getSyncStatus', chainId: 5, params: [] })
}

/** Reads a page by another host name than its URL has, which `fetch` would not send. */
async function get(url: string, host: string): Promise<{ readonly status: number; readonly text: string }> {
  const [response]: IncomingMessage[] = await once(httpGet(url, { headers: { host } }), 'response')
  if (response === undefined) throw new Error('a response has an argument')
  return { status: response.statusCode ?? 0, text: await text(response) }
}

describe('a server', () => {
  it('answers through fetch without listening, and indexes each of its chains', async () => {
    const server = await start()
    const response = await server.fetch(new Request('http://any.host/evm-chain', call))
    expect(await response.json()).toMatchObject({ id: 1, result: { chainId: 5 } })
    expect(server.url).toBeUndefined()
    expect(server.status().map(({ chainId, backfilled }) => [chainId, backfilled])).toEqual([
      [31337, false],
      [5, false]
    ])
  })

  it('answers through the node:http server of its host', async () => {
    const server = await start()
    const host = createHttpServer(server.nodeHandler)
    await once(host.listen(0, '127.0.0.1'), 'listening')
    const response = await fetch(`http://127.0.0.1:${(host.address() as AddressInfo).port}/evm-chain`, call)
    expect(await response.json()).toMatchObject({ result: { chainId: 5 } })
    host.closeAllConnections()
    host.close()
  })

  it('listens once, tells where, and not any more when closed', async () => {
    const server = await start()
    const url = await server.listen()
    expect(await server.listen()).toBe(url)
    expect(server.url).toBe(url)
    expect((await fetch(`${url}/health/live`)).status).toBe(200)
    await Promise.all([server.close(), server.close()])
    expect(server.url).toBeUndefined()
    await expect(fetch(`${url}/health/live`)).rejects.toThrow()
    await expect(server.listen()).rejects.toThrow(ConfigError)
  })

  it('listens where others may call only with server keys that nobody guesses, also after a change of projects', async () => {
    const listen = { host: '0.0.0.0', port: 0 }
    await expect((await start({ listen })).listen()).rejects.toThrow(
      /listen\.host is "0\.0\.0\.0".* project "demo" has about 72 bits .*chain-data project create demo/
    )
    const proxied = { port: 0, trustedProxies: ['loopback'] }
    await expect((await start({ listen: proxied })).listen()).rejects.toThrow(
      /listen\.trustedProxies names a proxy, .* project "demo" has about 72 bits .*chain-data project create demo/
    )
    const strong = { projectId: 'demo', serverKey: createKey() }
    const clientKeys = [{ key: 'public-anyway', origins: ['https://dapp.example'] }]
    const server = await start({ listen, projects: [{ ...strong, clientKeys }] })
    await server.listen()
    const weak = { projectId: 'demo', serverKey: 'demo-server-key' }
    await expect(server.reloadProjects([weak])).rejects.toThrow(ConfigError)
    await server.reloadProjects([strong])
  })

  it('serves the pages of operators on loopback apart from calls, and on the main address when told so', async () => {
    const statusesAt = (url: string) =>
      Promise.all(
        ['/', '/status.json', '/metrics', '/health/live'].map(async path => (await fetch(url + path)).status)
      )
    const callTo = async (url: string) => (await fetch(`${url}/evm-chain`, call)).status
    const apart = await start()
    const url = await apart.listen()
    const { operatorUrl = '' } = apart
    expect(operatorUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(await statusesAt(url)).toEqual([404, 404, 404, 200])
    expect(await statusesAt(operatorUrl)).toEqual([200, 200, 200, 200])
    expect([await callTo(url), await callTo(operatorUrl)]).toEqual([200, 404])
    await apart.close()
    expect(apart.operatorUrl).toBeUndefined()
    await expect(fetch(operatorUrl)).rejects.toThrow()

    const together = await start({ listen: { port: 0, operator: 'main' } })
    expect(await statusesAt(await together.listen())).toEqual([200, 200, 200, 200])
    expect(together.operatorUrl).toBeUndefined()
    const without = await start({ pages: { status: false, metrics: false } })
    await without.listen()
    expect(without.operatorUrl).toBeUndefined()
  })

  it('shows the pages of operators to no web page whose name was pointed at this machine', async () => {
    const apart = await start({ pages: { hosts: ['status.internal'] } })
    const url = await apart.listen()
    const { operatorUrl = '' } = apart
    const statuses = (at: string, host: string) =>
      Promise.all(
        ['/', '/status.json', '/metrics', '/health/ready'].map(
          async path => (await get(at + path, host)).status
        )
      )
    const shown = [200, 200, 200, 503]
    for (const host of ['localhost:1', 'app.localhost', '127.0.0.9', '[::1]:80', 'STATUS.internal.:9']) {
      expect(await statuses(operatorUrl, host), host).toEqual(shown)
    }
    for (const host of ['evil.example', 'localhost.evil.example', '192.0.2.1', '[fe80::1]']) {
      expect(await statuses(operatorUrl, host), host).toEqual([421, 421, 421, 421])
    }
    const refused = await get(`${operatorUrl}/metrics`, 'evil.example')
    expect(refused.text).toContain('Add it to pages.hosts in the configuration.')
    // Balancers read health by any name.
    expect((await get(`${url}/health/ready`, 'evil.example')).status).toBe(503)

    const together = await start({ listen: { port: 0, operator: 'main' } })
    const main = await together.listen()
    expect(await statuses(main, 'evil.example')).toEqual([421, 421, 421, 503])
    expect(await statuses(main, 'localhost')).toEqual(shown)
    // A host decides itself what it mounts.
    expect((await together.fetch(new Request('http://host.example/metrics'))).status).toBe(200)
  })

  it('names hosts of nodes to operators alone, and next steps not in answers to callers', async () => {
    const rpcUrls = ['http://user:hunter22@127.0.0.1:1/v2/secret-path?key=secret-query']
    const server = await start({
      chains: { evm: [{ chainId: 5, rpcUrls }], solana: [{ chainId: 103, rpcUrls }] }
    })
    const url = await server.listen()
    const textAt = async (page: string) => (await fetch(page)).text()
    const { operatorUrl } = server
    const cause = '127.0.0.1:1 cannot be reached (ECONNREFUSED); check that it runs'
    for (const page of ['/health/ready', '/status.json', '/']) {
      const twice = expect.stringMatching(/(127\.0\.0\.1:1 cannot[\s\S]*){2}/)
      await expect.poll(() => textAt(`${operatorUrl}${page}`), { timeout: patient(5_000) }).toEqual(twice)
      expect(await textAt(`${operatorUrl}${page}`)).toContain(cause)
    }
    const asked = (endpoint: string, chainId: number, method: string, params: readonly unknown[]) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, chainId, params })
      return fetch(`${url}${endpoint}`, { ...call, body }).then(response => response.text())
    }
    const answers = await Promise.all([
      asked('/evm-chain', 5, 'svc_getSyncStatus', []),
      asked('/solana', 103, 'svc_getSyncStatus', []),
      asked('/evm-chain', 5, 'svc_getTransactionsByAddress', [`0x${'ab'.repeat(20)}`])
    ])
    for (const answer of answers) {
      expect(answer).toContain('upstream 1 cannot be reached (ECONNREFUSED)')
      expect(answer).not.toMatch(/check that it runs|nothing listens/)
    }
    const forCallers = [...answers, await textAt(`${url}/health/ready`)]
    for (const text of forCallers) expect(text).not.toContain('127.0.0.1')
    const all = [...forCallers, await textAt(`${operatorUrl}/`), await textAt(`${operatorUrl}/health/ready`)]
    for (const text of all) expect(text).not.toMatch(/hunter22|secret/)
  })

  it('takes any free port for the pages of operators where the one after its own is taken, and only then', async () => {
    const other = createHttpServer()
    await once(other.listen(0, '127.0.0.1'), 'listening')
    const { port } = other.address() as AddressInfo
    const beside = await start({ listen: { port: port - 1 } })
    // The port before may be taken, too.
    if ((await beside.listen().catch(() => undefined)) !== undefined) {
      expect(beside.operatorUrl).not.toBe(`http://127.0.0.1:${port}`)
      expect(beside.operatorUrl).toBeDefined()
    }
    const told = await start({ listen: { port: 0, operator: { port } } })
    await expect(told.listen()).rejects.toMatchObject({ code: 'EADDRINUSE' })
    expect(told.url).toBeUndefined()
    other.close()
  })

  it('told to listen twice at once, listens on one address', async () => {
    const server = await start()
    const [first, second] = await Promise.all([server.listen(), server.listen()])
    expect(second).toBe(first)
  })

  it('closed while it begins to listen does not listen', async () => {
    const server = await start()
    const listening = server.listen()
    await server.close()
    const url = await listening
    expect(server.url).toBeUndefined()
    await expect(fetch(`${url}/health/live`)).rejects.toThrow()
  })

  it('names its methods as configured, in its discovery document too', async () => {
    const server = await start({ methodPrefix: 'acme_' })
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'rpc.discover', params: [] })
    const response = await server.fetch(new Request('http://x/solana', { ...call, body }))
    const { result } = (await response.json()) as { result: { methods: { name: string }[] } }
    expect(result.methods.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['acme_getTransactionsByAddress', 'enhancedGetTokensAndNFTs', 'rpc.discover'])
    )
  })

  it.each<[string, Partial<ConfigInput>]>([
    ['a wrong key', { listen: { port: -1 } }],
    ['a store without a database', { store: 'postgres://localhost' }],
    ['a store that is none', { store: 'sqlite://x' }]
  ])('is not made from a configuration with %s', async (_what, change) => {
    await expect(createServer({ ...config, ...change }, { logger: silentLogger })).rejects.toThrow(
      ConfigError
    )
  })

  it('refuses a store of another format, and leaves nothing running', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'chain-data-'))
    try {
      const identity = { chainId: 5, genesisHash: `0x${'5'.repeat(64)}` as const }
      await (await openSqliteWriter(folder, identity)).close()
      const connection = loadSqliteDriver().open(chainFiles(folder, 5).database, { busyTimeoutMs: 1_000 })
      connection.exec('PRAGMA user_version = 7')
      connection.close()
      const before = process.getActiveResourcesInfo().length
      const starting = createServer({ ...config, store: `sqlite:${folder}` }, { logger: silentLogger })
      await expect(starting).rejects.toThrow('the store evm-5.sqlite was written by another build')
      expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual(before)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
