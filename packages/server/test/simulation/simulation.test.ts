import {
  createEmptyWorld,
  createEvmDriver,
  type EvmDriver,
  type EvmTransaction,
  evmAccount,
  evmAddressesOf,
  evmHistoryOf,
  expectedEvmHoldings,
  expectedRecord,
  startAnvil,
  wireStatusOf
} from '@chain-data/devnet'
import { eventually, temporaryFolder } from '@chain-data/index/test'
import { isConfirmed, type TransactionRecord } from '@chain-data/protocol'
import { afterAll, expect, it } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { createRandom, type Random } from '../../../devnet/src/platform/createRandom.ts'
import { isFull } from '../chaos/chaosSizes.ts'
import { differences } from '../support/indexHarness.ts'
import { walkChain } from '../support/walkChain.ts'
import { type ChainVersions, createChainVersions } from './chainVersions.ts'
import { beginRandomStory } from './randomStory.ts'
import { type SimulatedService, startSimulatedService, type WireFailure } from './startSimulatedService.ts'
import { type Told, watchAnswers } from './watchAnswers.ts'

/** More seeds by hand: SIMULATION_SEEDS="5 6 7" SIMULATION_STEPS=100. */
const seeds = (process.env.SIMULATION_SEEDS ?? '1 2 3').split(' ').map(Number)
const steps = Number(process.env.SIMULATION_STEPS ?? (isFull ? 60 : 6))

const cleanUps: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

it.each(seeds)(
  'whatever happens to the chain, every answer is what was done to it (seed %i)',
  // Short ones beside each other: much of the time they wait for a poll.
  { timeout: patient(60_000 + steps * 2_000), concurrent: !isFull },
  async seed => {
    const random = createRandom(seed)
    const anvil = await startAnvil()
    cleanUps.push(() => anvil.stop())
    const folder = await temporaryFolder()
    cleanUps.push(folder.remove)
    const driver = createEvmDriver(anvil.rpcUrl, await createEmptyWorld(anvil.rpcUrl))
    const story = await beginRandomStory(driver, random)
    await story.warmUp()

    const ever = new Set<string>()
    const learnAddresses = () => {
      for (const address of evmAddressesOf(driver.world)) ever.add(address)
      return [...ever]
    }
    learnAddresses()
    let service = await startSimulatedService(folder.path, anvil.rpcUrl)
    let isUp = true
    cleanUps.push(() => service.close())
    const senders = Object.values(driver.world.accounts)
      .filter(({ privateKey }) => privateKey !== undefined)
      .map(({ address }) => address)
    const versions = createChainVersions(driver.world, story.firstFreeBlock)
    versions.record()
    const memory: Memory = { firstSeen: new Map(), shown: new Map() }
    await caughtUp(service, driver, senders)
    const watch = watchAnswers(
      () => (isUp ? service : undefined),
      () => senders
    )
    cleanUps.push(() => watch.stop())

    const log: string[] = []
    try {
      for (let step = 0; step < steps; step++) {
        const cursor = await takeCursor(service, random, [...ever])
        const events = 1 + random.below(3)
        const placesBefore = placesOf(driver)
        // This node makes a reorg block by block: what moves is in neither of them for a moment.
        const moved = new Set<string>()
        const restarts = random.below(6) === 0
        if (restarts) {
          isUp = false
          await service.close()
        }
        for (let i = 0; i < events; i++) {
          log.push(await story.event())
          for (const [hash, block] of placesOf(driver)) {
            if ((placesBefore.get(hash) ?? block) !== block) moved.add(hash)
            placesBefore.set(hash, block)
          }
          learnAddresses()
          versions.record()
        }
        if (restarts) {
          log.push('restarted')
          service = await startSimulatedService(folder.path, anvil.rpcUrl)
          isUp = true
        }
        await caughtUp(service, driver, senders)
        await expectTruth(service, driver, [...ever], random, memory)
        await expectCursor(service, driver, cursor)
        if (step % 6 === 5) await expectHoldings(service, driver, senders)
        expectToldInTime(watch.take(), driver, versions, memory, moved)
        versions.forgetOld()
      }
      const walked = await walkChain(driver.rpc, 0, new Map(), 'on')
      expect(await differences(folder.path, walked, lowerCase(ever))).toEqual([])
    } catch (error) {
      throw new Error(`seed ${seed}, after: ${log.join(', ')}`, { cause: error })
    }
  }
)

