import { type AnvilNode, type EvmDriver, seedEvmWorld, startAnvil } from '@chain-data/devnet'
import { temporaryFolder } from '@chain-data/index/test'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  differences,
  historyOf,
  poolOf,
  type RunningIndexer,
  runTestIndexer
} from '../support/indexHarness.ts'
import { Refusal, startFaultProxy } from '../support/startFaultProxy.ts'
import { walkChain } from '../support/walkChain.ts'

const zeroAddress = `0x${'0'.repeat(40)}`
const cleanUps: (() => Promise<void>)[] = []
let anvil: AnvilNode
let driver: EvmDriver

beforeAll(async () => {
  anvil = await startAnvil()
  driver = await seedEvmWorld(anvil.rpcUrl)
})
afterAll(() => anvil.stop())
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

async function folder(): Promise<string> {
  const { path, remove } = await temporaryFolder()
  cleanUps.push(remove)
  return path
}

function run(...args: Parameters<typeof runTestIndexer>): RunningIndexer {
  const indexer = runTestIndexer(...args)
  cleanUps.push(() => indexer.stop())
  return indexer
}

async function atHead(indexer: RunningIndexer): Promise<void> {
  const { hash } = (await driver.rpc('eth_getBlockByNumber', 'latest', false)) as { hash: string }
  await indexer.until(
    `block ${hash} is indexed`,
    ({ indexedTo, backfilled }) => backfilled && indexedTo?.hash === hash
  )
}

describe('the first backfill', () => {
  it('stores every field of every transaction type as the node gives it, for every party', async () => {
    const path = await folder()
    const indexer = run(path, { rpcUrls: [anvil.rpcUrl] })
    await atHead(indexer)
    const chain = await walkChain(driver.rpc)
    expect(new Set(chain.transactions.map(({ record }) => record.type))).toEqual(new Set([0, 1, 2, 3, 4]))
    expect(chain.transactions.some(({ record }) => record.status === 4)).toBe(true)
    expect(await differences(path, chain)).toEqual([])
    expect(indexer.status()).toMatchObject({
      phase: 'following',
      backfilled: true,
      degraded: false,
      indexedFrom: 0
    })
  })

  it('finds what the devnet meant to happen', async () => {
    const path = await folder()
    // The devnet's word holds those, too, who are paid inside transactions.
    await atHead(run(path, { rpcUrls: [anvil.rpcUrl], traces: 'on' }))
    for (const { name, address } of Object.values(driver.world.accounts)) {
      const meant = driver.world.transactions
        .filter(
          ({ state, roles }) => /success|failed/.test(state) && roles.some(role => role.address === address)
        )
        .map(({ hash }) => hash)
      const stored = await historyOf(path, address.toLowerCase())
      expect({ name, hashes: stored.map(({ hash }) => hash).sort() }).toEqual({ name, hashes: meant.sort() })
    }
  })

  it('reads the same from a node without block receipts, one receipt at a time', async () => {
    const path = await folder()
    const proxy = await startFaultProxy(anvil.rpcUrl)
    cleanUps.push(() => proxy.close())
    proxy.setFault((call, result) => {
      if (call.method === 'eth_getBlockReceipts') throw new Refusal(-32601, 'method not found')
      return result
    })
    const window = 4
    await atHead(run(path, { rpcUrls: [proxy.url], window }))
    expect(await differences(path, await walkChain(driver.rpc))).toEqual([])
    // A window's worth of blocks may be under way before the first refusal comes back.
    const asked = proxy.calls.filter(({ method }) => method === 'eth_getBlockReceipts')
    expect(asked.length).toBeLessThanOrEqual(window)
  })

  it('begins at the start block', async () => {
    const path = await folder()
    const startBlock = 20
    const indexer = run(path, { rpcUrls: [anvil.rpcUrl], startBlock })
    await atHead(indexer)
    expect(await differences(path, await walkChain(driver.rpc, startBlock))).toEqual([])
    expect(indexer.status().indexedFrom).toBe(startBlock)
  })

  it('waits for a start block that lies in the future', async () => {
    const path = await folder()
    const startBlock = driver.world.blocks.length + 1
    const indexer = run(path, { rpcUrls: [anvil.rpcUrl], startBlock })
    await indexer.until('the head is known', ({ head }) => head === startBlock - 2)
    expect(indexer.status()).not.toHaveProperty('indexedTo')
    await driver.mine({ blocks: 3 })
    await indexer.until('it has begun', ({ indexedTo }) => indexedTo?.number === startBlock + 1)
  })

  it('goes on where an earlier run stopped, without asking for stored blocks again', async () => {
    const path = await folder()
    const first = runTestIndexer(path, { rpcUrls: [anvil.rpcUrl], roundBlocks: 10 })
    await atHead(first)
    await first.stop()
    const stored = first.status().indexedTo?.number ?? Number.NaN
    await driver.send({ label: 'while nobody looked', from: 'alice', to: zeroAddress, valueWei: 1n })
    await driver.mine({ blocks: 2 })

    const proxy = await startFaultProxy(anvil.rpcUrl)
    cleanUps.push(() => proxy.close())
    await atHead(run(path, { rpcUrls: [proxy.url] }))
    const asked = proxy.calls
      .filter(({ method, params }) => method === 'eth_getBlockByNumber' && params[1] === true)
      .map(({ params }) => Number(params[0]))
    expect(asked.sort((a, b) => a - b)).toEqual([stored + 1, stored + 2])
    expect(await differences(path, await walkChain(driver.rpc))).toEqual([])
  })
})

