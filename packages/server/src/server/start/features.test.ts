import { documentWithPrefix } from '@chain-data/protocol/document'
import { afterEach, describe, expect, it } from 'vitest'
import {
  Answered,
  allFeatures,
  type ConfigInput,
  createServer,
  defineMethod,
  type Feature,
  type Server
} from '../../index.ts'
import { silentLogger } from '../../platform/logger.ts'

/** Nothing listens there. */
const deadNode = 'http://127.0.0.1:1'
const config: ConfigInput = {
  listen: { port: 0 },
  store: 'sqlite::memory:',
  projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
  chains: { evm: [{ chainId: 5, rpcUrls: [deadNode] }], solana: [{ chainId: 103, rpcUrls: [deadNode] }] }
}

const servers: Server[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map(server => server.close()))
})

async function start(features: readonly Feature[] | undefined, change: Partial<ConfigInput> = {}) {
  const options = { logger: silentLogger, ...(features && { features }) }
  const server = await createServer({ ...config, ...change }, options)
  servers.push(server)
  return server
}

async function ask(
  server: Server,
  method: string,
  path = '/evm-chain',
  headers: Record<string, string> = {}
) {
  const response = await server.fetch(
    new Request(`http://any.host${path}`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from('demo:demo-server-key').toString('base64')}`,
        'content-type': 'application/json',
        ...headers
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method,
        chainId: path === '/solana' ? 103 : 5,
        params: []
      })
    })
  )
  const { result, error } = (await response.json()) as {
    readonly result?: unknown
    readonly error?: { readonly data: { readonly reason: string } }
  }
  return error?.data.reason ?? result
}

async function methodsOf(server: Server): Promise<readonly string[]> {
  const { methods } = (await ask(server, 'rpc.discover')) as {
    readonly methods: readonly { readonly name: string }[]
  }
  return methods.map(({ name }) => name).sort()
}

const seed = [
  'enhancedGetTokensAndNFTs',
  'rpc.discover',
  'svc_getSyncStatus',
  'svc_getTokensAndNFTs',
  'svc_getTransactionsByAddress'
]

describe('the features of a server', () => {
  it('are all that come with it where no list is given', async () => {
    const server = await start(undefined)
    expect(await methodsOf(server)).toEqual(
      documentWithPrefix('svc_')
        .methods.map(({ name }) => name)
        .sort()
    )
    expect((await server.fetch(new Request('http://any.host/'))).status).toBe(200)
  })

  it('are none with an empty list: the methods of the service document, the status of a chain, health', async () => {
    const server = await start([])
    expect(await methodsOf(server)).toEqual(seed)
    expect(await ask(server, 'svc_getSyncStatus')).toMatchObject({ chainId: 5 })
    expect(await ask(server, 'svc_verifyHistory')).toBe('METHOD_NOT_FOUND')
    expect(await ask(server, 'enhancedGetTransactionsByAddress', '/solana')).toBe('METHOD_NOT_FOUND')
    for (const [path, status] of [
      ['/', 404],
      ['/metrics', 404],
      ['/health/live', 200]
    ] as const) {
      expect((await server.fetch(new Request(`http://any.host${path}`))).status).toBe(status)
    }
    await server.listen()
    expect(server.operatorUrl).toBeUndefined()
  })

  it('answer each for itself, whichever others there are', async () => {
    for (const feature of allFeatures) {
      const server = await start([feature])
      expect(await ask(server, 'svc_getSyncStatus')).toMatchObject({ chainId: 5 })
    }
  })

  it.each<[string, string, Partial<ConfigInput>]>([
    ['metadata', 'token-metadata', { metadata: { memoryBytes: 1 } }],
    ['deepHistory', 'older-history', { deepHistory: { maxCalls: 200 } }],
    ['history.deepCacheBytes', 'older-history', { history: { deepCacheBytes: 1 } }],
    [
      'chains.evm.deepHistory',
      'older-history',
      { chains: { evm: [{ chainId: 5, rpcUrls: [deadNode], deepHistory: 'node' }] } }
    ],
    ['limits.streams', 'live-streams', { limits: { streams: 5 } }],
    ['pages', 'operator-pages', { pages: { status: false } }]
  ])(
    'are named where the key %s is set and only %s, which is not there, reads it',
    async (key, name, change) => {
      await expect(start([], change)).rejects.toThrow(
        `${key} is set, and only the feature ${name} reads it; expected the feature in the list, or no such key`
      )
      await start(
        allFeatures.filter(feature => feature.name === name),
        change
      )
    }
  )

  it('can be of a host: a method, and a guard of calls whose caller is known', async () => {
    const own: Feature = {
      name: 'acme',
      open: ({ evm }) => ({
        methods: [
          defineMethod({
            name: 'acme_whoami',
            readParams: () => undefined,
            answer: async (_params, { chainId, projectId }) => ({
              chainId,
              projectId,
              chains: [...evm.keys()]
            })
          })
        ],
        guards: [
          ({ caller, request }) => {
            if (request.header('x-office') === 'berlin') return undefined
            const body = JSON.stringify({ error: { data: { reason: `not ${caller.projectId}'s office` } } })
            return new Answered({ status: 403, headers: {}, body })
          }
        ]
      })
    }
    const server = await start([own])
    expect(await ask(server, 'acme_whoami', '/evm-chain', { 'x-office': 'berlin' })).toEqual({
      ...{ chainId: 5, projectId: 'demo', chains: [5] }
    })
    expect(await ask(server, 'acme_whoami')).toBe("not demo's office")
    expect(await methodsOf(await start([]))).not.toContain('acme_whoami')
  })

  it('are closed, the last one first, when one after them cannot be opened', async () => {
    const log: string[] = []
    const noted = (name: string): Feature => ({
      name,
      open: () => {
        log.push(`${name} opens`)
        return { close: async () => void log.push(`${name} closes`) }
      }
    })
    const failing: Feature = { name: 'bad', open: () => Promise.reject(new Error('no license')) }
    await expect(start([noted('a'), noted('b'), failing])).rejects.toThrow('no license')
    expect(log).toEqual(['a opens', 'b opens', 'b closes', 'a closes'])
    await expect(start([noted('a'), noted('a')])).rejects.toThrow('features has a twice; expected it once')
  })
})