const lowerCase = (addresses: Iterable<string>) => [...addresses].map(address => address.toLowerCase())

interface Memory {
  /** First-seen second of every transaction that was ever shown as pending. */
  readonly firstSeen: Map<string, number>
  /** When a transaction was first shown to somebody. */
  readonly shown: Map<string, number>
}

/** Blocks of all confirmed transactions. */
const placesOf = ({ world }: EvmDriver) =>
  new Map(
    world.transactions.flatMap(({ hash, position }) =>
      position ? [[hash, position.blockNumber] as const] : []
    )
  )

const historyOf = ({ world }: EvmDriver, address: string): EvmTransaction[] => {
  const history = evmHistoryOf(world, address)
  const rank = ({ state }: EvmTransaction) => (state === 'pending' ? 0 : state === 'queued' ? 1 : 2)
  // The contract leaves open what comes first of the same nonce; the server takes the lower hash.
  return history
    .map((transaction, place) => ({ transaction, place }))
    .sort((a, b) => {
      const [x, y] = [a.transaction, b.transaction]
      if (rank(x) === 2 || rank(y) === 2) return rank(x) - rank(y) || a.place - b.place
      return rank(x) - rank(y) || y.nonce - x.nonce || (x.hash < y.hash ? -1 : 1)
    })
    .map(({ transaction }) => transaction)
}

/** The index has the node's head, and shows the node's pool. */
async function caughtUp(service: SimulatedService, driver: EvmDriver, senders: readonly string[]) {
  const { hash } = (await driver.rpc('eth_getBlockByNumber', 'latest', false)) as { hash: string }
  await eventually('the head is indexed', () => service.server.status()[0]?.indexedTo?.hash === hash)
  const content = (await driver.rpc('txpool_content')) as Record<string, Record<string, object>>
  const inPool = ['pending', 'queued'].flatMap(section =>
    Object.values(content[section] ?? {}).flatMap(byNonce =>
      Object.values(byNonce).map(entry => `${section} ${(entry as { hash: string }).hash}`)
    )
  )
  await eventually(`the pool is shown: ${inPool.sort().join(' ')}`, async () => {
    const shown = new Set<string>()
    for (const sender of senders) {
      const { result } = await service.ask('svc_getTransactionsByAddress', [sender])
      if (result === undefined) return false
      for (const { hash: shownHash, status = 3 } of result as TransactionRecord[]) {
        if (status <= 1) shown.add(`${status === 1 ? 'pending' : 'queued'} ${shownHash}`)
      }
    }
    return [...shown].sort().join(' ') === inPool.sort().join(' ')
  })
}

async function expectTruth(
  service: SimulatedService,
  driver: EvmDriver,
  addresses: readonly string[],
  random: Random,
  memory: Memory
) {
  const { world } = driver
  for (const address of addresses) {
    const expected = historyOf(driver, address)
    const answer = await service.history(address)
    const names = new Map(world.transactions.map(({ hash, label, state }) => [hash, `${label} ${state}`]))
    expect(answer.map(({ hash, status }) => `${names.get(hash)} ${status}`)).toEqual(
      expected.map(transaction => `${names.get(transaction.hash)} ${wireStatusOf(transaction)}`)
    )
    for (const [place, record] of answer.entries()) {
      expect(record).toMatchObject(expectedRecord(world, expected[place]!))
      if (isConfirmed(record)) continue
      expect(record.timestamp).toBe(memory.firstSeen.get(record.hash) ?? record.timestamp)
      memory.firstSeen.set(record.hash, record.timestamp)
    }
    if (random.below(4) > 0) continue
    const limit = [1, 2, 3, 5, 7, 13, 64, 65][random.below(8)]!
    const pendingCount = answer.filter(record => !isConfirmed(record)).length
    let page = await service.history(address, { limit })
    const paged = [...page]
    expect(page).toHaveLength(Math.min(limit, answer.length))
    // A page of pending transactions alone names no cursor.
    while (page.length === limit && paged.length > pendingCount) {
      page = await service.history(address, { limit, before: paged.at(-1)?.hash })
      paged.push(...page)
    }
    expect(paged).toEqual(paged.length > pendingCount ? answer : answer.slice(0, limit))
  }
}

interface Cursor {
  readonly address: string
  readonly before: string
}

