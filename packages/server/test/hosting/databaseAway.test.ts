import { type AnvilNode, type EvmDriver, evmAddressesOf, seedEvmWorld, startAnvil } from '@chain-data/devnet'
import { eventually, type Postgres, startPostgres } from '@chain-data/index/test'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createServer, type Server } from '../../src/index.ts'
import { createLogger } from '../../src/platform/logger.ts'

const authorization = `Basic ${Buffer.from('demo:demo-server-key').toString('base64')}`

let anvil: AnvilNode
let driver: EvmDriver
let database: Postgres
const cleanUps: (() => unknown)[] = []
beforeAll(async () => {
  anvil = await startAnvil()
  driver = await seedEvmWorld(anvil.rpcUrl, { pool: false })
  database = await startPostgres()
})
afterAll(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  await database?.stop()
  await anvil?.stop()
})

async function start(store: string, indexing: boolean) {
  const messages: string[] = []
  const server = await createServer(
    {
      ...{ store, indexing, rateLimit: false, overload: false },
      projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
      chains: { evm: [{ chainId: anvil.chainId, rpcUrls: [anvil.rpcUrl], pollIntervalMs: 50 }] }
    },
    { logger: createLogger({ level: 'info', write: line => messages.push(JSON.parse(line).msg) }) }
  )
  cleanUps.push(() => server.close())
  return { server, messages }
}

async function history(server: Server): Promise<unknown> {
  const [address] = evmAddressesOf(driver.world)
  const call = { jsonrpc: '2.0', id: 1, chainId: anvil.chainId, method: 'svc_getTransactionsByAddress' }
  const request = new Request('http://host/evm-chain', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization },
    body: JSON.stringify({ ...call, params: [address, { limit: 3 }] })
  })
  const answer = (await (await server.fetch(request)).json()) as { result?: unknown; error?: unknown }
  return answer.result ?? answer.error
}

const follows = (server: Server) => () => {
  const [status] = server.status()
  return status?.phase === 'following' && status.indexedTo?.number === driver.world.blocks.length - 1
}

it('servers that are started before their database is there say so, and go on by themselves once it is', async () => {
  const url = await database.createDatabase()
  await database.halt()
  const servers = [await start(url, true), await start(url, false)]
  for (const { server } of servers) {
    const [status] = await eventually(
      'it says so',
      () => server.status()[0]?.phase === 'stalled' && server.status(),
      20_000
    )
    expect(status?.problem).toMatch(/PostgreSQL/)
    expect(await history(server)).toMatchObject({ data: { reason: 'UPSTREAM_UNAVAILABLE' } })
  }
  await database.start()
  for (const { server } of servers) await eventually('it follows', follows(server), 30_000)
  const [indexes, answers] = await Promise.all(servers.map(({ server }) => history(server)))
  expect(indexes).toHaveLength(3)
  expect(answers).toEqual(indexes)
  expect(servers[1]?.messages).toEqual(
    expect.arrayContaining(['the store cannot be read', 'the store can be read again'])
  )
})
