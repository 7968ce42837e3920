import { type AnvilNode, startAnvil } from '@chain-data/devnet'
import type { HistoryCertificate, TransactionRecord } from '@chain-data/protocol'
import { checkResult } from '@chain-data/protocol/validators'
import { JsonRpcProvider, Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openCertifier } from '../certificate/openCertifier.ts'
import { type CertifiedWorld, startCertifiedWorld } from '../certificate/startCertifiedWorld.ts'
import { type Engine, engines, type TestStore } from '../support/testStores.ts'
import { deployEntryPoint, type EntryPoint, sendBundle, signOperation, type Version } from './entryPoints.ts'
import { loseParty } from './loseParty.ts'
import { scanChain } from './scanChain.ts'

const versions: readonly Version[] = ['0.6', '0.7', '0.8']
const [alice, bob, carol] = ['a1', 'b0', 'ca'].map(byte => new Wallet(`0x${byte.repeat(32)}`)) as [
  Wallet,
  Wallet,
  Wallet
]
const authority = new Wallet(`0x${'71'.repeat(32)}`)
const stale = new Wallet(`0x${'72'.repeat(32)}`)
const delegate = `0x${'de'.repeat(20)}`
const paymaster = `0x${'9a'.repeat(20)}` as const
/** Accepts every operation: returns an empty context and no bounds of time. */
const paymasterCode = '0x604060005260606000f3'

let anvil: AnvilNode
let world: CertifiedWorld
const stores: TestStore[] = []
const worlds: CertifiedWorld[] = []
let provider: JsonRpcProvider

async function serve(chain: object): Promise<{ readonly world: CertifiedWorld; readonly store: TestStore }> {
  const store = await (engines[0] as Engine).create()
  const served = await startCertifiedWorld({ rpcUrl: anvil.rpcUrl, store, chain: { ...chain } })
  stores.push(store)
  worlds.push(served)
  return { world: served, store }
}

beforeAll(async () => {
  anvil = await startAnvil()
  provider = new JsonRpcProvider(anvil.rpcUrl, undefined, { batchMaxCount: 1, cacheTimeout: -1 })
  world = (await serve({ traces: 'off' })).world
  await playOperations()
  await playAuthorizations()
})
afterAll(async () => {
  provider.destroy()
  for (const served of worlds) await served.close()
  for (const store of stores) await store.remove()
  await anvil.stop()
})

interface Played {
  readonly entryPoint: EntryPoint
  readonly alice: string
  readonly bob: string
  readonly carol: string
  /** A bundle of two, one of which failed inside; one alone; one that a paymaster paid. */
  readonly bundles: readonly string[]
  readonly hashes: readonly string[]
}
const played: Played[] = []

/** By a transaction, so that the balance is explained. */
async function fund(address: string): Promise<void> {
  await world.send({ from: world.accounts[2], to: address, value: '0xde0b6b3a7640000' })
}

async function playOperations(): Promise<void> {
  await world.rpc('anvil_setCode', paymaster, paymasterCode)
  const bundler = world.accounts[1] ?? ''
  for (const version of versions) {
    const entryPoint = await deployEntryPoint(world, version)
    const to = world.accounts[5] ?? ''
    const sign = (owner: Wallet, more: object = {}) =>
      signOperation(world, entryPoint, { owner, to, ...more })
    const senders = await Promise.all([alice, bob, carol].map(async owner => (await sign(owner)).sender))
    for (const sender of senders.slice(0, 2)) await fund(sender)
    await world.call(bundler, entryPoint, 'depositTo', [paymaster], 10n ** 18n)
    await world.mine()
    const first = await sign(alice, { valueWei: 5n })
    // The EntryPoint has no such method: the call inside reverts, and the operation is paid for all the same.
    const failing = await sign(bob, { to: entryPoint.address, data: '0xdeadbeef' })
    const bundles = [await sendBundle(world, bundler, entryPoint, [first, failing])]
    const second = await sign(alice, { valueWei: 7n })
    bundles.push(await sendBundle(world, bundler, entryPoint, [second]))
    const sponsored = await sign(carol, { paymaster })
    bundles.push(await sendBundle(world, bundler, entryPoint, [sponsored]))
    const [ofAlice = '', ofBob = '', ofCarol = ''] = senders
    const hashes = [first, failing, second, sponsored].map(({ hash }) => hash)
    played.push({ ...{ entryPoint, bundles, hashes }, alice: ofAlice, bob: ofBob, carol: ofCarol })
  }
}

const carriers: Record<string, string> = {}

async function playAuthorizations(): Promise<void> {
  const sponsor = new Wallet(`0x${'59'.repeat(32)}`, provider)
  for (const { address } of [sponsor, authority]) await fund(address)
  await world.mine()
  const sign = (signer: Wallet, nonce: number, chainId = 31337n) =>
    signer.authorize({ address: delegate, chainId, nonce })
  const send = async (name: string, from: Wallet, list: ReturnType<typeof sign>[]) => {
    const authorizationList = await Promise.all(list)
    const to = world.accounts[6] ?? ''
    const { hash } = await from.sendTransaction({ type: 4, to, gasLimit: 500_000n, authorizationList })
    await world.mine()
    carriers[name] = hash
  }
  await send('right nonce', sponsor, [sign(authority, 0)])
  await send('stale nonces', sponsor, [sign(authority, 0), sign(stale, 5)])
  await send('other chain', sponsor, [sign(authority, 1, 5n)])
  await send('any chain', sponsor, [sign(authority, 1, 0n)])
  await send('by itself', authority.connect(provider), [sign(authority, 3)])
}

