import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEvmDriver, type EvmDriver } from '../src/evm/createEvmDriver.ts'
import { createContract, createEvmCalls } from '../src/evm/evmIntents.ts'
import {
  confirmedInOrder,
  evmAccount,
  evmContract,
  evmHistoryOf,
  evmHoldingsOf
} from '../src/evm/evmTruth.ts'
import { createEmptyWorld } from '../src/evm/seedEvmWorld.ts'
import { type AnvilNode, startAnvil } from '../src/evm/startAnvil.ts'

let node: AnvilNode
let driver: EvmDriver

beforeAll(async () => {
  node = await startAnvil()
  driver = createEvmDriver(node.rpcUrl, await createEmptyWorld(node.rpcUrl))
})

afterAll(async () => {
  await node?.stop()
})

const address = (name: string) => evmAccount(driver.world, name).address

/** Compares every block of the world with the node, hash for hash. */
async function worldIsTrue() {
  expect(Number(await driver.rpc('eth_blockNumber'))).toBe(driver.world.blocks.length - 1)
  for (const block of driver.world.blocks) {
    const found = (await driver.rpc('eth_getBlockByNumber', `0x${block.number.toString(16)}`, false)) as {
      transactions: string[]
      timestamp: string
    }
    expect(found.transactions).toEqual(block.transactionHashes)
    if (block.timestampSeconds !== undefined) expect(Number(found.timestamp)).toBe(block.timestampSeconds)
  }
  for (const sent of confirmedInOrder(driver.world)) {
    const receipt = (await driver.rpc('eth_getTransactionReceipt', sent.hash)) as Record<string, string>
    expect(Number(receipt.blockNumber)).toBe(sent.position?.blockNumber)
    expect(Number(receipt.transactionIndex)).toBe(sent.position?.index)
    if (sent.effectiveGasPriceWei !== undefined) {
      expect(BigInt(receipt.effectiveGasPrice!)).toBe(sent.effectiveGasPriceWei)
    }
  }
}

test('a block takes the pool in the order of arrival, and a filled gap releases what was queued behind it', async () => {
  await driver.send({ label: 'behind the gap', from: 'alice', to: address('bob'), nonce: 1, valueWei: 2n })
  await driver.send({ label: 'other', from: 'carol', to: address('bob'), valueWei: 3n })
  expect(driver.world.transactions.map(({ state }) => state)).toEqual(['queued', 'pending'])
  await driver.send({ label: 'the gap', from: 'alice', to: address('bob'), valueWei: 1n })
  await driver.mine()
  expect(confirmedInOrder(driver.world).map(({ label }) => label)).toEqual([
    'other',
    'the gap',
    'behind the gap'
  ])
  await worldIsTrue()
})

test('with automine on every transaction is in a block of its own at once', async () => {
  await driver.setAutomine(true)
  const before = driver.world.blocks.length
  const first = await driver.send({ label: 'auto 1', from: 'bob', to: address('carol'), valueWei: 5n })
  const second = await driver.send({ label: 'auto 2', from: 'bob', to: address('carol'), valueWei: 6n })
  await driver.setAutomine(false)
  expect([first.position?.blockNumber, second.position?.blockNumber]).toEqual([before, before + 1])
  await worldIsTrue()
})

test('a reorg drops what was in the removed blocks, keeps what it is told to, and the holdings follow', async () => {
  await driver.send({
    ...{ label: 'token', from: 'deployer' },
    ...createContract('DevToken', ['Token', 'TOK', 18], {
      ...{ label: 'token', kind: 'erc20', name: 'Token', symbol: 'TOK', decimals: 18 }
    })
  })
  await driver.mine()
  const token = evmContract(driver.world, 'token')
  const calls = createEvmCalls(driver.world)
  await driver.send({ label: 'minted before', ...calls.erc20Mint('deployer', token, 'alice', 10n) })
  await driver.mine()
  const kept = await driver.send({ label: 'kept', ...calls.erc20Mint('deployer', token, 'bob', 4n) })
  const also = await driver.send({ label: 'also kept', ...calls.erc20Transfer('bob', token, 'carol', 1n) })
  await driver.mine()
  const lost = await driver.send({ label: 'lost', ...calls.erc20Transfer('alice', token, 'dave', 3n) })
  await driver.mine({ blocks: 2 })

  await driver.reorg(3, {
    keep: [
      { transaction: kept, block: 1 },
      { transaction: also, block: 1 }
    ]
  })

  await worldIsTrue()
  expect(lost.state).toBe('dropped')
  expect(await driver.rpc('eth_getTransactionReceipt', lost.hash)).toBeNull()
  expect(evmHistoryOf(driver.world, address('dave'))).toEqual([])
  const amounts = ['alice', 'bob', 'carol', 'dave'].map(
    name => evmHoldingsOf(driver.world, address(name)).tokens[0]?.amount
  )
  expect(amounts).toEqual([10n, 3n, 1n, undefined])
})

test('after a reorg the lost transaction can be sent again in another block', async () => {
  const calls = createEvmCalls(driver.world)
  const token = evmContract(driver.world, 'token')
  await driver.send({ label: 'lost, again', ...calls.erc20Transfer('alice', token, 'dave', 3n) })
  await driver.mine()
  await worldIsTrue()
  expect(evmHoldingsOf(driver.world, address('dave')).tokens[0]?.amount).toBe(3n)
})

test('a rollback takes the head down and forgets the contracts created above it', async () => {
  await driver.send({
    ...{ label: 'short-lived', from: 'deployer' },
    ...createContract('DevRelay', [false], { label: 'short', kind: 'other', name: '', symbol: '' })
  })
  await driver.mine()
  const before = driver.world.blocks.length
  await driver.rollback(1)
  expect(driver.world.blocks.length).toBe(before - 1)
  expect(driver.world.contracts.short).toBeUndefined()
  await worldIsTrue()
})

test('a transaction thrown out of the pool is gone for good', async () => {
  const sent = await driver.send({ label: 'thrown out', from: 'dave', to: address('bob') })
  await driver.dropFromPool(sent)
  await driver.mine()
  expect(sent.state).toBe('dropped')
  expect(await driver.rpc('eth_getTransactionByHash', sent.hash)).toBeNull()
  await worldIsTrue()
})

test('a queued transaction stays, because the node does not throw it out', async () => {
  const sent = await driver.send({ label: 'stays queued', from: 'heidi', to: address('bob'), nonce: 7 })
  await expect(driver.dropFromPool(sent)).rejects.toMatchObject({ reason: 'NODE_REFUSED' })
  expect(sent.state).toBe('queued')
  expect(await driver.rpc('eth_getTransactionByHash', sent.hash)).not.toBeNull()
})

test('a reorg that would leave a hole before a waiting transaction is refused and changes nothing', async () => {
  await driver.send({ label: 'mined', from: 'erin', to: address('bob') })
  await driver.mine()
  await driver.send({ label: 'waiting', from: 'erin', to: address('bob') })
  await expect(driver.reorg(1)).rejects.toMatchObject({ reason: 'MISUSE' })
  await worldIsTrue()
  await driver.mine()
  await worldIsTrue()
})

test('a transaction the node does not take is an error and not part of the world', async () => {
  const before = driver.world.transactions.length
  await expect(
    driver.send({ label: 'too cheap', from: 'bob', to: address('carol'), gasLimit: 20_000n })
  ).rejects.toMatchObject({ reason: 'NODE_REFUSED' })
  expect(driver.world.transactions.length).toBe(before)
})
