import { expect, test } from 'vitest'
import type { Address } from '../src/model/evm.ts'
import { StoreError } from '../src/platform/errors.ts'
import { buildChain, hashOf, people, poolTransaction } from './buildChain.ts'
import { commitChain } from './commitChain.ts'
import { gather, readHistory, readPending, withSnapshot } from './readAll.ts'
import { type OpenStore, testIdentity } from './store.contract.ts'
import { useStores } from './useStore.ts'

const [alice = '0x']: readonly Address[] = people
const plans = Array.from({ length: 4 }, (_, i) => [{ name: `tx ${i}`, parties: [alice] }])

/** Opening, closing, and who may do so. */
export function describeLifetime(open: OpenStore): void {
  const { create, start } = useStores(open)

  test('a reader may come before the writer: it shows an empty store, then what is there', async () => {
    const store = await create()
    const reader = await store.openReader()
    const early = await reader.openSnapshot()
    expect(await early.indexedRange()).toBeUndefined()
    expect((await early.marks()).backfilled).toBe(false)
    expect(await readHistory(early, alice)).toEqual([])
    expect(await early.countHistory(alice, 5)).toBe(0)
    expect(await early.pending(alice)).toEqual([])
    expect(await early.lookUpHash(hashOf('tx 0'))).toEqual({ kind: 'unknown' })
    expect(await gather(early.holdingCandidates(alice))).toEqual([])
    const writer = await store.openWriter()
    expect(await withSnapshot(reader, snapshot => snapshot.indexedRange())).toBeUndefined()
    await commitChain(writer, buildChain(plans))
    expect(await early.indexedRange()).toBeUndefined()
    await early.close()
    await withSnapshot(reader, async snapshot => {
      expect((await snapshot.indexedRange())?.to.number).toBe(3)
      expect(await readHistory(snapshot, alice)).toHaveLength(4)
    })
  })

  test('a second start continues where the first one stopped', async () => {
    const { store, writer, reader } = await start()
    const blocks = buildChain(plans)
    await commitChain(writer, blocks.slice(0, 2))
    await writer.markBackfilled()
    await writer.markFinal(1)
    await writer.updatePool({ present: [poolTransaction('p', [alice])], seenAtSeconds: 7, headAfter: 1 })
    const state = await writer.state()
    expect(state).toMatchObject({ indexedFrom: 0, backfilled: true, settled: true, finalized: 1 })
    await writer.close()
    const second = await store.openWriter()
    expect(await second.state()).toEqual(state)
    await commitChain(second, blocks.slice(2))
    expect(await readPending(reader, alice)).toMatchObject([{ firstSeenSeconds: 7 }])
    expect(await withSnapshot(reader, snapshot => readHistory(snapshot, alice))).toHaveLength(4)
  })

  test('marks may be set again', async () => {
    const { writer } = await start()
    for (let i = 0; i < 2; i++) {
      await writer.markBackfilled()
      await writer.markSettled()
      expect(await writer.state()).toEqual({ backfilled: true, settled: true, degraded: false })
    }
  })

  test('a second writer is refused while the first one is open, and welcome after', async () => {
    const { store, writer } = await start()
    await expect(store.openWriter()).rejects.toThrow(StoreError)
    await commitChain(writer, buildChain(plans))
    await writer.close()
    const second = await store.openWriter()
    expect((await second.state()).head?.number).toBe(3)
  })

  test('a chain with another genesis is refused by name, and the store stays as it is', async () => {
    const { store, writer } = await start()
    await commitChain(writer, buildChain(plans))
    const before = await store.dump()
    await writer.close()
    const other = { ...testIdentity, genesisHash: hashOf('another genesis') }
    await expect(store.openWriter(other)).rejects.toThrow(StoreError)
    await expect(store.openWriter(other)).rejects.toThrow(testIdentity.genesisHash)
    await expect(store.openWriter(other)).rejects.toThrow(other.genesisHash)
    expect(await store.dump()).toBe(before)
    // A refusal keeps nobody out.
    await store.openWriter()
  })

  test('a closed writer refuses everything but another close', async () => {
    const { writer } = await start()
    await writer.close()
    await writer.close()
    await expect(writer.state()).rejects.toThrow(StoreError)
    await expect(commitChain(writer, buildChain(plans))).rejects.toThrow(StoreError)
    await expect(writer.rollbackAll()).rejects.toThrow(StoreError)
    await expect(writer.updatePool({ present: [], seenAtSeconds: 0, headAfter: 0 })).rejects.toThrow(
      StoreError
    )
  })

  test('a closed snapshot refuses everything but another close, and so does one of a closed reader', async () => {
    const { writer, reader } = await start()
    await commitChain(writer, buildChain(plans))
    const byItself = await reader.openSnapshot()
    const byReader = await reader.openSnapshot()
    await byItself.close()
    await byItself.close()
    await expect(byItself.indexedRange()).rejects.toThrow(StoreError)
    expect(await readHistory(byReader, alice)).toHaveLength(4)
    await reader.close()
    await reader.close()
    await expect(readHistory(byReader, alice)).rejects.toThrow(StoreError)
    await expect(byReader.pending(alice)).rejects.toThrow(StoreError)
    await byReader.close()
    await expect(reader.openSnapshot()).rejects.toThrow(StoreError)
  })

  test('many snapshots live side by side, each with its own view', async () => {
    const { writer, reader } = await start()
    const blocks = buildChain(plans)
    const snapshots = [await reader.openSnapshot()]
    for (const block of blocks) {
      await commitChain(writer, [block])
      snapshots.push(await reader.openSnapshot())
    }
    const lengths = await Promise.all(
      snapshots.map(async snapshot => (await readHistory(snapshot, alice)).length)
    )
    expect(lengths).toEqual([0, 1, 2, 3, 4])
    for (const snapshot of snapshots) await snapshot.close()
  })
}