const historyOf = async (served: CertifiedWorld, address: string, include: readonly string[] = []) => {
  const response = await served.ask('svc_getTransactionsByAddress', [address, { include }])
  const { result } = (await response.json()) as { result: readonly TransactionRecord[] }
  expect(checkResult('svc_getTransactionsByAddress', result)).toBeUndefined()
  return result
}
const operationsOf = (record: TransactionRecord | undefined) =>
  record !== undefined && 'operations' in record ? record.operations : undefined

describe('bundles of EntryPoint 0.6, 0.7 and 0.8, and authorizations, on anvil', () => {
  it('are in the same histories as a plain reader of the whole chain finds, for every address', async () => {
    await world.level()
    const expected = await scanChain(world.rpc)
    expect(expected.size).toBeGreaterThan(15)
    for (const [address, hashes] of expected) {
      const records = await historyOf(world, address)
      expect(
        records.map(({ hash }) => hash),
        address
      ).toEqual(hashes)
    }
    for (const address of [stale.address, paymaster]) expect(await historyOf(world, address)).toEqual([])
    const own = (await historyOf(world, authority.address)).map(({ hash }) => hash)
    expect(own.slice(0, 3)).toEqual([carriers['by itself'], carriers['any chain'], carriers['right nonce']])
    expect(own).toHaveLength(4)
  })

  it('show the operations that an account sent or paid for as paymaster', async () => {
    for (const { entryPoint, bundles, hashes, ...accounts } of played) {
      const of = async (address: string) =>
        (await historyOf(world, address, ['operations'])).map(record => [record.hash, operationsOf(record)])
      const entry = (hash: string | undefined, sender: string, nonce: string, success = true) =>
        expect.objectContaining({
          userOpHash: hash,
          nonce,
          success,
          sender: expect.stringMatching(new RegExp(sender, 'i'))
        })
      expect(await of(accounts.alice)).toEqual([
        [bundles[1], [entry(hashes[2], accounts.alice, '0x1')]],
        [bundles[0], [entry(hashes[0], accounts.alice, '0x0')]],
        [expect.any(String), []]
      ])
      const failed = [bundles[0], [entry(hashes[1], accounts.bob, '0x0', false)]]
      expect(await of(accounts.bob)).toEqual([failed, [expect.any(String), []]])
      const [[, sponsored] = []] = await of(accounts.carol)
      expect(sponsored).toEqual([entry(hashes[3], accounts.carol, '0x0')])
      expect(sponsored).toMatchObject([{ paymaster: expect.stringMatching(new RegExp(paymaster, 'i')) }])
      const all = await historyOf(world, entryPoint.address, ['operations'])
      expect(all.length).toBeGreaterThan(3)
      expect(all.every(record => operationsOf(record)?.length === 0)).toBe(true)
    }
  })

  it('are certified, until one is taken out of the index', async () => {
    const { world: certified, store } = await serve({ traces: 'on' })
    await certified.level()
    const verdicts = ({ verdict, sent, operations }: HistoryCertificate) => [
      verdict,
      sent.verdict,
      operations?.verdict
    ]
    await certified.stopServer()
    const certifier = await openCertifier(store.location, anvil.rpcUrl)
    const [{ alice: account, bundles }] = played as [Played]
    const lost = [
      [account, bundles[1]],
      [authority.address, carriers['any chain']]
    ] as const
    for (const [address, hash] of lost) {
      const whole = await certifier.verify(address)
      expect(verdicts(whole), JSON.stringify(whole.findings)).toEqual(['proven', 'proven', 'proven'])
      const receipt = (await world.rpc('eth_getTransactionReceipt', hash)) as Record<string, string>
      const putBack = await loseParty(store.location, anvil.rpcUrl, {
        blockNumber: Number(receipt.blockNumber),
        index: Number(receipt.transactionIndex),
        address: address.toLowerCase()
      })
      const part = address === account ? 'operations' : 'sent'
      const broken = await certifier.verify(address)
      expect([broken.verdict, broken[part]?.verdict]).toEqual(['failed', 'failed'])
      expect(broken.findings).toContainEqual(
        expect.objectContaining({ kind: 'MISSING_TRANSACTION', transactionHash: hash })
      )
      await putBack()
      expect(verdicts(await certifier.verify(address))).toEqual(['proven', 'proven', 'proven'])
    }
    await certifier.close()
    for (const { bob: failed, carol: sponsored } of played) {
      for (const address of [failed, sponsored]) {
        const { operations } = await certified.verify(address)
        expect(operations).toEqual({ verdict: 'proven', operations: 1 })
      }
    }
  })
})
