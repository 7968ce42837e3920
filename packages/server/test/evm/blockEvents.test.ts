import { startAnvil } from '@chain-data/devnet'
import { JsonRpcProvider, Wallet } from 'ethers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { verifyHeader, verifyReceipts } from '../../src/evm/blocks/verify.ts'
import { normalizeAlone } from '../blocks/normalizeAlone.ts'

const authority = new Wallet(`0x${'71'.repeat(32)}`)
const feeRecipient = `0x${'fe'.repeat(20)}`
const delegate = `0x${'de'.repeat(20)}`
let node: Awaited<ReturnType<typeof startAnvil>>
let provider: JsonRpcProvider

beforeAll(async () => {
  node = await startAnvil()
  provider = new JsonRpcProvider(node.rpcUrl, undefined, { batchMaxCount: 1, cacheTimeout: -1 })
})
afterAll(async () => {
  provider.destroy()
  await node.stop()
})

it('the events of a block on anvil are what its fee recipient got, and the nonces that its authorities used', async () => {
  const sponsor = new Wallet(`0x${'59'.repeat(32)}`, provider)
  await provider.send('anvil_setBalance', [sponsor.address, '0xde0b6b3a7640000'])
  await provider.send('anvil_setCoinbase', [feeRecipient])
  const { chainId } = await provider.getNetwork()
  const authorizationList = [
    await authority.authorize({ address: delegate, chainId, nonce: 0 }),
    await authority.authorize({ address: delegate, chainId: 0n, nonce: 1 }),
    // For another chain, and with a nonce that is not its turn: the first is not stored, the second has used none.
    await authority.authorize({ address: delegate, chainId: 5n, nonce: 2 }),
    await authority.authorize({ address: delegate, chainId, nonce: 9 })
  ]
  await sponsor.sendTransaction({ type: 4, to: delegate, gasLimit: 500_000n, authorizationList })
  await provider.send('evm_mine', [])
  const number = Number(await provider.send('eth_blockNumber', []))
  const header = await provider.send('eth_getBlockByNumber', [`0x${number.toString(16)}`, true])
  const receipts = await provider.send('eth_getBlockReceipts', [header.hash])
  const { block } = normalizeAlone(verifyReceipts(verifyHeader(header, number), receipts))

  const tips = await provider.getBalance(feeRecipient)
  expect(tips).toBeGreaterThan(0n)
  expect(block.events).toEqual([
    {
      address: authority.address.toLowerCase(),
      events: [0n, 1n, 9n].map(nonce => ({ kind: 'authorization', nonce }))
    },
    { address: feeRecipient, events: [{ kind: 'tip', amount: tips }] }
  ])
  expect(await provider.getTransactionCount(authority.address)).toBe(2)
  // Without the nonces around the block, every authority counts.
  expect(block.hasUncheckedAuthorities).toBe(true)
  const parties = [sponsor.address.toLowerCase(), delegate, authority.address.toLowerCase()]
  expect(block.transactions[0]?.parties).toEqual(parties)
})
