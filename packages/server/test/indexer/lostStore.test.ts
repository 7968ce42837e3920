import { type AnvilNode, type EvmDriver, seedEvmWorld, startAnvil } from '@chain-data/devnet'
import {
  type ChainIdentity,
  StoreInUseError,
  StoreUnavailableError,
  type StoreWriter,
  type SyncStatus
} from '@chain-data/index'
import { eventually, openSqliteWriter, temporaryFolder } from '@chain-data/index/test'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { createLogger } from '../../src/platform/logger.ts'
import { runIndexer } from '../../src/server/indexer/runIndexer.ts'
import { differences } from '../support/indexHarness.ts'
import { walkChain } from '../support/walkChain.ts'

let anvil: AnvilNode
let driver: EvmDriver
let folder: string
const cleanUps: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  anvil = await startAnvil()
  driver = await seedEvmWorld(anvil.rpcUrl, { pool: false })
})
afterAll(() => anvil.stop())
beforeEach(async () => {
  const { path, remove } = await temporaryFolder()
  cleanUps.push(remove)
  folder = path
})
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** How the store behaves: a database server that is restarted, or that cannot be reached for a while. */
interface Weather {
  /**
   * The next calls of these kinds lose the connection, before they did anything, or after all of it; or find out that
   * another writer has taken over.
   */
  losing: { call: 'commitBlocks' | 'state'; when: 'before' | 'after' | 'taken' }[]
  isDown: boolean
  opened: number
}

const lost = () => new StoreUnavailableError('the connection to the database was lost')

/** A real store that can be lost as one behind a network can: whoever has lost it is no writer any more. */
async function openLosable(identity: ChainIdentity, weather: Weather): Promise<StoreWriter> {
  if (weather.isDown) throw lost()
  const writer = await openSqliteWriter(folder, identity, { lockWaitMs: 100 })
  weather.opened++
  let isLost = false
  async function losable<T>(call: 'commitBlocks' | 'state', work: () => Promise<T>): Promise<T> {
    if (isLost || weather.isDown) throw lost()
    const place = weather.losing.findIndex(loss => loss.call === call)
    const [loss] = place < 0 ? [] : weather.losing.splice(place, 1)
    if (loss?.when === 'after') await work()
    if (loss !== undefined) {
      isLost = true
      await writer.close()
      throw loss.when === 'taken' ? new StoreInUseError('another writer has taken over') : lost()
    }
    return work()
  }
  return {
    ...Object.fromEntries(
      (
        [
          'blockRef',
          'rollbackTo',
          'rollbackAll',
          'markBackfilled',
          'markSettled',
          'markFinal',
          'takeDamage'
        ] as const
      ).map(name => [name, (...args: never[]) => Reflect.apply(writer[name], writer, args)])
    ),
    state: () => losable('state', () => writer.state()),
    commitBlocks: (blocks, options) => losable('commitBlocks', () => writer.commitBlocks(blocks, options)),
    updatePool: update => writer.updatePool(update),
    report: report => (isLost ? Promise.reject(lost()) : writer.report(report)),
    close: () => writer.close()
  } as StoreWriter
}

function run(weather: Weather) {
  const stopping = new AbortController()
  const statuses: SyncStatus[] = []
  const lines: Record<string, unknown>[] = []
  const done = runIndexer({
    config: {
      ...{ chainId: 31337, rpcUrls: [anvil.rpcUrl], startBlock: 0, finality: 'auto', pollIntervalMs: 25 },
      roundBlocks: 5
    },
    openWriter: identity => openLosable(identity, weather),
    peek: async () => undefined,
    logger: createLogger({ level: 'info', write: line => lines.push(JSON.parse(line)) }),
    signal: stopping.signal,
    onStatus: status => statuses.push(status)
  })
  cleanUps.push(() => {
    stopping.abort(new Error('the test is over'))
    return done
  })
  const follows = async () => {
    const newest = driver.world.blocks.length - 1
    await eventually(`block ${newest} is indexed`, () => {
      const { phase, indexedTo } = statuses.at(-1) ?? {}
      return phase === 'following' && indexedTo?.number === newest
    })
  }
  return { statuses, lines, follows }
}

const calm = (): Weather => ({ losing: [], isDown: false, opened: 0 })

it.each(['before', 'after'] as const)(
  'a store that is lost %s a commit was done is opened again at once, and has every block once',
  async when => {
    const weather = calm()
    weather.losing.push({ call: 'commitBlocks', when }, { call: 'commitBlocks', when })
    const { statuses, lines, follows } = run(weather)
    await follows()
    expect(await differences(folder, await walkChain(driver.rpc))).toEqual([])
    expect(weather.opened).toBe(3)
    const stalled = statuses.find(({ phase }) => phase === 'stalled')
    expect(stalled?.problem).toBe('the connection to the database was lost')
    expect(statuses.at(-1)).not.toHaveProperty('problem')
    const warnings = lines.filter(({ msg }) => msg === 'the store is lost and opened again')
    expect(warnings.map(({ attempt }) => attempt)).toEqual([1, 2])
    expect(warnings[0]?.waitMs).toBe(0)
    expect(warnings[1]?.waitMs).toBeGreaterThan(0)
  }
)

it('a writer whose place was taken waits for its turn again, in the same thread', async () => {
  const weather = calm()
  weather.losing.push({ call: 'commitBlocks', when: 'taken' })
  const { follows } = run(weather)
  await follows()
  expect(weather.opened).toBe(2)
  expect(await differences(folder, await walkChain(driver.rpc))).toEqual([])
})

it('a store that is lost while nothing happens, and out of reach for a while, is followed into again', async () => {
  const weather = calm()
  const { statuses, follows } = run(weather)
  await follows()
  weather.isDown = true
  await eventually('it stalls', () => statuses.at(-1)?.phase === 'stalled')
  await driver.mine({ blocks: 2 })
  await eventually('it is tried', () => statuses.at(-1)?.problem !== undefined)
  expect(statuses.at(-1)?.phase).toBe('stalled')
  weather.isDown = false
  await follows()
  expect(await differences(folder, await walkChain(driver.rpc))).toEqual([])
})

it('a server that has lost the store to another writer waits for its turn, and goes on where that one ended', async () => {
  const weather = calm()
  const { follows, lines } = run(weather)
  await follows()
  weather.isDown = true
  await eventually('it is lost', () => lines.some(({ msg }) => msg === 'the store is lost and opened again'))
  const { hash } = (await driver.rpc('eth_getBlockByNumber', '0x0', false)) as { hash: `0x${string}` }
  const other = await openSqliteWriter(folder, { chainId: 31337, genesisHash: hash })
  weather.isDown = false
  const isWaiting = () =>
    lines.some(({ msg }) => msg === 'another indexer writes this chain; waiting for it to end')
  await eventually('it waits', isWaiting)
  expect(weather.opened).toBe(1)
  const { head } = await other.state()
  await other.rollbackTo({ number: 0, hash })
  expect((await other.state()).head).not.toEqual(head)
  await other.close()
  await eventually('it has opened the store again', () => weather.opened === 2)
  await follows()
  expect(await differences(folder, await walkChain(driver.rpc))).toEqual([])
})
