import {
  type AnvilNode,
  type EvmDriver,
  evmAddressesOf,
  type MetadataServer,
  type SurfpoolNode,
  seedEvmWorld,
  seedSolanaWorld,
  startAnvil,
  startMetadataServer,
  startSurfpool,
  surfpoolUnsupportedReason
} from '@chain-data/devnet'
import { createTestDatabase, eventually } from '@chain-data/index/test'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServer, type Server } from '../../src/index.ts'
import { createLogger } from '../../src/platform/logger.ts'
import type { ConfigInput } from '../../src/server/config/config.ts'

const authorization = `Basic ${Buffer.from('demo:demo-server-key').toString('base64')}`
const password = 'hunter2-of-the-store'
/** Why there is no Solana node here; absent where there is one. */
const noSolana = surfpoolUnsupportedReason()

let anvil: AnvilNode
let host: MetadataServer
let driver: EvmDriver
let surfpool: SurfpoolNode | undefined
let wallets: readonly string[] = []
let databaseUrl: string
const cleanUps: (() => unknown)[] = []

interface Running {
  readonly server: Server
  readonly lines: string[]
  call(path: string, chainId: number, method: string, ...params: readonly unknown[]): Promise<unknown>
}

async function start(store: string): Promise<Running> {
  const lines: string[] = []
  const chains: ConfigInput['chains'] = {
    evm: [{ chainId: anvil.chainId, rpcUrls: [anvil.rpcUrl], pollIntervalMs: 50 }],
    solana: surfpool === undefined ? [] : [{ chainId: 103, dev: true, rpcUrls: [surfpool.rpcUrl] }]
  }
  const server = await createServer(
    {
      ...{ store, chains, rateLimit: false, overload: false },
      projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
      metadata: { allowHosts: [host.hostPort], ipfsGateways: [host.url], arweaveGateways: [host.url] }
    },
    { logger: createLogger({ level: 'debug', write: line => lines.push(line) }) }
  )
  return {
    server,
    lines,
    async call(path, chainId, method, ...params) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, chainId, method, params })
      const headers = { 'content-type': 'application/json', authorization }
      const request = new Request(`http://host${path}`, { method: 'POST', headers, body })
      const answer = (await (await server.fetch(request)).json()) as { result?: unknown; error?: unknown }
      return answer.result ?? answer.error
    }
  }
}

async function level({ server }: Running): Promise<void> {
  const newest = driver.world.blocks.length - 1
  // A reorg leaves the height as it is.
  const { hash } = (await driver.rpc('eth_getBlockByNumber', 'latest', false)) as { hash: string }
  const isLevel = () => {
    const [status] = server.status()
    return status?.phase === 'following' && status.head === newest && status.indexedTo?.hash === hash
  }
  await eventually(`block ${newest} is there`, isLevel, 20_000).catch((error: Error) => {
    throw new Error(`${error.message}; now ${JSON.stringify(server.status())}`)
  })
}

/** What every method says of everything in the two worlds; what a network fetch may leave out is waited for. */
async function answersOf({ call }: Running) {
  const evm = (method: string, ...params: readonly unknown[]) =>
    call('/evm-chain', anvil.chainId, method, ...params)
  // The age of the head and the check of the index go on from one answer to the next.
  const {
    headAgeSeconds: _,
    integrity: __,
    ...status
  } = (await evm('svc_getSyncStatus')) as Record<string, unknown>
  const answers: Record<string, unknown> = { status }
  for (const address of evmAddressesOf(driver.world)) {
    const whole = (await evm('svc_getTransactionsByAddress', address)) as { hash: string }[]
    const before = whole[1]?.hash
    answers[address] = {
      whole,
      first: await evm('svc_getTransactionsByAddress', address, { limit: 2 }),
      ...(before === undefined
        ? {}
        : { later: await evm('svc_getTransactionsByAddress', address, { limit: 5, before }) }),
      holdings: await evm('svc_getTokensAndNFTs', address)
    }
  }
  for (const wallet of wallets) {
    const answer = await call('/solana', 103, 'enhancedGetTokensAndNFTs', wallet, { parseMetadataUri: true })
    // The cluster goes on meanwhile.
    answers[wallet] = { ...(answer as object), asOf: undefined }
  }
  return answers
}

