import {
  type AnvilNode,
  createEmptyWorld,
  createEvmDriver,
  type EvmDriver,
  startAnvil
} from '@chain-data/devnet'
import { temporaryFolder } from '@chain-data/index/test'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { differences, type RunningIndexer, runTestIndexer } from '../support/indexHarness.ts'
import { startFaultProxy } from '../support/startFaultProxy.ts'
import { walkChain } from '../support/walkChain.ts'

let anvil: AnvilNode
let driver: EvmDriver
let path: string
let everyAddress: string[]
const cleanUps: (() => Promise<void>)[] = []

beforeEach(async () => {
  anvil = await startAnvil()
  cleanUps.push(() => anvil.stop())
  driver = createEvmDriver(anvil.rpcUrl, await createEmptyWorld(anvil.rpcUrl))
  await tellShortStory()
  const folder = await temporaryFolder()
  cleanUps.push(folder.remove)
  path = folder.path
  everyAddress = [...(await walkChain(driver.rpc)).addresses]
})

/** 45 blocks; an address of its own in each, so that whatever a reorg leaves behind shows. */
async function tellShortStory(): Promise<void> {
  for (let number = 1; number <= 45; number++) {
    const fresh = `0x${number.toString(16).padStart(40, '5')}`
    await driver.send({ label: `to a fresh address ${number}`, from: 'alice', to: fresh, valueWei: 1n })
    await driver.send({ label: `to bob ${number}`, from: 'carol', to: evmAccount('bob'), valueWei: 2n })
    await driver.mine()
  }
}

function evmAccount(name: string): string {
  const account = driver.world.accounts[name]
  if (account === undefined) throw new Error(`no account ${name}`)
  return account.address
}
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

function run(config: Partial<Parameters<typeof runTestIndexer>[1]> = {}): RunningIndexer {
  const indexer = runTestIndexer(path, { rpcUrls: [anvil.rpcUrl], ...config })
  cleanUps.push(() => indexer.stop())
  return indexer
}

async function headOf(): Promise<{ number: number; hash: string }> {
  const { number, hash } = (await driver.rpc('eth_getBlockByNumber', 'latest', false)) as Record<
    string,
    string
  >
  return { number: Number(number), hash: hash! }
}

async function expectSame(indexer: RunningIndexer): Promise<void> {
  const { hash } = await headOf()
  await indexer.until(
    `block ${hash} is indexed`,
    ({ indexedTo, phase }) => phase === 'following' && indexedTo?.hash === hash
  )
  // Addresses that had a history before the reorg must have lost what it removed.
  expect(await differences(path, await walkChain(driver.rpc), everyAddress)).toEqual([])
}

describe('a reorg', () => {
  it('of any depth within finality leaves exactly the new chain', async () => {
    const indexer = run()
    await expectSame(indexer)
    for (const depth of [1, 2, 7, 40]) {
      await driver.rpc('anvil_reorg', depth, [])
      await expectSame(indexer)
    }
    expect(indexer.status().degraded).toBe(false)
    expect(indexer.statuses.some(({ phase }) => phase === 'stalled')).toBe(false)
  })

  it('that mines the same transaction elsewhere keeps it once, at its new place', async () => {
    const indexer = run()
    const sent = await driver.send({ label: 'moved', from: 'alice', to: everyAddress[0]!, valueWei: 1n })
    await driver.mine({ blocks: 4 })
    await expectSame(indexer)
    await driver.reorg(4, { keep: [{ transaction: sent, block: 2 }] })
    await expectSame(indexer)
  })

  it('while the indexer is away is undone at the next start', async () => {
    const first = runTestIndexer(path, { rpcUrls: [anvil.rpcUrl] })
    await expectSame(first)
    await first.stop()
    await driver.rpc('anvil_reorg', 12, [])
    await driver.rpc('anvil_mine', '0x3')
    await expectSame(run())
  })

  it('behind final blocks is followed too, and the index is degraded until all that was removed is final again', async () => {
    const indexer = run({ finality: 5 })
    await expectSame(indexer)
    const removedTo = (await headOf()).number
    await driver.rpc('anvil_reorg', 20, [])
    await expectSame(indexer)
    expect(indexer.status().degraded).toBe(true)
    await indexer.stop()
    const again = run({ finality: 5 })
    await expectSame(again)
    expect(again.status().degraded).toBe(true)
    await driver.rpc('anvil_mine', `0x${(removedTo + 4 - (await headOf()).number).toString(16)}`)
    await expectSame(again)
    expect(again.status().degraded).toBe(true)
    await driver.rpc('anvil_mine', '0x1')
    await expectSame(again)
    expect(again.status().degraded).toBe(false)
  })

  it('below the start block empties the index and fills it again', async () => {
    const head = (await headOf()).number
    const indexer = run({ startBlock: head - 3 })
    await indexer.until('the head is indexed', ({ indexedTo }) => indexedTo?.number === head)
    await driver.rpc('anvil_reorg', 10, [])
    await driver.rpc('anvil_mine', '0x2')
    const { hash } = await headOf()
    await indexer.until(
      'the new head is indexed',
      ({ indexedTo, backfilled }) => backfilled && indexedTo?.hash === hash
    )
    expect(await differences(path, await walkChain(driver.rpc, head - 3), everyAddress)).toEqual([])
  })
})

it('a reorg that passes while blocks are fetched does not stall the index', async () => {
  const proxy = await startFaultProxy(anvil.rpcUrl)
  cleanUps.push(() => proxy.close())
  const indexer = run({ rpcUrls: [proxy.url] })
  await expectSame(indexer)
  const next = (await headOf()).number + 1
  let fetched = 0
  // The first fetch of the block still sees another one, which nothing above it knows.
  proxy.setFault((call, result) => {
    const isNext = call.method === 'eth_getBlockByNumber' && Number(call.params[0]) === next && call.params[1]
    if (!isNext || result === null || fetched++ > 0) return result
    return { ...(result as object), hash: `0x${'7'.repeat(64)}` }
  })
  await driver.rpc('anvil_mine', '0x3')
  await expectSame(indexer)
  expect(fetched).toBeGreaterThan(1)
  expect(indexer.statuses.filter(({ phase }) => phase === 'stalled')).toEqual([])
})

describe('a lower head', () => {
  it('alone takes nothing back', async () => {
    const indexer = run({ lowerHeadGraceMs: 60_000 })
    await expectSame(indexer)
    const before = indexer.status().indexedTo
    await driver.rpc('anvil_rollback', 3)
    await indexer.until('the lower head is seen', ({ head }) => head === (before?.number ?? 0) - 3)
    await indexer.until('several looks later', ({ poolSeenAtMs }) => (poolSeenAtMs ?? 0) > Date.now() - 20)
    expect(indexer.status()).toMatchObject({ indexedTo: before, phase: 'following' })
  })

  it('that stays while the node no longer knows the blocks above takes them back', async () => {
    const indexer = run({ lowerHeadGraceMs: 150 })
    await expectSame(indexer)
    await driver.rpc('anvil_rollback', 3)
    await expectSame(indexer)
  })

  it('of another chain is a reorg to a shorter one', async () => {
    const indexer = run({ lowerHeadGraceMs: 60_000 })
    await expectSame(indexer)
    await driver.rpc('anvil_rollback', 6)
    await driver.rpc('anvil_mine', '0x2')
    await expectSame(indexer)
  })
})
