import { afterEach, expect, it } from 'vitest'
import { createJsonRpc, type JsonRpc } from '../../../devnet/src/platform/jsonRpc.ts'
import { eventually } from '../support/indexHarness.ts'
import { startHardhat } from '../support/startHardhat.ts'
import { engines } from '../support/testStores.ts'
import { type DeepService, startDeepService } from './startDeepService.ts'

const cleanUps: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const payer = 0
const payee = `0x${'7e'.repeat(20)}`
const chain = { finality: 3, startBlock: 'latest', deepHistory: 'node' }

/** One block with one payment each. */
async function pay(rpc: JsonRpc, times: number): Promise<void> {
  const accounts = (await rpc('eth_accounts')) as string[]
  for (let left = times; left > 0; left--) {
    const before = await rpc('eth_blockNumber')
    await rpc('eth_sendTransaction', { from: accounts[payer], to: payee, value: '0x1', gas: '0x5208' })
    // Whichever way the node mines, one block comes of it.
    if ((await rpc('eth_blockNumber')) === before) await rpc('evm_mine')
  }
}

it('on hardhat, which has no index of addresses, histories begin at the index, and it says so', async () => {
  const node = await startHardhat()
  cleanUps.push(() => node.stop())
  const rpc = createJsonRpc(node.rpcUrl)
  await pay(rpc, 9)
  const head = Number(await rpc('eth_blockNumber'))
  const store = await engines[0].create()
  cleanUps.push(store.remove)
  let warnings = ''
  const onWarning = (line: string) => {
    warnings += line
  }
  const open = async (): Promise<DeepService> => {
    const service = await startDeepService({ nodeUrl: node.rpcUrl, store: store.url, chain, onWarning })
    cleanUps.push(service.close)
    return service
  }
  const first = await open()
  expect(first.indexedFrom()).toBe(head - 3)
  await eventually('it is said that no node can', () =>
    warnings.includes('no node lists the transactions of an address')
  )
  const history = await first.history(payee)
  expect(history.map(record => 'blockNumber' in record && record.blockNumber)).toEqual([
    head,
    head - 1,
    head - 2,
    head - 3
  ])
  const { coverage } = await first.ask('svc_getTransactionsByAddress', [payee])
  expect(coverage).toContain(`31337;from=${head - 3};to=${head}`)
  expect(coverage).toContain('deep=none')
  expect((await first.ask('svc_getSyncStatus', [])).result).toMatchObject({
    ...{ indexedFrom: head - 3, deepHistory: 'none' }
  })
  expect(await first.holdings(payee)).toMatchObject({ native: '9', tokens: [], nfts: [] })
  await first.close()

  // Where the index begins was found out once, and stays.
  await pay(rpc, 5)
  const second = await open()
  await eventually('the later blocks are indexed', async () => (await second.history(payee)).length === 9)
  expect(second.indexedFrom()).toBe(head - 3)
})