describe('following', () => {
  it('adds new blocks and keeps the pool as the node has it', async () => {
    const path = await folder()
    const indexer = run(path, { rpcUrls: [anvil.rpcUrl] })
    await atHead(indexer)
    await indexer.until(
      'the pool is known',
      ({ poolCovered, poolSeenAtMs }) => poolCovered && poolSeenAtMs !== undefined
    )
    await driver.send({ label: 'behind a gap', from: 'bob', to: zeroAddress, nonce: 1_000 })
    const next = await driver.send({ label: 'next', from: 'alice', to: zeroAddress })
    const sentAtMs = Date.now()
    // The first look after that time may have begun before it.
    await indexer.until('a look', ({ poolSeenAtMs }) => (poolSeenAtMs ?? 0) > sentAtMs)
    const firstLookMs = indexer.status().poolSeenAtMs ?? 0
    await indexer.until('one more', ({ poolSeenAtMs }) => (poolSeenAtMs ?? 0) > firstLookMs)
    for (const state of ['pending', 'queued'] as const) {
      const waiting = driver.world.transactions.filter(transaction => transaction.state === state)
      expect(waiting.length).toBeGreaterThan(0)
      for (const { hash, from } of waiting) {
        const found = (await poolOf(path, from)).find(entry => entry.hash === hash)
        expect(found).toMatchObject({ status: state === 'pending' ? 1 : 0 })
      }
    }
    await driver.mine()
    await atHead(indexer)
    expect((await poolOf(path, next.from)).map(({ hash }) => hash)).not.toContain(next.hash)
    expect(await differences(path, await walkChain(driver.rpc))).toEqual([])
  })

  it('says so when the node shows no pool', async () => {
    const path = await folder()
    const proxy = await startFaultProxy(anvil.rpcUrl)
    cleanUps.push(() => proxy.close())
    proxy.setFault((call, result) => {
      if (/txpool|eth_pendingTransactions/.test(call.method)) throw new Refusal(-32601)
      return result
    })
    const indexer = run(path, { rpcUrls: [proxy.url] })
    await atHead(indexer)
    expect(indexer.status().poolCovered).toBe(false)
    expect(indexer.status().poolSeenAtMs).toBeGreaterThan(0)
  })
})
