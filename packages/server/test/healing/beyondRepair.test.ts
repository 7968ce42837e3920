import { closeSync, openSync, writeSync } from 'node:fs'
import { type AnvilNode, startAnvil } from '@chain-data/devnet'
import { chainFiles, eventually, loadSqliteDriver } from '@chain-data/index/test'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { engines, type TestStore } from '../support/testStores.ts'
import { createPaidChain, type PaidChain, startHealing } from './startHealing.ts'

let nodes: AnvilNode[]
let chain: PaidChain
let store: TestStore

const cleanUps: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  nodes = await Promise.all([31_337, 31_338].map(chainId => startAnvil({ chainId })))
  chain = await createPaidChain(nodes[0]?.rpcUrl ?? '')
})
afterAll(async () => {
  for (const node of nodes) await node.stop()
})
beforeEach(async () => {
  store = await engines[0].create()
  cleanUps.push(store.remove)
})
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

async function start() {
  const server = await startHealing(
    store,
    nodes.map(({ rpcUrl }) => rpcUrl)
  )
  cleanUps.push(server.close)
  return server
}

/** Overwrites the first page of a table with zeros, in a file that nobody has open. */
function zeroRoot(table: string): void {
  if (store.location.kind !== 'sqlite') throw new Error('expected a store of SQLite')
  const { database } = chainFiles(store.location.folder, 31_337)
  const connection = loadSqliteDriver().open(database, { busyTimeoutMs: 5_000 })
  const select = (sql: string) => connection.prepare<{ n: number }>(sql).get([])?.n ?? 0
  const page = select(`SELECT rootpage AS n FROM sqlite_schema WHERE name = '${table}'`)
  const pageBytes = select('SELECT page_size AS n FROM pragma_page_size')
  connection.close()
  const file = openSync(database, 'r+')
  writeSync(file, Buffer.alloc(pageBytes), 0, pageBytes, (page - 1) * pageBytes)
  closeSync(file)
}

it.each([
  ['a page of the chunks', 'chunk'],
  ['the page of the meta row, without which the index cannot be opened', 'meta']
])(
  'damage of %s stalls its chain alone: not ready at once, and every message says how to rebuild',
  async (_, table) => {
    const whole = await start()
    const { address } = await chain.pay()
    await whole.level(chain.rpc)
    await eventually('both chains are ready', async () => (await whole.health()).ready)
    await whole.close()
    zeroRoot(table)

    const server = await start()
    const advice = expect.stringContaining('run "chain-data reset 31337" to index the chain anew')
    await eventually('the damage is noticed', () => server.status(0)?.problem?.includes('reset'))
    expect(server.status(0)).toMatchObject({ phase: 'stalled', indexUnusable: true, problem: advice })
    await eventually('the other chain is ready', () => server.status(1)?.ready)
    expect(await server.health()).toMatchObject({
      httpStatus: 503,
      notReady: [{ chainId: 31_337, reason: advice }]
    })
    const { error } = await server.history(address)
    expect(error?.data).toMatchObject({ reason: 'UPSTREAM_UNAVAILABLE', extraMessage: advice })
    expect((await server.history(address, { chainId: 31_338 })).result).toEqual([])
  }
)
