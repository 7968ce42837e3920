import { afterEach, expect, it } from 'vitest'
import { createEvmSource } from '../../src/evm/blocks/evmSource.ts'
import { createEvmRpc } from '../../src/nodes/evm/rpc.ts'
import { address, erc20Transfer, rawBlock } from './rawBlock.ts'
import { startScriptedChain } from './startScriptedChain.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp()
})

it('receipts of a block that exceed the size of an answer are read one by one, again and again', async () => {
  const transfer = erc20Transfer(address(500), address(1), address(2))
  const blocks = Array.from({ length: 6 }, (_, i) =>
    rawBlock(
      i + 1,
      Array.from({ length: 40 }, () => ({ logs: [transfer, transfer, transfer] }))
    )
  )
  const chain = await startScriptedChain(blocks)
  cleanUps.push(chain.close)
  // A block fits, and so do some of its receipts, but not all of them.
  const maxResponseBytes = 40_000
  expect(JSON.stringify(blocks[0]?.block).length).toBeLessThan(maxResponseBytes)
  expect(JSON.stringify(blocks[0]?.receipts).length).toBeGreaterThan(2 * maxResponseBytes)
  const rpc = createEvmRpc({ chainId: 31337, rpcUrls: [chain.url], maxResponseBytes })
  cleanUps.push(rpc.close)
  const source = createEvmSource({ rpc, finality: 'auto' })
  const counts = await Promise.all(blocks.map(async (_, i) => (await source.block(i + 1)).transactionCount))
  expect(counts).toEqual([40, 40, 40, 40, 40, 40])
})
