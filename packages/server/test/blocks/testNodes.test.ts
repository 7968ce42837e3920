import { startAnvil } from '@chain-data/devnet'
import { temporaryFolder } from '@chain-data/index/test'
import { JsonRpcProvider } from 'ethers'
import { afterEach, describe, expect, it } from 'vitest'
import { createRootChecks } from '../../src/evm/blocks/roots/createRootChecks.ts'
import { devRoots } from '../../src/model/chainPresets.ts'
import { historyOf, runTestIndexer } from '../support/indexHarness.ts'
import { startHardhat } from '../support/startHardhat.ts'
import { onlyHardhat } from '../support/testClients.ts'
import { allChecks, readWhole, verifyWhole } from './verifyWhole.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** Creation code that logs twice, the creator as topic, and keeps nothing. */
const twoLogs = '0x3360006000a13360006000a100'

/** Starts a node and asks it. */
async function startNode(start: () => Promise<{ readonly rpcUrl: string; stop(): Promise<unknown> }>) {
  const node = await start()
  cleanUps.push(() => node.stop())
  const provider = new JsonRpcProvider(node.rpcUrl, undefined, { batchMaxCount: 1 })
  cleanUps.push(() => provider.destroy())
  return { node, rpc: (method: string, ...params: unknown[]) => provider.send(method, params) }
}

describe.each([['anvil', startAnvil] as const, ...onlyHardhat.map(name => [name, startHardhat] as const)])(
  '%s',
  (name, start) => {
    it('needs no waiver for a block of two transactions that log twice each', async () => {
      const { node, rpc } = await startNode(start)
      const [sender = ''] = (await rpc('eth_accounts')) as string[]
      if (name === 'anvil') await rpc('evm_setAutomine', false)
      for (const nonce of ['0x0', '0x1']) {
        const creation = { from: sender, data: twoLogs, gas: '0x30d40', gasPrice: '0xb2d05e00', nonce }
        await rpc('eth_sendTransaction', creation)
      }
      await rpc('evm_mine')
      const folder = await temporaryFolder()
      cleanUps.push(folder.remove)
      const indexer = runTestIndexer(folder.path, { rpcUrls: [node.rpcUrl] })
      cleanUps.push(() => indexer.stop())
      await indexer.until('block 1 is indexed', ({ indexedTo }) => indexedTo?.number === 1)
      expect(await historyOf(folder.path, sender.toLowerCase())).toHaveLength(2)
    })

    it('makes blocks that agree with their headers, all of them but for accounts without a key', async () => {
      const { rpc } = await startNode(start)
      const [known, all] = [await createRootChecks({ parts: devRoots }), await allChecks()]
      verifyWhole(await readWhole(rpc, '0x0'), known)
      const [sender = ''] = (await rpc('eth_accounts')) as string[]
      const prices = [{ gasPrice: '0xb2d05e00' }, { gasPrice: '0xb2d05e00', accessList: [] }]
      const caps = { maxFeePerGas: '0xb2d05e00', maxPriorityFeePerGas: '0x1' }
      for (const price of [...prices, caps]) {
        await rpc('eth_sendTransaction', { from: sender, data: twoLogs, gas: '0x30d40', ...price })
      }
      await rpc('evm_mine')
      const whole = await readWhole(rpc, 'latest')
      expect(whole.block.transactions.map(({ type }) => type)).toEqual(['0x0', '0x1', '0x2'])
      verifyWhole(whole, all)

      const nobody = `0x${'a1'.repeat(20)}`
      await rpc('hardhat_setBalance', nobody, '0xde0b6b3a7640000')
      await rpc('hardhat_impersonateAccount', nobody)
      await rpc('eth_sendTransaction', { from: nobody, data: twoLogs, gas: '0x30d40', ...caps })
      await rpc('evm_mine')
      const unsigned = await readWhole(rpc, 'latest')
      expect(unsigned.receipts).toHaveLength(1)
      verifyWhole(unsigned, known)
      expect(() => verifyWhole(unsigned, all)).toThrow(/hash of its fields/)
    })
  }
)
