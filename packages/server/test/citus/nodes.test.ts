import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPostgresWriter } from '../../src/index/postgres/openWriter.ts'
import { migrations } from '../../src/index/postgres/schema.ts'
import { readServerFacts } from '../../src/index/postgres/serverFacts.ts'
import { buildChain, people } from '../../src/index/test/buildChain.ts'
import { commitChain } from '../../src/index/test/commitChain.ts'
import { expectedHistory } from '../../src/index/test/expectedHistory.ts'
import { openOwnPostgresReader } from '../../src/index/test/openOwnPostgresReader.ts'
import { readHistory, withSnapshot } from '../../src/index/test/readAll.ts'
import { type Citus, startCitus } from '../support/startCitus.ts'
import type { Postgres } from '../support/startPostgres.ts'
import { queryOnce } from '../support/startPostgres.ts'

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

async function historyOf(chainId: number) {
  const reader = await openOwnPostgresReader([url], chainId)
  try {
    return await withSnapshot(reader, snapshot => readHistory(snapshot, alice))
  } finally {
    await reader.close()
  }
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
  expect((await readServerFacts(url, [1, 2])).citus).toMatchObject({
    ...{ isCoordinator: true, shardsBySchema: true, nodes: 2 }
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
  await commitChain(writers.other, blocks.slice(5))
  await away.start()
  await writers.stalled.close()
  const again = await open(1)
  expect((await again.state()).head).toEqual(blocks[4]?.ref)
  await commitChain(again, blocks.slice(5))
  await again.close()
  await writers.other.close()
  for (const chainId of [1, 2]) expect(await historyOf(chainId)).toEqual(expectedHistory(blocks, alice))
})

test('a later step of the schema runs on tables that are on a node', async () => {
  const name = 'chain_data_1'
  // Takes the newest step back as far as it is one of functions, and carries it out again.
  await queryOnce(
    url,
    `DROP FUNCTION ${name}.require_term`,
    `DELETE FROM ${name}.migration WHERE version = ${migrations.length}`
  )
  const writer = await open(1)
  expect((await writer.state()).head).toEqual(blocks.at(-1)?.ref)
  await writer.close()
})
