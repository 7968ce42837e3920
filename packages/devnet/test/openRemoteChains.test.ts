import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRemoteChains } from '../src/cli/openSubject.ts'
import {
  type AnvilNode,
  createEmptyWorld,
  createEvmDriver,
  type EvmDriver,
  evmAccount,
  startAnvil
} from '../src/index.ts'

let node: AnvilNode
let driver: EvmDriver
let folder: string

beforeAll(async () => {
  ;[node, folder] = await Promise.all([
    startAnvil({ chainId: 777 }),
    mkdtemp(join(tmpdir(), 'chain-data-test-'))
  ])
  driver = createEvmDriver(node.rpcUrl, await createEmptyWorld(node.rpcUrl))
})

afterAll(async () => {
  await node?.stop()
  if (folder !== undefined) await rm(folder, { recursive: true })
})

const open = (more: object = {}) =>
  openRemoteChains({ remoteChains: [{ chainId: 777, rpcUrls: [node.rpcUrl] }], ...more }, folder)

test('a chain on which nothing was sent needs an address', async () => {
  await expect(open()).rejects.toThrow('--address')
  const address = evmAccount(driver.world, 'frank').address
  expect((await open({ address })).showEvm).toEqual({ chainId: 777, address, name: 'the account asked for' })
})

test('otherwise the account shown is one that sent lately, and the folder stays where it was put', async () => {
  await driver.send({ label: 'one', from: 'carol', to: evmAccount(driver.world, 'bob').address })
  await driver.mine({ blocks: 3 })
  const subject = await open()
  expect(subject.showEvm?.address.toLowerCase()).toBe(evmAccount(driver.world, 'carol').address.toLowerCase())
  expect(subject.store).toBe(`sqlite:${folder}`)
  expect(subject.evm).toEqual([{ chainId: 777, rpcUrls: [node.rpcUrl], startBlock: 0 }])
})

test('a long chain is indexed from its newest thousand blocks, and later runs keep that start', async () => {
  await rm(join(folder, 'start-blocks.json'))
  await driver.rpc('anvil_mine', '0x5dc')
  await driver.rpc('evm_setNextBlockTimestamp', 1_900_000_000)
  const address = evmAccount(driver.world, 'bob').address
  const head = Number(await driver.rpc('eth_blockNumber'))
  expect((await open({ address })).evm[0]?.startBlock).toBe(head - 1000)
  await driver.rpc('anvil_mine', '0x5')
  expect((await open({ address })).evm[0]?.startBlock).toBe(head - 1000)
  expect((await open({ address, startBlock: head - 1000 })).evm[0]?.startBlock).toBe(head - 1000)
  // The index cannot be extended backwards: an answer would leave out what was asked for.
  await expect(open({ address, startBlock: 3 })).rejects.toThrow(`begins at block ${head - 1000}`)
})

test('a node of another chain, or none at all, is told at once', async () => {
  const address = evmAccount(driver.world, 'bob').address
  const elsewhere = { remoteChains: [{ chainId: 1, rpcUrls: [node.rpcUrl] }], address }
  await expect(openRemoteChains(elsewhere, folder)).rejects.toThrow(
    'CHAIN_DATA_EVM_1: the node there serves chain 777'
  )
  // A port that fetch refuses to dial.
  const nobody = 'http://127.0.0.1:9'
  const down = { remoteChains: [{ chainId: 777, rpcUrls: [nobody] }], address }
  await expect(openRemoteChains(down, folder)).rejects.toThrow(
    'CHAIN_DATA_EVM_777: eth_chainId: the node gives no answer (bad port)'
  )
  const spare = { remoteChains: [{ chainId: 777, rpcUrls: [nobody, node.rpcUrl] }], address }
  expect((await openRemoteChains(spare, folder)).evm[0]?.rpcUrls).toEqual([nobody, node.rpcUrl])
})
