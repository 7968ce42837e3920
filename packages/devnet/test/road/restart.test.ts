import { isPending, type TransactionRecord } from '@chain-data/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FaultProxy, startFaultProxy } from '../../../server/test/support/startFaultProxy.ts'
import {
  type Devnet,
  type EvmDevnet,
  evmAccount,
  evmAddressesOf,
  evmTransaction,
  startDevnet
} from '../../src/index.ts'
import { evmChainId as chainId, succeed } from './support/callService.ts'
import { expectedHistory, gasUsedOf } from './support/confirmedTruth.ts'
import { eventually, type Road, startRoad, temporaryFolder } from './support/startRoad.ts'

let devnet: Devnet
let evm: EvmDevnet
let proxy: FaultProxy
let folder: Awaited<ReturnType<typeof temporaryFolder>>

beforeAll(async () => {
  devnet = await startDevnet({ seed: 33, solana: false })
  evm = devnet.evm!
  proxy = await startFaultProxy(evm.node.rpcUrl)
  folder = await temporaryFolder()
})

afterAll(async () => {
  await proxy?.close()
  await devnet?.stop()
  await folder?.remove()
})

/** One run of the service on the folder; ends before the next begins. */
async function run<T>(work: (road: Road) => Promise<T>): Promise<T> {
  const road = await startRoad(devnet, { evmUrl: proxy.url, store: `sqlite:${folder.path}` })
  try {
    return await work(road)
  } finally {
    await road.close()
  }
}

async function historyOf({ baseUrl }: Road, address: string): Promise<TransactionRecord[]> {
  const call = { method: 'svc_getTransactionsByAddress', params: [address] } as const
  return (await succeed(baseUrl, call)).result as TransactionRecord[]
}

async function untilIndexedTo({ client }: Road, blockNumber: number): Promise<void> {
  await eventually(
    async () => ((await client.getSyncStatus({ chainId })).indexedTo === blockNumber ? true : undefined),
    () => `block ${blockNumber} to be indexed`
  )
}

/** Compares every address, and tells when each waiting transaction was first seen. */
async function expectTruth(road: Road): Promise<Map<string, number>> {
  const gas = await gasUsedOf(evm.driver)
  const firstSeen = new Map<string, number>()
  for (const address of evmAddressesOf(evm.world)) {
    const records = await historyOf(road, address)
    const timestamps = new Map<string, number>(records.map(({ hash, timestamp }) => [hash, timestamp]))
    expect(records, address).toStrictEqual(
      expectedHistory(evm.driver, address, gas, hash => timestamps.get(hash)!)
    )
    for (const record of records) if (isPending(record)) firstSeen.set(record.hash, record.timestamp)
  }
  return firstSeen
}

const isFullBlock = ({ method, params }: { method: string; params: readonly unknown[] }) =>
  (/^eth_getBlockBy(Number|Hash)$/.test(method) && params[1] === true) || /Receipt/.test(method)

test('a second start on the same folder continues where the first one stopped', async () => {
  const { driver, world } = evm
  const frank = evmAccount(world, 'frank').address
  const head = () => world.blocks.length - 1

  const firstHead = head()
  const seenFirst = await run(road => expectTruth(road))
  expect(seenFirst.size).toBeGreaterThan(5)
  expect(proxy.calls.filter(isFullBlock).length).toBeGreaterThan(firstHead)
  const storedNumbers = new Set(world.blocks.map(({ number }) => `0x${number.toString(16)}`))
  const storedHashes = new Set<unknown>()
  for (const number of storedNumbers) {
    storedHashes.add(((await driver.rpc('eth_getBlockByNumber', number, false)) as { hash: string }).hash)
  }

  // While nobody looks: everything executable is mined, and something new comes to wait.
  await driver.send({ label: 'mined while away', from: 'alice', to: frank, valueWei: 5n })
  await driver.mine({ blocks: 3 })
  await driver.send({ label: 'waiting since then', from: 'bob', to: frank, valueWei: 6n })
  // Another second has to come, or a first sight that was forgotten could not be told from one that was kept.
  await eventually(
    () => (Date.now() / 1000 > Math.max(...seenFirst.values()) + 1 ? true : undefined),
    () => 'the next second'
  )
  const restartedSeconds = Math.floor(Date.now() / 1000)
  proxy.calls.length = 0
  const seenAgain = await run(async road => {
    await untilIndexedTo(road, head())
    return expectTruth(road)
  })

  const blockCalls = proxy.calls.filter(isFullBlock)
  expect(blockCalls.length).toBeGreaterThanOrEqual(3)
  const again = blockCalls.filter(
    ({ params }) =>
      storedNumbers.has(String(params[0])) ||
      storedHashes.has(
        typeof params[0] === 'string' ? params[0] : (params[0] as { blockHash?: string }).blockHash
      )
  )
  expect(again).toEqual([])
  // And hardly anything else was asked about the old blocks: their headers are not walked through either.
  const oldHeaders = proxy.calls.filter(
    ({ method, params }) =>
      /^eth_getBlockBy/.test(method) && (storedNumbers.has(String(params[0])) || storedHashes.has(params[0]))
  )
  expect(oldHeaders.length).toBeLessThanOrEqual(5)

  const queued = evmTransaction(world, 'queued transfer')
  expect(queued.state).toBe('queued')
  expect(seenAgain.get(queued.hash)).toBe(seenFirst.get(queued.hash))
  expect(seenAgain.get(queued.hash)).toBeLessThan(restartedSeconds)
  const arrived = evmTransaction(world, 'waiting since then')
  expect(seenAgain.get(arrived.hash)).toBeGreaterThanOrEqual(restartedSeconds)
})

test('a reorg that happened while the service was away is followed after the restart', async () => {
  const { driver, world } = evm
  const frank = evmAccount(world, 'frank').address
  // Nothing of bob's may wait while his newest block is undone.
  await driver.mine()
  await driver.send({ label: 'gone for good', from: 'bob', to: frank, valueWei: 7n })
  const kept = await driver.send({ label: 'comes again', from: 'carol', to: frank, valueWei: 8n })
  await driver.mine({ blocks: 2 })
  const before = await run(async road => {
    await untilIndexedTo(road, world.blocks.length - 1)
    await expectTruth(road)
    return (await historyOf(road, frank)).map(({ hash }) => hash)
  })
  expect(before).toContain(evmTransaction(world, 'gone for good').hash)
  await driver.reorg(2, { keep: [{ transaction: kept, block: 1 }] })
  await driver.mine()
  const after = await run(async road => {
    await untilIndexedTo(road, world.blocks.length - 1)
    return (await historyOf(road, frank)).map(({ hash, status }) => ({ hash, status }))
  })
  expect(after).toContainEqual({ hash: kept.hash, status: 3 })
  expect(after.map(({ hash }) => hash)).toEqual(
    before.filter(hash => hash !== evmTransaction(world, 'gone for good').hash)
  )
})
