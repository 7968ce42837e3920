import {
  type AnvilNode,
  createEmptyWorld,
  createEvmDriver,
  type EvmDriver,
  seedEvmWorld,
  startAnvil
} from '@chain-data/devnet'
import { temporaryFolder } from '@chain-data/index/test'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { differences, type RunningIndexer, runTestIndexer } from '../support/indexHarness.ts'
import { type Fault, type FaultProxy, Refusal, startFaultProxy } from '../support/startFaultProxy.ts'
import { walkChain } from '../support/walkChain.ts'

let anvil: AnvilNode
let driver: EvmDriver
let proxy: FaultProxy
let path: string
const cleanUps: (() => Promise<void>)[] = []

beforeAll(async () => {
  anvil = await startAnvil()
  driver = await seedEvmWorld(anvil.rpcUrl, { pool: false })
})
afterAll(() => anvil.stop())
beforeEach(async () => {
  proxy = await startFaultProxy(anvil.rpcUrl)
  cleanUps.push(() => proxy.close())
  const folder = await temporaryFolder()
  cleanUps.push(folder.remove)
  path = folder.path
})
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

function run(config: Partial<Parameters<typeof runTestIndexer>[1]> = {}): RunningIndexer {
  const indexer = runTestIndexer(path, { rpcUrls: [proxy.url], ...config })
  cleanUps.push(() => indexer.stop())
  return indexer
}

async function expectSame(indexer: RunningIndexer, folder = path): Promise<void> {
  const { hash } = (await driver.rpc('eth_getBlockByNumber', 'latest', false)) as { hash: string }
  await indexer.until(
    `block ${hash} is indexed`,
    ({ indexedTo, phase }) => phase === 'following' && indexedTo?.hash === hash
  )
  expect(await differences(folder, await walkChain(driver.rpc))).toEqual([])
}

/** A block with at least two transactions, so that there is something to mix up. */
function crowdedBlock(): { number: number; hash: string } {
  const hashes = driver.world.blocks.find(({ transactionHashes }) => transactionHashes.length >= 2)
  if (hashes === undefined) throw new Error('the seeded world has no block with two transactions')
  return { number: hashes.number, hash: hashes.transactionHashes[0]! }
}

type Raw = Record<string, unknown>
const receiptsOf = (number: number, change: (receipts: Raw[]) => unknown): Fault => {
  return (call, result) => {
    if (call.method !== 'eth_getBlockReceipts') return result
    const receipts = result as Raw[]
    return Number(receipts[0]?.blockNumber) === number ? change(receipts) : result
  }
}
const blockAt = (number: number, change: (block: Raw) => unknown): Fault => {
  return (call, result) =>
    call.method === 'eth_getBlockByNumber' && call.params[1] === true && Number(call.params[0]) === number
      ? change(result as Raw)
      : result
}
const otherHash = `0x${'7'.repeat(64)}`

describe('a node that contradicts itself', () => {
  it.concurrent.each<[string, (number: number) => Fault]>([
    ['swaps receipts', number => receiptsOf(number, ([a, b, ...rest]) => [b, a, ...rest])],
    ['has no receipts yet', number => receiptsOf(number, () => null)],
    ['answers an empty list of receipts', number => receiptsOf(number, () => [])],
    ['leaves a receipt out', number => receiptsOf(number, receipts => receipts.slice(1))],
    [
      'gives receipts of another block',
      number =>
        receiptsOf(number, receipts => receipts.map(receipt => ({ ...receipt, blockHash: otherHash })))
    ],
    ['does not have a block below its head', number => blockAt(number, () => null)],
    ['gives another block than asked for', number => blockAt(number, block => ({ ...block, number: '0x1' }))],
    [
      'gives a block that is no child of the one before',
      number => blockAt(number, block => ({ ...block, parentHash: otherHash }))
    ],
    [
      'gives a block without its transactions',
      number => blockAt(number, block => ({ ...block, transactions: [] }))
    ],
    [
      'gives a transaction with a broken field',
      number =>
        blockAt(number, block => ({
          ...block,
          transactions: (block.transactions as Raw[]).map(transaction => ({ ...transaction, value: 'lots' }))
        }))
    ]
  ])(
    '%s: nothing from that block on is stored, the reason is told, and all is well once it is',
    async (_, makeFault) => {
      // At the same time as its siblings, hence with a proxy and a folder of its own.
      const own = await startFaultProxy(anvil.rpcUrl)
      const folder = await temporaryFolder()
      const { number } = crowdedBlock()
      own.setFault(makeFault(number))
      const indexer = runTestIndexer(folder.path, { rpcUrls: [own.url] })
      try {
        const stalled = await indexer.until('it stalls', ({ phase }) => phase === 'stalled')
        expect(stalled.problem).toMatch(new RegExp(`block (${number}|${number - 1})\\b`))
        expect(stalled.backfilled).toBe(false)
        expect(stalled.indexedTo?.number).toBeLessThan(number)
        expect(stalled.indexedTo?.number).toBeGreaterThanOrEqual(number - 2)
        own.setFault()
        await expectSame(indexer, folder.path)
        expect(indexer.status()).not.toHaveProperty('problem')
      } finally {
        await indexer.stop()
        await folder.remove()
        await own.close()
      }
    }
  )

  it('only now and then is believed only when it is consistent', async () => {
    const seed = Number(process.env.FAULTS_SEED ?? 1)
    const random = seededRandom(seed)
    const lies: Fault[] = [
      () => null,
      () => [],
      () => {
        throw new Refusal(-32000, 'header not found')
      },
      (_, result) => (Array.isArray(result) ? result.slice(1) : result),
      (_, result) => (Array.isArray(result) ? result.toReversed() : result)
    ]
    proxy.setFault((call, result) => {
      if (!/eth_getBlock/.test(call.method) || random() >= 0.2) return result
      return lies[Math.floor(random() * lies.length)]?.(call, result)
    })
    const indexer = run()
    await expectSame(indexer).catch(error => {
      throw new Error(`seed ${seed}`, { cause: error })
    })
  })
})

