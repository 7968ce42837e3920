import {
  type AnvilNode,
  createEmptyWorld,
  createEvmDriver,
  type EvmDriver,
  type EvmTransaction,
  startAnvil
} from '@chain-data/devnet'
import { eventually, temporaryFolder } from '@chain-data/index/test'
import { afterEach, expect, it } from 'vitest'
import { startFaultProxy } from '../support/startFaultProxy.ts'
import { startSimulatedService } from './startSimulatedService.ts'
import { watchAnswers } from './watchAnswers.ts'

const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** Two nodes with the same first blocks. */
async function startTwin(): Promise<{ anvil: AnvilNode; driver: EvmDriver }> {
  const anvil = await startAnvil()
  cleanUps.push(() => anvil.stop())
  const driver = createEvmDriver(anvil.rpcUrl, await createEmptyWorld(anvil.rpcUrl))
  await driver.mine({ blocks: 5 })
  return { anvil, driver }
}

it('a transaction that a reorg moves or throws back into the pool is in every answer, and once', async () => {
  const [one, other] = [await startTwin(), await startTwin()]
  const to = one.driver.world.accounts.bob!.address
  const everywhere = [
    { label: 'moved', from: 'alice', to, valueWei: 1n },
    { label: 'thrown back', from: 'carol', to, valueWei: 2n }
  ]
  // One chain has both at the bottom of six blocks, the other the first one at the top and the second in its pool.
  const sent: EvmTransaction[] = []
  for (const intent of everywhere) sent.push(await one.driver.send(intent))
  await one.driver.mine({ blocks: 6 })
  await other.driver.mine({ blocks: 6, timestampSeconds: 1_700_001_000 })
  await other.driver.send(everywhere[0]!)
  await other.driver.mine()
  await other.driver.send(everywhere[1]!)

  const proxy = await startFaultProxy(one.anvil.rpcUrl)
  cleanUps.push(() => proxy.close())
  const folder = await temporaryFolder()
  cleanUps.push(folder.remove)
  const service = await startSimulatedService(folder.path, proxy.url)
  cleanUps.push(() => service.close())
  const levelWith = async ({ driver }: { driver: EvmDriver }) => {
    const { hash } = (await driver.rpc('eth_getBlockByNumber', 'latest', false)) as { hash: string }
    await eventually('the head is indexed', () => {
      const [status] = service.server.status()
      return status?.indexedTo?.hash === hash && status.backfilled
    })
  }
  await levelWith(one)
  await service.history(to)

  const watch = watchAnswers(
    () => service,
    () => [to, ...sent.map(({ from }) => from)]
  )
  cleanUps.push(() => watch.stop())
  for (let turn = 0; turn < 4; turn++) {
    const now = turn % 2 === 0 ? other : one
    // One chain is longer: going back to it is a head below the index, of another chain.
    proxy.setTarget(now.anvil.rpcUrl)
    await levelWith(now)
    await service.history(to)
    const told = watch.take()
    expect(told.length).toBeGreaterThan(0)
    for (const { address, records, refusal } of told) {
      expect(refusal).toBeUndefined()
      const wanted = sent.filter(({ from }) => address === to || address === from).map(({ hash }) => hash)
      expect(records?.map(({ hash }) => hash).sort()).toEqual(wanted.sort())
    }
  }
})
