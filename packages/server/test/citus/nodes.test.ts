import { readServerFacts } from '@chain-data/index'
import {
  buildChain,
  type Citus,
  commitChain,
  connectPostgres as connect,
  expectedHistory,
  openOwnPostgresReader,
  openPostgresWriter,
  type Postgres,
  people,
  queryOnce,
  readHistory,
  startCitus,
  withSnapshot
} from '@chain-data/index/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { checkPostgres } from '../../src/server/check/checkPostgres.ts'
import { parseConfig } from '../../src/server/config/config.ts'

const alice = people[0]!
const blocks = buildChain(
  Array.from({ length: 40 }, (_, height) => [{ name: `tx ${height}`, parties: [alice, people[height % 4]!] }])
)
const genesisHash = `0x${'6e'.repeat(32)}` as const

let citus: Citus
let url: string
beforeAll(async () => {
  citus = await startCitus()
  url = await citus.createDatabase()
})
afterAll(() => citus?.stop())

const open = (chainId: number) => openPostgresWriter(url, { chainId, genesisHash }, { lockWaitMs: 20_000 })

async function historyOf(chainId: number, there = url) {
  const reader = await openOwnPostgresReader([there], chainId)
  try {
    return await withSnapshot(reader, snapshot => readHistory(snapshot, alice))
  } finally {
    await reader.close()
  }
}

/** What `chain-data check` says about the shape of a database. */
async function shapeOf(store: string) {
  const evm = [1, 2].map(chainId => ({ chainId, rpcUrls: ['http://127.0.0.1:1'] }))
  const config = parseConfig({
    store,
    projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
    chains: { evm }
  })
  return (await checkPostgres(config, store)).find(({ check }) => check === 'shape')
}

/** Host of the node that has the schema. */
async function nodeOf(chainId: number): Promise<string> {
  const facts = await readServerFacts(url, [chainId])
  return facts.citus?.placed[0]?.node.replace(/:\d+$/, '') ?? 'none'
}

test('two chains are put on two nodes, and what belongs to no chain on none', async () => {
  const writers = [await open(1), await open(2)]
  for (const writer of writers) await commitChain(writer, blocks.slice(0, 5))
  const nodes = [await nodeOf(1), await nodeOf(2)].toSorted()
  expect(nodes).toEqual(citus.workers.map(({ socketFolder }) => socketFolder).toSorted())
  for (const writer of writers) await writer.close()
  const found =
    /^Citus [\d.-]+ with schema sharding, 2 nodes that take schemas; chain_data_[12] on \S+, chain_data_[12] on \S+$/
  expect(await shapeOf(url)).toMatchObject({ state: 'ok', found: expect.stringMatching(found) })
})

test('without schema sharding a chain stays on the coordinator and is served there, and check warns', async () => {
  const there = await citus.createDatabase()
  const set = (change: string) =>
    queryOnce(there, `ALTER DATABASE ${new URL(there).pathname.slice(1)} ${change}`)
  await set('SET citus.enable_schema_based_sharding = off')
  const writer = await openPostgresWriter(there, { chainId: 1, genesisHash })
  await commitChain(writer, blocks)
  await writer.close()
  expect(await historyOf(1, there)).toEqual(expectedHistory(blocks, alice))
  expect(await shapeOf(there)).toMatchObject({
    state: 'warning',
    found: expect.stringMatching(
      / without schema sharding, 2 nodes that take schemas; no chain is on one of them$/
    ),
    advice: 'for new chains: ALTER ROLE <user> SET citus.enable_schema_based_sharding = on'
  })
  await set('SET citus.enable_schema_based_sharding = on')
  const takesNone = ({ socketFolder }: Postgres) =>
    `SELECT citus_set_node_property('${socketFolder}', 5432, 'shouldhaveshards', false)`
  await queryOnce(there, ...citus.workers.map(takesNone))
  expect(await shapeOf(there)).toMatchObject({
    state: 'warning',
    found: expect.stringMatching(/ with schema sharding, 0 nodes/),
    advice: "for new chains: SELECT citus_add_node('<host>', 5432)"
  })
  const [worker] = citus.workers as readonly [Postgres, ...Postgres[]]
  expect(await shapeOf(worker.urlOfSame(there))).toMatchObject({
    state: 'error',
    found: expect.stringMatching(/^a worker of Citus/)
  })
})

test('a chain moves to another node while it is indexed, and loses nothing', async () => {
  const writer = await open(3)
  await commitChain(writer, blocks.slice(0, 10))
  const from = await nodeOf(3)
  const to = citus.workers.find(({ socketFolder }) => socketFolder !== from) as Postgres
  let isMoved = false
  const moving = queryOnce(
    url,
    `SELECT citus_schema_move('chain_data_3', '${to.socketFolder}', 5432)`
  ).finally(() => {
    isMoved = true
  })
  let next = 10
  for (; next < 30 || (!isMoved && next < blocks.length); next++)
    await commitChain(writer, blocks.slice(next, next + 1))
  await moving
  await commitChain(writer, blocks.slice(next))
  await writer.close()
  expect(await nodeOf(3)).toBe(to.socketFolder)
  expect(await historyOf(3)).toEqual(expectedHistory(blocks, alice))
})

test('while a node is away only its own chain stalls, and goes on once it is back', async () => {
  const folder = await nodeOf(1)
  const away = citus.workers.find(({ socketFolder }) => socketFolder === folder) as Postgres
  const writers = { stalled: await open(1), other: await open(2) }
  await away.crash()
  await expect(commitChain(writers.stalled, blocks.slice(5, 10))).rejects.toMatchObject({ retryable: true })
  await expect(historyOf(1)).rejects.toMatchObject({ retryable: true })
  await commitChain(writers.other, blocks.slice(5))
  expect(await historyOf(2)).toEqual(expectedHistory(blocks, alice))
  await away.start()
  await writers.stalled.close()
  const again = await open(1)
  expect((await again.state()).head).toEqual(blocks[4]?.ref)
  await commitChain(again, blocks.slice(5))
  await again.close()
  await writers.other.close()
  expect(await historyOf(1)).toEqual(expectedHistory(blocks, alice))
})

test('a commit that loses its connection to the node stores nothing, and can be tried again', async () => {
  const writer = await open(4)
  await commitChain(writer, blocks.slice(0, 5))
  const folder = await nodeOf(4)
  const node = citus.workers.find(({ socketFolder }) => socketFolder === folder) as Postgres
  // Holds the commit up after it has written blocks.
  const lock = await connect(url, 'check')
  await lock.query('BEGIN')
  await lock.query('LOCK TABLE chain_data_4.chunk IN EXCLUSIVE MODE')
  const failed = expect(commitChain(writer, blocks.slice(5))).rejects.toMatchObject({ retryable: true })
  const waiting = `SELECT FROM pg_locks WHERE NOT granted AND relation = 'chain_data_4.chunk'::regclass`
  await expect.poll(async () => (await queryOnce(url, waiting)).length, { timeout: patient(10_000) }).toBe(1)
  await queryOnce(
    node.urlOfSame(url),
    `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name LIKE 'citus_internal%'`
  )
  await lock.query('ROLLBACK')
  await lock.end()
  await failed
  expect(await historyOf(4)).toEqual(expectedHistory(blocks.slice(0, 5), alice))
  await commitChain(writer, blocks.slice(5))
  await writer.close()
  expect(await historyOf(4)).toEqual(expectedHistory(blocks, alice))
})
