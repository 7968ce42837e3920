import { createEmptyWorld, createEvmDriver, evmAccount, startAnvil } from '@chain-data/devnet'
import { eventually } from '@chain-data/index/test'
import { afterAll, describe, expect, it } from 'vitest'
import { createRandom } from '../../../devnet/src/platform/createRandom.ts'
import { seed } from '../chaos/chaosSizes.ts'
import { healthOf } from '../processes/leaderOf.ts'
import { type Member, startFleet } from '../processes/startFleet.ts'
import { engines } from '../support/testStores.ts'
import { openStream, RefusedError, readHistory, type Service } from './askService.ts'
import { checkSamples } from './checkSamples.ts'
import { followAccounts } from './followAccounts.ts'
import { authorization, startLiveService } from './startLiveService.ts'

const cleanUps: (() => unknown)[] = []
afterAll(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

describe.each(engines)('over $name', engine => {
  it('a server that ends tells its streams so, and they go on at another one without loss', async () => {
    const anvil = await startAnvil()
    cleanUps.push(() => anvil.stop())
    const driver = createEvmDriver(anvil.rpcUrl, await createEmptyWorld(anvil.rpcUrl))
    const store = await engine.create()
    cleanUps.push(() => store.remove())
    const drainMs = 200
    const fleet = await startFleet(
      store.url,
      { chainId: 31337, rpcUrls: [anvil.rpcUrl], pollIntervalMs: 50 },
      { listen: { port: 0, drainMs } }
    )
    cleanUps.push(() => fleet.end())
    // The one that writes is the one that ends.
    const first = await fleet.add(true)
    const second = await fleet.add(true)
    await eventually('both answer', async () =>
      (await Promise.all([first, second].map(healthOf))).every(health => health?.ready === true)
    )
    const at = ({ url }: Member): Service => ({ url, headers: { authorization }, chainId: 31337 })
    let present = first
    const random = createRandom(seed)
    const accounts = ['alice', 'bob', 'carol'] as const
    const addresses = accounts.map(name => evmAccount(driver.world, name).address)
    const follower = await followAccounts(addresses, () => at(present))
    let sent = 0
    const sendSome = async () => {
      for (const name of accounts) {
        await driver.send({
          label: `${++sent}`,
          from: name,
          to: random.pick(addresses as [string]),
          valueWei: BigInt(sent)
        })
      }
      await driver.mine()
    }
    await sendSome()
    await follower.settle()

    const stopped = fleet.stop(first)
    present = second
    await eventually('the stream is told', () => follower.counts.endedByServer === 1)
    await sendSome()
    expect(await stopped).toBe(0)
    await sendSome()
    const samples = await Promise.all(
      addresses.map(async address => ({ address, ...(await readHistory(at(second), address)) }))
    )
    // Afterwards: the block may be indexed between two looks, and the events of every sample have to be there.
    await follower.settle()
    expect(await checkSamples(follower, samples, () => at(second))).toEqual([])
    await follower.stop()
  })
})

describe('a cursor', () => {
  it('that is too old is refused, and the advice it comes with works', async () => {
    const service = await startLiveService({ history: { changeLogBlocks: 64 } })
    cleanUps.push(() => service.close())
    const alice = service.addressOf('alice')
    const old = await readHistory(service, alice)
    await service.driver.send({ label: 'first', from: 'alice', to: alice, valueWei: 1n })
    await service.driver.mine({ blocks: 200 })
    const refusal = await eventually('the cursor is too old', async () => {
      const connection = new AbortController()
      const resume = { after: old.cursor, signal: connection.signal }
      const refused = await openStream(service, [alice], resume).catch((error: RefusedError) => error)
      connection.abort()
      return refused instanceof RefusedError && refused
    })
    expect(refusal.reason).toBe('CURSOR_EXPIRED')

    const follower = await followAccounts([alice], () => service)
    await service.driver.send({ label: 'later', from: 'alice', to: alice, valueWei: 1n })
    await service.driver.mine()
    await follower.settle()
    await follower.stop()
  })

  it('of another index is refused', async () => {
    const [one, other] = await Promise.all([startLiveService(), startLiveService()])
    cleanUps.push(
      () => one.close(),
      () => other.close()
    )
    const alice = one.addressOf('alice')
    const { cursor } = await readHistory(one, alice)
    for (const resume of [{ after: cursor }, { lastEventId: cursor }]) {
      await expect(openStream(other, [alice], resume)).rejects.toMatchObject({ reason: 'CURSOR_EXPIRED' })
    }
  })
})
