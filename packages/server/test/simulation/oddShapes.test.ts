import {
  type AnvilNode,
  createEmptyWorld,
  createEvmDriver,
  type EvmDriver,
  startAnvil
} from '@chain-data/devnet'
import { eventually, temporaryFolder } from '@chain-data/index/test'
import type { TransactionRecord } from '@chain-data/protocol'
import { getCreateAddress, toBeHex } from 'ethers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type FaultProxy, Refusal, startFaultProxy } from '../support/startFaultProxy.ts'
import { type SimulatedService, startSimulatedService } from './startSimulatedService.ts'

let anvil: AnvilNode
let driver: EvmDriver
let proxy: FaultProxy
let folder: string
let service: SimulatedService
let alice: string
let bob: string
const cleanUps: (() => Promise<void>)[] = []

beforeEach(async () => {
  anvil = await startAnvil()
  cleanUps.push(() => anvil.stop())
  driver = createEvmDriver(anvil.rpcUrl, await createEmptyWorld(anvil.rpcUrl))
  alice = driver.world.accounts.alice!.address
  bob = driver.world.accounts.bob!.address
  proxy = await startFaultProxy(anvil.rpcUrl)
  cleanUps.push(() => proxy.close())
  const temporary = await temporaryFolder()
  cleanUps.push(temporary.remove)
  folder = temporary.path
  service = await startSimulatedService(folder, proxy.url)
  cleanUps.push(() => service.close())
})
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

async function levelWithNode(): Promise<void> {
  const { hash } = (await driver.rpc('eth_getBlockByNumber', 'latest', false)) as { hash: string }
  await eventually('the head is indexed', () => {
    const status = service.server.status()[0]
    return status?.phase === 'following' && status.indexedTo?.hash === hash
  })
}

/** Sends from an account that the node itself signs for. */
async function send(transaction: Record<string, unknown>): Promise<string> {
  return (await driver.rpc('eth_sendTransaction', {
    gas: '0x5208',
    gasPrice: '0xb2d05e00',
    ...transaction
  })) as string
}

/** Sends from alice to bob, one nonce after the other, and mines all in one block. */
async function mineMany(count: number): Promise<string[]> {
  const first = Number(await driver.rpc('eth_getTransactionCount', alice, 'latest'))
  const hashes: string[] = []
  for (let i = 0; i < count; i++) {
    hashes.push(
      await send({ from: alice, to: bob, value: toBeHex(i + 1), nonce: `0x${(first + i).toString(16)}` })
    )
  }
  await driver.rpc('evm_mine')
  return hashes
}

const hashesOf = (records: readonly TransactionRecord[]) => records.map(({ hash }) => hash)
const base = 2n ** 150n
const partyAddress = (i: number) => toBeHex(base + BigInt(i), 20)

/** Creation code that logs an ERC-20 transfer to each of so many accounts. */
function logTransfers(count: number): string {
  const topic = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
  const head = `61${count.toString(16).padStart(4, '0')}6001600052`
  const loopAt = (head.length / 2).toString(16).padStart(2, '0')
  const log = `80${'73'}${toBeHex(base, 20).slice(2)}01${'33'}7f${topic}60206000a3`
  return `0x${head}5b${log}60019003${'80'}60${loopAt}5700`
}

describe('a block', () => {
  it('of a thousand transactions is kept whole, and undone whole', async () => {
    const hashes = await mineMany(1_000)
    await levelWithNode()
    const newestFirst = [...hashes].reverse()
    expect(hashesOf(await service.history(alice))).toEqual(newestFirst)
    const page = await service.history(bob, { limit: 997, before: newestFirst[1] })
    expect(hashesOf(page)).toEqual(newestFirst.slice(2, 999))
    await driver.rpc('anvil_reorg', 1, [])
    await levelWithNode()
    expect(await service.history(alice)).toEqual([])
    expect(await service.history(bob)).toEqual([])
  })

  it('without transactions only moves the head', async () => {
    await driver.rpc('anvil_mine', '0x20')
    await levelWithNode()
    expect(await service.history(alice)).toEqual([])
  })
})

