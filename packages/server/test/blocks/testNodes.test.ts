import { startAnvil } from '@chain-data/devnet'
import { JsonRpcProvider } from 'ethers'
import { afterEach, describe, expect, it } from 'vitest'
import { historyOf, runTestIndexer, temporaryFolder } from '../support/indexHarness.ts'
import { startHardhat } from '../support/startHardhat.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** Creation code that logs twice, the creator as topic, and keeps nothing. */
const twoLogs = '0x3360006000a13360006000a100'

describe.each([
  ['anvil', startAnvil],
  ['hardhat', startHardhat]
] as const)('%s', (name, start) => {
  it('needs no waiver for a block of two transactions that log twice each', async () => {
    const node = await start()
    cleanUps.push(() => node.stop())
    const provider = new JsonRpcProvider(node.rpcUrl, undefined, { batchMaxCount: 1 })
    cleanUps.push(() => provider.destroy())
    const [sender = ''] = (await provider.send('eth_accounts', [])) as string[]
    if (name === 'anvil') await provider.send('evm_setAutomine', [false])
    for (const nonce of ['0x0', '0x1']) {
      const creation = { from: sender, data: twoLogs, gas: '0x30d40', gasPrice: '0xb2d05e00', nonce }
      await provider.send('eth_sendTransaction', [creation])
    }
    await provider.send('evm_mine', [])
    const folder = await temporaryFolder()
    cleanUps.push(folder.remove)
    const indexer = runTestIndexer(folder.path, { rpcUrls: [node.rpcUrl] })
    cleanUps.push(() => indexer.stop())
    await indexer.until('block 1 is indexed', ({ indexedTo }) => indexedTo?.number === 1)
    expect(await historyOf(folder.path, sender.toLowerCase())).toHaveLength(2)
  })
})
