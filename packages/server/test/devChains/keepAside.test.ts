import {
  openIndexToReset,
  openStoreReader,
  openStoreWriter,
  StoreInUseError,
  type StoreReader,
  StoreUnavailableError
} from '@chain-data/index'
import {
  buildChain,
  commitChain,
  hashOf,
  people,
  readChunks,
  readHistory,
  withSnapshot
} from '@chain-data/index/test'
import { afterEach, describe, expect, it } from 'vitest'
import { engines, type TestStore } from '../support/testStores.ts'

const alice = people[0]!
const chainId = 31337
const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** More transactions than are read ahead. */
const plans = (fork: string) =>
  Array.from({ length: 300 }, (_, block) =>
    Array.from({ length: 20 }, (__, i) => ({ name: `${fork} ${block} ${i}`, parties: [alice] }))
  )
const transactions = 6_000

/** Indexes a chain of this genesis block, in place of one of another, and ends. */
async function write(store: TestStore, genesis: string): Promise<void> {
  const identity = { chainId, genesisHash: hashOf(genesis) }
  const writer = await openStoreWriter(store.location, identity, { keepsOtherAside: true })
  await commitChain(writer, buildChain(plans(genesis), { fork: genesis }))
  await writer.close()
}

const genesisOf = (reader: StoreReader) =>
  withSnapshot(reader, async snapshot => (await snapshot.identity())?.genesisHash)

describe.each(engines)('an index that is kept aside, over $name', engine => {
  async function open() {
    const store = await engine.create()
    cleanUps.push(store.remove)
    await write(store, 'first')
    const reader = await openStoreReader(store.location, chainId)
    cleanUps.push(() => reader.close())
    return { store, reader }
  }

  it('is never read as part of the one that takes its place', async () => {
    const { store, reader } = await open()
    const snapshot = await reader.openSnapshot()
    const before = await snapshot.rollbacks()
    const history = readChunks(snapshot, alice)
    const first = await history.next()
    await write(store, 'second')
    const all = (async () => {
      let count = first.done ? 0 : first.value.length
      for await (const chunk of history) count += chunk.length
      return count
    })()
    if (engine.name === 'sqlite') expect(await all).toBe(transactions)
    else await expect(all).rejects.toThrow(StoreUnavailableError)
    await snapshot.close()

    await expect.poll(() => genesisOf(reader)).toBe(hashOf('second'))
    await withSnapshot(reader, async next => {
      expect((await readHistory(next, alice)).length).toBe(transactions)
      // Pages of the old index that are kept in memory are told apart by it.
      expect(await next.rollbacks()).toBeGreaterThan(before)
    })
  })

  it('is replaced by the next one', async () => {
    const { store, reader } = await open()
    await write(store, 'second')
    await write(store, 'third')
    const index = await openIndexToReset(store.location, chainId)
    expect(index?.replacesEarlier).toBe(true)
    await index?.close()
    await expect.poll(() => genesisOf(reader)).toBe(hashOf('third'))
  })

  it('is refused while a server writes it, and leaves nothing in its place', async () => {
    const { store, reader } = await open()
    const identity = { chainId, genesisHash: hashOf('first') }
    const writer = await openStoreWriter(store.location, identity)
    await expect(openIndexToReset(store.location, chainId)).rejects.toThrow(StoreInUseError)
    await writer.close()
    const index = await openIndexToReset(store.location, chainId)
    expect(index?.replacesEarlier).toBe(false)
    expect(index?.bytes).toBeGreaterThan(10_000)
    await index?.keepAside()
    await index?.close()
    expect(await openIndexToReset(store.location, chainId)).toBeUndefined()
    await expect.poll(() => genesisOf(reader)).toBeUndefined()
    await write(store, 'first')
    await expect.poll(() => genesisOf(reader)).toBe(hashOf('first'))
  })
})
