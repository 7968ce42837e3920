import { type EvmDriver, evmAddressesOf, seedEvmWorld, startAnvil } from '@chain-data/devnet'
import { createTestDatabase, eventually, temporaryFolder } from '@chain-data/index/test'
import { expect, it, type TestContext } from 'vitest'
import { createServer, type Server } from '../../src/index.ts'
import { createLogger } from '../../src/platform/logger.ts'
import type { HealthReport } from '../../src/server/http/operatorPages.ts'

const authorization = `Basic ${Buffer.from('demo:demo-server-key').toString('base64')}`

/** A node with a chain of its own, which ends with the test. */
async function startChain({ onTestFinished }: TestContext) {
  const anvil = await startAnvil()
  onTestFinished(() => anvil.stop())
  return { anvil, driver: await seedEvmWorld(anvil.rpcUrl, { pool: false }) }
}

type Chain = Awaited<ReturnType<typeof startChain>>

interface Running {
  readonly server: Server
  readonly messages: string[]
  /** Result or error of a call. */
  call(method: string, ...params: readonly unknown[]): Promise<unknown>
  get(path: string): Promise<string>
}

async function start(
  { onTestFinished }: TestContext,
  { anvil }: Chain,
  store: string,
  indexing: boolean
): Promise<Running> {
  const messages: string[] = []
  const server = await createServer(
    {
      ...{ store, indexing },
      projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
      chains: { evm: [{ chainId: anvil.chainId, rpcUrls: [anvil.rpcUrl], pollIntervalMs: 50 }] },
      ...{ rateLimit: false, overload: false }
    },
    { logger: createLogger({ level: 'info', write: line => messages.push(JSON.parse(line).msg) }) }
  )
  onTestFinished(() => server.close())
  return {
    server,
    messages,
    async call(method, ...params) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, chainId: anvil.chainId, method, params })
      const headers = { 'content-type': 'application/json', authorization }
      const request = new Request('http://host/evm-chain', { method: 'POST', headers, body })
      const answer = await (await server.fetch(request)).json()
      const { result, error } = answer as { result?: unknown; error?: unknown }
      return result ?? error
    },
    get: async path => (await server.fetch(new Request(`http://host${path}`))).text()
  }
}

async function healthOf({ get }: Running) {
  const [chain] = (JSON.parse(await get('/health/ready')) as HealthReport).chains
  return chain
}

/** It knows of the newest block and of the pool. */
async function level({ server }: Running, driver: EvmDriver): Promise<void> {
  const newest = driver.world.blocks.length - 1
  const isLevel = () => {
    const [status] = server.status()
    return (
      status?.phase === 'following' &&
      status.indexedTo?.number === newest &&
      status.head === newest &&
      status.poolSeenAtMs !== undefined
    )
  }
  await eventually(`block ${newest} is there`, isLevel, 20_000).catch((error: Error) => {
    throw new Error(`${error.message}; now ${JSON.stringify(server.status())}`)
  })
}

async function answersOf({ call }: Running, driver: EvmDriver) {
  const status = (await call('svc_getSyncStatus')) as {
    readonly headAgeSeconds: number
    readonly integrity: { readonly checkedFrom: number }
  }
  // A second may pass between two servers' answers, and only the one that indexes checks the index.
  const answers: unknown[] = [
    {
      ...status,
      headAgeSeconds: Math.round(status.headAgeSeconds / 1_000),
      integrity: { checkedFrom: status.integrity.checkedFrom }
    }
  ]
  for (const address of evmAddressesOf(driver.world).slice(0, 6)) {
    answers.push(await call('svc_getTransactionsByAddress', address))
    answers.push(await call('svc_getTokensAndNFTs', address))
  }
  return answers
}

const engines: readonly (readonly [string, (context: TestContext) => Promise<string>])[] = [
  [
    'sqlite',
    async ({ onTestFinished }) => {
      const { path, remove } = await temporaryFolder()
      onTestFinished(remove)
      return `sqlite:${path}`
    }
  ],
  ['postgres', createTestDatabase]
]

it.concurrent.for(engines)(
  'over %s, a server that does not index answers what the one that does would, and says that it only answers',
  async ([, createStore], context) => {
    const chain = await startChain(context)
    const { driver } = chain
    const store = await createStore(context)
    const answers = await start(context, chain, store, false)
    // Nothing is there yet, and nobody may take that for an empty history.
    const [address = ''] = evmAddressesOf(driver.world)
    expect(await healthOf(answers)).toMatchObject({ phase: 'starting', ready: false, indexing: false })

    const indexes = await start(context, chain, store, true)
    await level(indexes, driver)
    await level(answers, driver)
    const expected = await answersOf(indexes, driver)
    expect(JSON.stringify(expected)).toContain('"gasSpent"')
    expect(await answersOf(answers, driver)).toEqual(expected)
    expect(await healthOf(answers)).toMatchObject({ ready: true, waiting: true, indexing: false })
    expect(await healthOf(indexes)).not.toHaveProperty('indexing')
    const gauge = 'chain_data_sync_indexing{chain_id="31337"}'
    expect(await answers.get('/metrics')).toContain(`${gauge} 0`)
    expect(await indexes.get('/metrics')).toContain(`${gauge} 1`)
    expect(await answers.get('/')).toContain('another server; this one only answers')

    await driver.mine({ blocks: 2 })
    await level(indexes, driver)
    await level(answers, driver)
    const page = (server: Running, before?: string) =>
      server.call('svc_getTransactionsByAddress', address, { limit: 2, ...(before ? { before } : {}) })
    const newest = (await page(indexes)) as { hash: string }[]
    expect(await page(answers)).toEqual(newest)

    await indexes.server.close()
    const stalled = await eventually(
      'it is noticed',
      async () => {
        const health = await healthOf(answers)
        return health?.phase === 'stalled' && health
      },
      20_000
    )
    expect(stalled).toMatchObject({ ready: false, backfilled: true, degraded: true })
    expect(stalled.problem).toMatch(/^this process does not index/)
    expect(await page(answers)).toMatchObject({ data: { reason: 'UPSTREAM_UNAVAILABLE' } })
    // What is confirmed stays so, whoever indexes.
    expect(await page(answers, newest[0]?.hash)).toHaveLength(2)

    await level(await start(context, chain, store, true), driver)
    await level(answers, driver)
    expect(await page(answers)).toEqual(newest)
    // It has never waited for the place of the one that indexes.
    expect(answers.messages).toEqual(['a chain is served'])
  }
)
