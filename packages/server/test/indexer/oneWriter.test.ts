import { type AnvilNode, type EvmDriver, seedEvmWorld, startAnvil } from '@chain-data/devnet'
import type { Hash, SyncStatus } from '@chain-data/index'
import { eventually, openSqliteWriter, temporaryFolder } from '@chain-data/index/test'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { createLogger } from '../../src/platform/logger.ts'
import {
  type Indexer,
  type StartIndexerOptions,
  startIndexer
} from '../../src/server/indexer/startIndexer.ts'
import { startFaultProxy } from '../support/startFaultProxy.ts'

let anvil: AnvilNode
let driver: EvmDriver
let folder: string
let lines: Record<string, unknown>[]
const cleanUps: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  anvil = await startAnvil()
  driver = await seedEvmWorld(anvil.rpcUrl, { pool: false })
})
afterAll(() => anvil.stop())
beforeEach(async () => {
  const { path, remove } = await temporaryFolder()
  cleanUps.push(remove)
  folder = path
  lines = []
})
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

function start(options: Partial<StartIndexerOptions> = {}) {
  const statuses: SyncStatus[] = []
  const genesis: string[] = []
  const indexer = startIndexer({
    ...{ chainId: 31337, rpcUrls: [anvil.rpcUrl], startBlock: 0, finality: 'auto', pollIntervalMs: 50 },
    ...{ store: { kind: 'sqlite' as const, folder }, reportEveryMs: 50, writerSilentMs: 3_000 },
    logger: createLogger({ level: 'info', write: line => lines.push(JSON.parse(line)) }),
    onStatus: status => statuses.push(status),
    onGenesis: hash => genesis.push(hash),
    ...options
  })
  cleanUps.push(() => indexer.stop())
  return { indexer, statuses, genesis }
}

const starts = () => lines.filter(({ msg }) => msg === 'indexing starts').length
const isFollowing = ({ phase }: SyncStatus) => phase === 'following'

/** Two threads have to start for it, which takes seconds on a machine that is busy. */
const follows = (what: string, indexer: Indexer) =>
  eventually(`${what} follows`, () => isFollowing(indexer.status()), 20_000)

/** What both say once the one that waits has heard the other; the time of the look at the pool is rounded to the beat. */
async function saysTheSame(waiting: Indexer, writer: Indexer): Promise<void> {
  const facts = ({ poolSeenAtMs, waiting: _, ...rest }: SyncStatus) => ({
    ...rest,
    hasSeenPool: poolSeenAtMs !== undefined
  })
  const text = (indexer: Indexer) => JSON.stringify(Object.entries(facts(indexer.status())).sort())
  await eventually('both say the same', () => text(waiting) === text(writer))
}

it('a second indexer in another thread waits without writing, says what the first says, and takes over at its end', async () => {
  const first = start()
  await follows('the first', first.indexer)
  const second = start()
  await eventually('the second says what the first says', () => second.indexer.status().waiting)
  await saysTheSame(second.indexer, first.indexer)
  expect(second.indexer.status()).toMatchObject({ phase: 'following', backfilled: true, poolCovered: true })
  expect(first.indexer.status()).not.toHaveProperty('waiting')
  expect(second.genesis).toEqual(first.genesis)
  await driver.mine({ blocks: 2 })
  const newest = driver.world.blocks.length - 1
  await eventually('the second sees the newest', () => second.indexer.status().indexedTo?.number === newest)
  await saysTheSame(second.indexer, first.indexer)
  expect(second.indexer.status().head).toBe(newest)
  const { poolSeenAtMs = 0 } = second.indexer.status()
  await eventually(
    'looks at the pool are heard of',
    () => (second.indexer.status().poolSeenAtMs ?? 0) > poolSeenAtMs
  )
  expect(second.indexer.status().poolSeenAtMs).toBeLessThanOrEqual(Date.now())
  // What the first stores is not the second's to count.
  await eventually('both tell figures', () => second.indexer.figures() && first.indexer.figures())
  expect(second.indexer.figures()).not.toHaveProperty('index')
  expect(first.indexer.figures()).toHaveProperty('index')
  const warnings = () => lines.filter(({ msg }) => /another indexer/.test(String(msg)))
  await eventually('the log says so', () => warnings().length > 0)
  expect(starts()).toBe(1)
  expect(lines.filter(({ msg }) => msg === 'the indexer is started again')).toEqual([])

  await first.indexer.stop()
  const handedOver = second.statuses.length
  await eventually('the second indexes', () => second.indexer.status().waiting === undefined)
  await follows('the second', second.indexer)
  // Callers are held for a moment, and nobody is told that the chain does not move.
  expect(new Set(second.statuses.slice(handedOver).map(({ phase }) => phase))).not.toContain('stalled')
  expect(starts()).toBe(2)
  expect(warnings()).toHaveLength(1)
})

