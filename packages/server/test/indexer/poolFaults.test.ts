import { type AnvilNode, type EvmDriver, seedEvmWorld, startAnvil } from '@chain-data/devnet'
import { eventually, temporaryFolder } from '@chain-data/index/test'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { poolOf, type RunningIndexer, runTestIndexer } from '../support/indexHarness.ts'
import { type FaultProxy, Refusal, startFaultProxy } from '../support/startFaultProxy.ts'

let anvil: AnvilNode
let driver: EvmDriver
let proxy: FaultProxy
let path: string
let sender: string
const cleanUps: (() => Promise<void>)[] = []

beforeAll(async () => {
  anvil = await startAnvil()
  driver = await seedEvmWorld(anvil.rpcUrl)
  sender = driver.world.transactions.find(({ state }) => state === 'pending')!.from
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

function run(): RunningIndexer {
  const indexer = runTestIndexer(path, { rpcUrls: [proxy.url] })
  cleanUps.push(() => indexer.stop())
  return indexer
}

const refusePool = (code: number) =>
  proxy.setFault((call, result) => {
    if (/txpool|eth_pendingTransactions/.test(call.method) || call.params[0] === 'pending') {
      throw new Refusal(code)
    }
    return result
  })

describe('a pool that cannot be read', () => {
  it('from the start on is not taken for a pool that the node does not show', async () => {
    refusePool(-32000)
    const indexer = run()
    const { poolCovered, poolSeenAtMs } = await indexer.until(
      'following',
      ({ phase }) => phase === 'following'
    )
    expect({ poolCovered, poolSeenAtMs }).toEqual({ poolCovered: false, poolSeenAtMs: undefined })
    proxy.setFault()
    await indexer.until('it is read soon after', status => status.poolCovered, 6_000)
  })

  it('any more after a restart does not keep the entries of the earlier run', async () => {
    const first = run()
    await first.until('the pool was seen', ({ poolSeenAtMs }) => poolSeenAtMs !== undefined)
    expect(await poolOf(path, sender)).not.toEqual([])
    await first.stop()
    refusePool(-32601)
    const second = run()
    await second.until('following', ({ phase }) => phase === 'following')
    expect(await poolOf(path, sender)).toEqual([])
    expect(second.status()).toMatchObject({ poolCovered: false, poolSeenAtMs: expect.any(Number) })
  })

  it('for once counts as unread, however the node words it, and is asked for again soon', async () => {
    const indexer = run()
    await indexer.until('the pool was seen', ({ poolSeenAtMs }) => poolSeenAtMs !== undefined)
    refusePool(-32601)
    await indexer.until('it is not seen', ({ poolCovered }) => !poolCovered)
    const lastSeenMs = indexer.status().poolSeenAtMs
    const asked = proxy.calls.length
    await eventually('some more looks', () => proxy.calls.length > asked + 20)
    expect(indexer.status().poolSeenAtMs).toBe(lastSeenMs)
    expect(await poolOf(path, sender)).not.toEqual([])
  })
})