beforeAll(async () => {
  anvil = await startAnvil()
  host = await startMetadataServer()
  driver = await seedEvmWorld(anvil.rpcUrl, { metadata: host, pool: false })
  if (noSolana === undefined) {
    surfpool = await startSurfpool()
    const { world } = await seedSolanaWorld(surfpool, { metadata: host })
    wallets = Object.values(world.owners).map(({ address }) => address)
  }
  databaseUrl = await createTestDatabase()
})
afterAll(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  await anvil?.stop()
  await surfpool?.stop()
  await host?.stop()
})

describe(`a server over PostgreSQL${noSolana === undefined ? '' : ` (without Solana: ${noSolana})`}`, () => {
  let postgres: Running
  const storeUrl = () => databaseUrl.replace('postgres@', `postgres:${password}@`)

  beforeAll(async () => {
    postgres = await start(storeUrl())
    cleanUps.push(() => postgres.server.close())
    await level(postgres)
  })

  it('answers every call as one over SQLite does', async () => {
    const sqlite = await start('sqlite::memory:')
    cleanUps.push(() => sqlite.server.close())
    await level(sqlite)
    // What answers did not wait for is there the next time.
    await Promise.all([answersOf(sqlite), answersOf(postgres)])
    const expected = await answersOf(sqlite)
    expect(JSON.stringify(expected)).toMatch(/"gasSpent".*"tokenId"/)
    expect(await answersOf(postgres)).toEqual(expected)
  })

  it('follows a reorg, and says what became of a cursor', async () => {
    const [address = ''] = evmAddressesOf(driver.world)
    const call = (...params: readonly unknown[]) =>
      postgres.call('/evm-chain', anvil.chainId, 'svc_getTransactionsByAddress', ...params)
    const whole = (await call(address)) as { hash: string }[]
    await driver.reorg(3)
    await level(postgres)
    const after = (await call(address)) as { hash: string }[]
    expect(new Set(after.map(({ hash }) => hash)).size).toBe(after.length)
    const [gone] = whole.filter(({ hash }) => !after.some(kept => kept.hash === hash))
    if (gone !== undefined) {
      expect(await call(address, { before: gone.hash })).toMatchObject({ data: { reason: 'CURSOR_REORGED' } })
    }
  })

  it('begun anew, goes on where it was, with the metadata it had', async () => {
    const cached = async () => {
      const client = new pg.Client({ connectionString: databaseUrl })
      await client.connect()
      try {
        const { rows } = await client.query('SELECT count(*)::int AS n FROM chain_data_metadata.entry')
        return rows[0].n as number
      } finally {
        await client.end()
      }
    }
    const before = await answersOf(postgres)
    const messages = postgres.lines
    await postgres.server.close()
    expect(await cached()).toBeGreaterThan(0)
    postgres = await start(storeUrl())
    postgres.lines.unshift(...messages)
    await level(postgres)
    expect(await answersOf(postgres)).toEqual(before)
    const starts = postgres.lines.map(line => JSON.parse(line)).filter(({ msg }) => msg === 'indexing starts')
    expect(starts).toHaveLength(2)
    expect(starts[1].indexedTo).toBe(driver.world.blocks.length - 1)
  })

  it('never shows the password of its store', async () => {
    const pages = ['/health/ready', '/metrics', '/', '/status.json']
    const texts = await Promise.all(
      pages.map(async path => (await postgres.server.fetch(new Request(`http://host${path}`))).text())
    )
    expect(texts.join() + postgres.lines.join()).not.toContain(password)
  })
})