it('of three, the one that still waits hears the next writer', async () => {
  const indexers = [start(), start(), start()]
  const writers = () =>
    indexers.filter(({ indexer }) => isFollowing(indexer.status()) && !indexer.status().waiting)
  const waiting = () =>
    indexers.filter(({ indexer }) => isFollowing(indexer.status()) && indexer.status().waiting)
  await eventually(
    'one writes and two wait',
    () => writers().length === 1 && waiting().length === 2,
    // Six threads have to start.
    20_000
  )
  const [writer] = writers()
  if (writer === undefined) throw new Error('nobody writes')
  indexers.splice(indexers.indexOf(writer), 1)
  const told = new Map(indexers.map(({ statuses }) => [statuses, statuses.length]))
  await writer.indexer.stop()
  await driver.mine({ blocks: 1 })
  const newest = driver.world.blocks.length - 1
  await eventually('one writes and one waits', () => writers().length === 1 && waiting().length === 1)
  await eventually('both have the newest block', () =>
    indexers.every(({ indexer }) => indexer.status().indexedTo?.number === newest)
  )
  for (const [statuses, before] of told) {
    expect(statuses.slice(before).map(({ phase }) => phase)).not.toContain('stalled')
  }
})

it('what keeps the writer from moving is told by the one that waits, and when it is over', async () => {
  const proxy = await startFaultProxy(anvil.rpcUrl)
  cleanUps.push(() => proxy.close())
  const first = start({ rpcUrls: [proxy.url], rpcTimeoutMs: 500 })
  await follows('the first', first.indexer)
  const second = start()
  await eventually('the second waits', () => second.indexer.status().waiting)
  proxy.setDown(true)
  await eventually('the second is stalled too', () => second.indexer.status().phase === 'stalled')
  expect(second.indexer.status()).toMatchObject({ waiting: true, problem: first.indexer.status().problem })
  proxy.setDown(false)
  await follows('the second', second.indexer)
  expect(second.indexer.status()).not.toHaveProperty('problem')
})

it('a writer that holds the lock and says nothing is told as stalled, whatever it said last', async () => {
  const first = start()
  await follows('the first', first.indexer)
  await first.indexer.stop()
  // Takes the lock and never reports, as a process does that hangs.
  const genesisHash = first.genesis[0] as Hash
  const holder = await openSqliteWriter(folder, { chainId: 31337, genesisHash })
  cleanUps.push(() => holder.close())
  const second = start({ writerSilentMs: 300 })
  const held = /^another process or thread holds the writer's lock .* more than 300 ms/
  await eventually('the second says so', () => held.test(second.indexer.status().problem ?? ''))
  expect(second.indexer.status()).toMatchObject({
    ...{ phase: 'stalled', waiting: true, backfilled: true, indexedTo: first.indexer.status().indexedTo }
  })
  expect(second.statuses.map(({ phase }) => phase)).not.toContain('following')
  await holder.close()
  await follows('the second', second.indexer)
  expect(second.indexer.status()).not.toHaveProperty('waiting')
})
