import { eventually } from '@chain-data/index/test'
import type { HistoryCertificate } from '@chain-data/protocol'
import { afterEach, expect, it } from 'vitest'
import { createJsonRpc, type JsonRpc } from '../../../devnet/src/platform/jsonRpc.ts'
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
async function pay(rpc: JsonRpc, times: number, from = payer, to = payee): Promise<void> {
  const accounts = (await rpc('eth_accounts')) as string[]
  for (let left = times; left > 0; left--) {
    const before = await rpc('eth_blockNumber')
    await rpc('eth_sendTransaction', { from: accounts[from], to, value: '0x1', gas: '0x5208' })
    // Whichever way the node mines, one block comes of it.
    if ((await rpc('eth_blockNumber')) === before) await rpc('evm_mine')
  }
}

it('on hardhat, which has no index of addresses, histories are found from state, and marked where it proves nothing', async () => {
  const node = await startHardhat()
  cleanUps.push(() => node.stop())
  const rpc = createJsonRpc(node.rpcUrl)
  const [, late = ''] = (await rpc('eth_accounts')) as string[]
  await pay(rpc, 1, payer, late)
  await pay(rpc, 8)
  // The first that this account sends is in the index.
  await pay(rpc, 1, 1)
  const head = Number(await rpc('eth_blockNumber'))
  const [sender = ''] = (await rpc('eth_accounts')) as string[]
  const store = await engines[0].create()
  cleanUps.push(store.remove)
  const open = async (changes = {}): Promise<DeepService> => {
    const service = await startDeepService({
      nodeUrl: node.rpcUrl,
      store: store.url,
      chain: { ...chain, ...changes }
    })
    cleanUps.push(service.close)
    return service
  }
  const heightsOf = async (service: DeepService, address: string) =>
    (await service.history(address)).map(record => 'blockNumber' in record && record.blockNumber)
  const first = await open()
  expect(first.indexedFrom()).toBe(head - 3)
  const all = Array.from({ length: 10 }, (_, position) => head - position)
  expect(await heightsOf(first, sender)).toEqual(all.slice(1))
  expect(await heightsOf(first, late)).toEqual([head, head - 9])
  // It has never sent anything: what can be found of it is told, and that nothing proves it whole.
  expect(await heightsOf(first, payee)).toEqual(all.slice(0, 9))
  const coverageOf = async (address: string) =>
    (await first.ask('svc_getTransactionsByAddress', [address])).coverage
  expect(await coverageOf(payee)).toContain(`31337;from=${head - 3};to=${head}`)
  expect(await coverageOf(payee)).toContain('deep=state;lacks=zero-value-receipts;reason=no-key')
  const { result: certificate } = await first.ask<HistoryCertificate>('svc_verifyHistory', [payee])
  expect(certificate).toMatchObject({
    complete: 'unprovable',
    covers: {
      ...{ from: 0, indexedFrom: head - 3, reason: 'no-key' },
      lacks: ['zero-value-receipts', 'payments-passed-on']
    }
  })
  expect(await coverageOf(sender)).toContain('deep=state;lacks=zero-value-receipts')
  expect((await first.ask('svc_getSyncStatus', [])).result).toMatchObject({
    ...{ indexedFrom: head - 3, deepHistory: 'state' }
  })
  expect(await first.holdings(payee)).toMatchObject({ native: '9', tokens: [], nfts: [] })
  await first.close()

  // Where the index begins was found out once, and stays.
  await pay(rpc, 5)
  const second = await open()
  await eventually('the later blocks are indexed', async () => (await second.history(payee)).length === 14)
  expect(second.indexedFrom()).toBe(head - 3)
  expect(await second.history(sender)).toHaveLength(14)
  await second.close()

  // Strictness refuses what may lack anything, and answers what the index has.
  const strict = await open({ deepHistory: 'strict' })
  const ask = (...params: readonly unknown[]) => strict.ask('svc_getTransactionsByAddress', params)
  for (const account of [sender, payee]) {
    expect((await ask(account)).error?.data).toMatchObject({ reason: 'HISTORY_UNPROVABLE' })
    expect((await ask(account, { limit: 8 })).result).toHaveLength(8)
  }
})