describe('a transaction', () => {
  it('with ten thousand transfers is in the history of every party, until a reorg takes it away', async () => {
    const hash = await send({ from: alice, data: logTransfers(10_000), gas: '0x1c9c380' })
    await driver.rpc('evm_mine')
    await levelWithNode()
    const created = getCreateAddress({ from: alice, nonce: 0 })
    expect(await service.history(alice)).toMatchObject([{ hash, status: 3, contractAddress: created }])
    const asked = [alice, created, ...[1, 2, 4_999, 9_999, 10_000].map(partyAddress)]
    for (const address of asked) expect(hashesOf(await service.history(address))).toEqual([hash])
    expect(await service.history(partyAddress(10_001))).toEqual([])
    await driver.rpc('anvil_reorg', 1, [])
    await levelWithNode()
    for (const address of asked) expect(await service.history(address)).toEqual([])
  })

  it('that creates a contract which creates another is no history of the inner one', async () => {
    const hash = await send({ from: alice, data: '0x600060006000f000', gas: '0x30d40' })
    await driver.rpc('evm_mine')
    await levelWithNode()
    const outer = getCreateAddress({ from: alice, nonce: 0 })
    const inner = getCreateAddress({ from: outer, nonce: 1 })
    expect(await driver.rpc('eth_getTransactionCount', inner, 'latest')).toBe('0x1')
    expect(hashesOf(await service.history(outer))).toEqual([hash])
    expect(await service.history(inner)).toEqual([])
  })

  it('keeps 100 kB of calldata to the byte, zeros and all, and is listed once when sent to oneself', async () => {
    const bytes = Buffer.alloc(100_000)
    for (let i = 0; i < bytes.length; i += 1 + ((i * 7) % 97)) bytes[i] = i % 251
    const data = `0x${bytes.toString('hex')}`
    const hash = await send({ from: alice, to: alice, data, gas: '0xf42400' })
    await eventually('it is pending', async () => (await service.history(alice).catch(() => [])).length === 1)
    expect(await service.history(alice)).toMatchObject([{ hash, data, status: 1, value: '0x0' }])
    await driver.rpc('evm_mine')
    await levelWithNode()
    expect(await service.history(alice)).toMatchObject([{ hash, data, status: 3, value: '0x0' }])
  })

  it('waits in the queue once the one before it is thrown out, and is pending again once the gap is filled', async () => {
    const shown = async (expected: Record<string, number>) =>
      eventually(`${JSON.stringify(expected)} is shown`, async () => {
        const records = await service.history(alice).catch(() => [])
        const found = Object.fromEntries(records.map(({ hash, status }) => [hash, status]))
        return (
          JSON.stringify(found, Object.keys(found).sort()) ===
          JSON.stringify(expected, Object.keys(expected).sort())
        )
      })
    const first = await send({ from: alice, to: bob, value: '0x1', nonce: '0x0' })
    const second = await send({ from: alice, to: bob, value: '0x2', nonce: '0x1' })
    await shown({ [first]: 1, [second]: 1 })
    const firstSeen = (await service.history(alice)).find(({ hash }) => hash === second)?.timestamp
    await driver.rpc('anvil_removePoolTransactions', alice)
    await send({ from: alice, to: bob, value: '0x2', nonce: '0x1' })
    await shown({ [second]: 0 })
    const third = await send({ from: alice, to: bob, value: '0x3', nonce: '0x0' })
    await shown({ [third]: 1, [second]: 1 })
    expect((await service.history(alice)).find(({ hash }) => hash === second)?.timestamp).toBe(firstSeen)
    // The same nonce again at a higher price: the one before vanishes.
    const fourth = await send({ from: alice, to: bob, value: '0x4', nonce: '0x0', gasPrice: '0x2540be400' })
    await shown({ [fourth]: 1, [second]: 1 })
  })
})

it('a history that is read slowly is the one of its beginning, whatever a reorg does meanwhile', async () => {
  // Answers up to 256 KiB are read before they are sent.
  const hashes = await mineMany(1_000)
  await levelWithNode()
  const response = await service.stream(alice)
  const reader = response.body!.getReader()
  const chunks = [(await reader.read()).value!]
  await driver.rpc('anvil_reorg', 1, [])
  await driver.rpc('anvil_mine', '0x5')
  await levelWithNode()
  expect(await service.history(alice)).toEqual([])
  for (;;) {
    const { value, done } = await reader.read()
    if (done) break
    chunks.push(value)
  }
  expect(chunks.length).toBeGreaterThan(1)
  const { result } = JSON.parse(Buffer.concat(chunks).toString()) as { result: TransactionRecord[] }
  expect(hashesOf(result)).toEqual([...hashes].reverse())
})

describe('a first page', () => {
  const restartWith = async (refuse: number | undefined) => {
    await service.close()
    proxy.setFault((call, result) => {
      const isPool = /txpool|eth_pendingTransactions/.test(call.method) || call.params[0] === 'pending'
      if (refuse !== undefined && isPool) throw new Refusal(refuse)
      return result
    })
    service = await startSimulatedService(folder, proxy.url)
  }

  it('is refused while the pool cannot be read, and answered without pending ones where there is none', async () => {
    const [mined] = await mineMany(1)
    await levelWithNode()
    const pending = await send({ from: alice, to: bob, value: '0x9', nonce: '0x1' })
    await eventually('it is pending', async () => (await service.history(alice)).length === 2)

    await restartWith(-32000)
    const { error } = await service.ask('svc_getTransactionsByAddress', [alice])
    expect(error).toMatchObject({ code: -32002, data: { reason: 'UPSTREAM_UNAVAILABLE' } })
    // What is confirmed is known nevertheless.
    expect(await service.history(alice, { before: mined })).toEqual([])

    await restartWith(-32601)
    expect(hashesOf(await service.history(alice))).toEqual([mined])

    await restartWith(undefined)
    expect(hashesOf(await service.history(alice))).toEqual([pending, mined])
  })
})