async function takeCursor(
  service: SimulatedService,
  random: Random,
  addresses: readonly string[]
): Promise<Cursor | undefined> {
  const address = random.pick(addresses as [string, ...string[]])
  const page = await service.history(address, { limit: 1 + random.below(20) })
  const last = page.at(-1)
  return last === undefined || !isConfirmed(last) ? undefined : { address, before: last.hash }
}

/** A page behind a transaction of an earlier page: what is older on the chain of now, or the news of the reorg. */
async function expectCursor(service: SimulatedService, driver: EvmDriver, cursor: Cursor | undefined) {
  if (cursor === undefined) return
  const { address, before } = cursor
  const { world } = driver
  const named = world.transactions.find(({ hash }) => hash === before)!
  if (named.position !== undefined) {
    const confirmed = historyOf(driver, address).filter(({ position }) => position !== undefined)
    const expected = confirmed.filter(
      ({ position }) =>
        position!.blockNumber < named.position!.blockNumber ||
        (position!.blockNumber === named.position!.blockNumber && position!.index < named.position!.index)
    )
    const page = await service.history(address, { before })
    expect(page.map(({ hash }) => hash)).toEqual(expected.map(({ hash }) => hash))
    return
  }
  const failure = await service.history(address, { before }).then(
    () => undefined,
    (error: { failure: WireFailure }) => error.failure
  )
  expect(failure).toMatchObject({ code: -32004, data: { reason: 'CURSOR_REORGED' } })
  const { blockNumber, blockHash } = failure!.data.lastCommonBlock as {
    blockNumber: number
    blockHash: string
  }
  const common = (await driver.rpc('eth_getBlockByNumber', `0x${blockNumber.toString(16)}`, false)) as {
    hash: string
  }
  expect(blockHash).toBe(common.hash)
}

/** What was told while the index was on its way: older than the truth perhaps, but never anything else. */
function expectToldInTime(
  told: readonly Told[],
  { world }: EvmDriver,
  versions: ChainVersions,
  { shown, firstSeen }: Memory,
  moved: ReadonlySet<string>
) {
  const alive = new Set(world.transactions.filter(({ state }) => state !== 'dropped').map(({ hash }) => hash))
  for (const { address, records, refusal, askedAtMs, toldAtMs } of told) {
    // "Not now" is allowed, "nothing" is not.
    if (records === undefined) {
      expect(refusal).toMatchObject({ code: -32002 })
      continue
    }
    const hashes = records.map(({ hash }) => hash)
    expect(new Set(hashes).size).toBe(hashes.length)
    const confirmed = records.filter(record => isConfirmed(record))
    expect(records.slice(-confirmed.length || records.length)).toEqual(confirmed)
    const placed = confirmed.map(record => ({
      hash: record.hash,
      blockNumber: record.blockNumber ?? -1
    }))
    expect(versions.allow(address, placed), JSON.stringify({ address, placed })).toBe(true)
    for (const [hash, shownAtMs] of shown) {
      const { from, label } = world.transactions.find(transaction => transaction.hash === hash)!
      if (!alive.has(hash) || moved.has(hash) || from !== address || shownAtMs > askedAtMs) continue
      expect(hashes, `${label} of ${address} was shown before`).toContain(hash)
    }
    for (const { hash, status = 3, timestamp } of records) {
      if (!shown.has(hash)) shown.set(hash, toldAtMs)
      if (status > 1) continue
      expect(timestamp).toBe(firstSeen.get(hash) ?? timestamp)
      firstSeen.set(hash, timestamp)
    }
  }
}

async function expectHoldings(service: SimulatedService, driver: EvmDriver, addresses: readonly string[]) {
  const { hash } = (await driver.rpc('eth_getBlockByNumber', 'latest', false)) as { hash: string }
  for (const address of [...addresses, evmAccount(driver.world, 'mallory').address]) {
    const { result } = (await service.ask('svc_getTokensAndNFTs', [address])) as {
      result: { tokens: object[]; nfts: object[]; native: string; asOf: { blockHash: string } }
    }
    const expected = expectedEvmHoldings(driver.world, address, '')
    const inOrder = (list: object[]) =>
      list.map(item => JSON.stringify(item, Object.keys(item).sort())).sort()
    expect(inOrder(result.tokens)).toEqual(inOrder(expected.tokens))
    expect(inOrder(result.nfts)).toEqual(inOrder(expected.nfts))
    expect(result.native).toBe(
      String(BigInt((await driver.rpc('eth_getBalance', address, 'latest')) as string))
    )
    expect(result.asOf.blockHash).toBe(hash)
  }
}
