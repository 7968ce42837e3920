import { startAnvil } from '@chain-data/devnet'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CertifiedWorld, startCertifiedWorld } from '../certificate/startCertifiedWorld.ts'
import { eventually } from '../support/indexHarness.ts'
import { type FaultProxy, startFaultProxy } from '../support/startFaultProxy.ts'
import { engines, type TestStore } from '../support/testStores.ts'
import { damageIndex } from './damageIndex.ts'

type Answer = { readonly result?: unknown; readonly error?: { readonly data: { readonly reason: string } } }

describe.each(engines)('an index in $name that is damaged', engine => {
  let anvil: Awaited<ReturnType<typeof startAnvil>>
  let node: FaultProxy
  let store: TestStore
  let world: CertifiedWorld
  let alice: string
  let truth: Answer

  beforeAll(async () => {
    anvil = await startAnvil()
    node = await startFaultProxy(anvil.rpcUrl)
    store = await engine.create()
    world = await startCertifiedWorld({ rpcUrl: anvil.rpcUrl, nodeUrl: node.url, store })
    const [from = '', to = ''] = world.accounts
    alice = to
    for (let block = 0; block < 8; block++) {
      await world.send({ from, to, value: '0x1' })
      await world.mine()
    }
    await world.level()
    truth = await history()
    expect(truth.result).toHaveLength(8)
  })
  afterAll(async () => {
    await world.close()
    await node.close()
    await anvil.stop()
  })

  async function history(): Promise<Answer> {
    return (await (await world.ask('svc_getTransactionsByAddress', [alice])).json()) as Answer
  }

  async function healed(): Promise<void> {
    await eventually(
      'the damaged block is replaced',
      async () => (await history()).result !== undefined,
      10_000
    )
    expect(await history()).toEqual(truth)
  }

  it.each([['a record that is gone', 'DELETE FROM tx WHERE id = 3 * 65536']])(
    'is refused, and heals: %s',
    async (_, sql) => {
      await damageIndex(store.location, sql)
      expect((await history()).error?.data.reason).toBe('INDEX_DAMAGED')
      await healed()
    }
  )

  it('is refused as long as no node answers, and heals then', async () => {
    await damageIndex(store.location, 'DELETE FROM tx WHERE id = 5 * 65536')
    node.setFault(({ method, params }, result) =>
      method === 'eth_getBlockByNumber' && params[0] === '0x5' ? null : result
    )
    expect((await history()).error?.data.reason).toBe('INDEX_DAMAGED')
    node.setFault()
    await healed()
  })
})