describe('a node that cannot be reached', () => {
  it('is waited for at the start', async () => {
    proxy.setDown(true)
    const indexer = run()
    const stalled = await indexer.until('it stalls', ({ phase }) => phase === 'stalled')
    expect(stalled.problem).toContain('upstream 1 cannot be reached')
    expect(stalled.problem).not.toContain(proxy.url.slice('http://'.length))
    proxy.setDown(false)
    await expectSame(indexer)
  })

  it('is waited for later on', async () => {
    const indexer = run()
    await expectSame(indexer)
    proxy.setDown(true)
    await indexer.until('it stalls', ({ phase }) => phase === 'stalled')
    expect(indexer.status()).toMatchObject({
      backfilled: true,
      indexedTo: { number: driver.world.blocks.length - 1 }
    })
    await driver.mine({ blocks: 2 })
    proxy.setDown(false)
    await expectSame(indexer)
  })
})

describe('a node of another chain', () => {
  it('is refused at the start by its chain id', async () => {
    const indexer = run({ chainId: 1 })
    const { problem } = await indexer.until('it stalls', ({ phase }) => phase === 'stalled')
    expect(problem).toBe('chain 1: upstream 1 serves chain 31337, expected 1')
    expect(proxy.calls.every(({ method, params }) => method === 'eth_chainId' || params[0] === '0x0')).toBe(
      true
    )
  })

  it('is refused at the start by its genesis block', async () => {
    const first = runTestIndexer(path, { rpcUrls: [proxy.url] })
    await expectSame(first)
    await first.stop()
    proxy.setFault((call, result) =>
      call.params[0] === '0x0' ? { ...(result as Raw), hash: otherHash } : result
    )
    const second = runTestIndexer(path, { rpcUrls: [proxy.url] })
    await expect(second.until('it goes on', ({ phase }) => phase === 'following')).rejects.toThrow(/genesis/)
    await expect(second.stop()).rejects.toThrow(/genesis/)
    proxy.setFault()
    await expectSame(run())
  })

  it('is refused when it takes the place of the right one', async () => {
    const indexer = run()
    await expectSame(indexer)
    const before = indexer.status().indexedTo
    const other = await startAnvil({ genesisTimestampSeconds: 1_600_000_000 })
    cleanUps.push(() => other.stop())
    const otherWorld = await createEmptyWorld(other.rpcUrl, 1_600_000_000)
    await createEvmDriver(other.rpcUrl, otherWorld).mine({ blocks: driver.world.blocks.length + 3 })
    proxy.setTarget(other.rpcUrl)
    const { problem } = await indexer.until('it stalls', ({ phase }) => phase === 'stalled')
    expect(problem).toContain('genesis')
    proxy.setTarget(anvil.rpcUrl)
    await expectSame(indexer)
    expect(indexer.status()).toMatchObject({ indexedTo: before, degraded: false })
  })
})

function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

describe('the first answers of a node', () => {
  it('one wrong answer about the genesis block does not decide for good what the index is of', async () => {
    let lies = 1
    proxy.setFault(({ params }, result) =>
      params[0] === '0x0' && lies-- > 0 ? { ...(result as Raw), hash: `0x${'7'.repeat(64)}` } : result
    )
    await expectSame(run())
    expect(lies).toBeLessThan(1)
  })

  it('another block in the place of the genesis block is no genesis block', async () => {
    let lies = 2
    const head = await driver.rpc('eth_getBlockByNumber', 'latest', false)
    proxy.setFault(({ params }, result) => (params[0] === '0x0' && lies-- > 0 ? head : result))
    await expectSame(run())
    expect(lies).toBeLessThan(1)
  })
})
