import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Address, Hash, IndexedBlock } from '../src/model/evm.ts'
import { StoreError } from '../src/platform/errors.ts'
import { arbitraryLayout, arbitraryPlans } from './arbitraries.ts'
import { buildChain, hashOf, people, type TransactionPlan } from './buildChain.ts'
import { commitChain } from './commitChain.ts'
import { expectedHistory } from './expectedHistory.ts'
import { readChunks, readHistory, readPages, withSnapshot } from './readAll.ts'
import type { OpenStore } from './store.contract.ts'
import { useStores } from './useStore.ts'

const [alice = '0x', bob = '0x', carol = '0x']: readonly Address[] = people

/** Blocks with one transaction of alice each. */
const alicesBlocks = (count: number): readonly (readonly TransactionPlan[])[] =>
  Array.from({ length: count }, (_, i) => [{ name: `tx ${i}`, parties: [alice, bob] }])

/** Appending, and reading what was appended. */
export function describeBlocks(open: OpenStore, share = 1): void {
  const { start } = useStores(open)

  test('an address never seen has an empty history', async () => {
    const { writer, reader } = await start()
    await commitChain(writer, buildChain(alicesBlocks(3)))
    await withSnapshot(reader, async snapshot => {
      expect(await readHistory(snapshot, carol)).toEqual([])
      expect(await snapshot.countHistory(carol, 10)).toBe(0)
    })
  })

  test('every party finds every field of its transactions, newest first, and nobody else does', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryPlans, arbitraryLayout, async (plans, layout) => {
        const { store, writer, reader } = await start(layout)
        const blocks = buildChain(plans, { firstNumber: 17 })
        await commitChain(writer, blocks)
        await withSnapshot(reader, async snapshot => {
          for (const address of people) {
            const expected = expectedHistory(blocks, address)
            expect(await readHistory(snapshot, address)).toStrictEqual(expected)
            expect(await snapshot.countHistory(address, 1000)).toBe(expected.length)
            expect(await snapshot.countHistory(address, 2)).toBe(Math.min(2, expected.length))
          }
        })
        await store.dispose()
      }),
      { numRuns: Math.ceil(25 * share) }
    )
  })

  test('pages of any size add up to the whole history', async () => {
    const { writer, reader } = await start()
    const plans = Array.from({ length: 12 }, (_, block) =>
      Array.from({ length: block % 4 }, (_, i) => ({
        name: `${block}/${i}`,
        parties: [alice, people[i] ?? bob]
      }))
    )
    const blocks = buildChain(plans)
    await commitChain(writer, blocks)
    const whole = expectedHistory(blocks, alice)
    await withSnapshot(reader, async snapshot => {
      for (let pageSize = 1; pageSize <= whole.length + 1; pageSize++) {
        expect(await readPages(snapshot, alice, pageSize), `pages of ${pageSize}`).toStrictEqual(whole)
      }
      expect(await readHistory(snapshot, alice, { limit: 0 })).toEqual([])
    })
  })

  test('a page may start at a place that is not in this history, or beyond both ends', async () => {
    const { writer, reader } = await start()
    const blocks = buildChain(alicesBlocks(6), { firstNumber: 10 })
    await commitChain(writer, blocks)
    await withSnapshot(reader, async snapshot => {
      const from = async (blockNumber: number, index: number) => {
        const page = await readHistory(snapshot, alice, { olderThan: { blockNumber, index } })
        return page.map(transaction => transaction.blockNumber)
      }
      expect(await from(13, 500)).toEqual([13, 12, 11, 10])
      expect(await from(13, 0)).toEqual([12, 11, 10])
      expect(await from(99, 0)).toEqual([15, 14, 13, 12, 11, 10])
      expect(await from(10, 0)).toEqual([])
      expect(await from(3, 0)).toEqual([])
    })
  })

  test('an address in any case is the same address', async () => {
    const { writer, reader } = await start()
    const coffee = people[7] ?? alice
    await commitChain(writer, buildChain([[{ name: 'tx', parties: [coffee] }]]))
    const shouted = `0x${coffee.slice(2).toUpperCase()}` as const
    expect(await withSnapshot(reader, snapshot => readHistory(snapshot, shouted))).toHaveLength(1)
  })

  test('long histories come in chunks of bounded size, after a pause for other work each', async () => {
    const { writer, reader } = await start()
    const plans = Array.from({ length: 20 }, (_, block) =>
      Array.from({ length: 100 }, (_, i) => ({ name: `${block}/${i}`, parties: [alice] }))
    )
    await commitChain(writer, buildChain(plans))
    let turns = 0
    let ticking = true
    const tick = () => {
      turns++
      if (ticking) setImmediate(tick)
    }
    setImmediate(tick)
    const sizes: number[] = []
    await withSnapshot(reader, async snapshot => {
      for await (const chunk of readChunks(snapshot, alice)) sizes.push(chunk.length)
    })
    ticking = false
    expect(turns).toBeGreaterThanOrEqual(sizes.length - 2)
    expect(sizes.reduce((sum, size) => sum + size)).toBe(2000)
    expect(sizes.length).toBeGreaterThan(3)
    expect(Math.min(...sizes)).toBeGreaterThan(0)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1000)
    let pauses = 0
    const snapshot = await reader.openSnapshot({ pause: async () => pauses++ })
    expect(await readHistory(snapshot, alice, { limit: 100 })).toHaveLength(100)
    expect(pauses).toBe(0)
    expect(await readHistory(snapshot, alice)).toHaveLength(2000)
    expect(pauses).toBe(sizes.length - 1)
    await snapshot.close()
  })

  test('the same blocks give the same store, however they are cut into batches', async () => {
    const blocks = buildChain(
      Array.from({ length: 15 }, (_, b) =>
        alicesBlocks(b % 4)
          .flat()
          .map(plan => ({ ...plan, name: `${b} ${plan.name}` }))
      )
    )
    const whole = await start()
    await commitChain(whole.writer, blocks)
    for (const size of [1, 2, 4, 7]) {
      const cut = await start()
      for (let i = 0; i < blocks.length; i += size) await commitChain(cut.writer, blocks.slice(i, i + size))
      expect(await cut.store.dump(), `batches of ${size}`).toBe(await whole.store.dump())
    }
  })

  test('an empty batch changes nothing', async () => {
    const { store, writer } = await start()
    const before = await store.dump()
    await commitChain(writer, [])
    expect(await store.dump()).toBe(before)
    expect((await writer.state()).head).toBeUndefined()
  })

  test('the state and the indexed range follow each commit; the first block is remembered', async () => {
    const { writer, reader } = await start()
    const blocks = buildChain(alicesBlocks(5), { firstNumber: 100 })
    expect(await writer.state()).toEqual({ backfilled: false, settled: true, degraded: false })
    await commitChain(writer, blocks.slice(0, 2))
    await commitChain(writer, blocks.slice(2))
    const last = blocks[4]
    expect(await writer.state()).toEqual({
      head: last?.ref,
      indexedFrom: 100,
      backfilled: false,
      settled: true,
      degraded: false
    })
    expect(await writer.blockRef(101)).toEqual(blocks[1]?.ref)
    expect(await writer.blockRef(99)).toBeUndefined()
    expect(await writer.blockRef(105)).toBeUndefined()
    await withSnapshot(reader, async snapshot => {
      expect(await snapshot.indexedRange()).toEqual({
        from: 100,
        to: last?.ref,
        toTimestampSeconds: last?.timestampSeconds
      })
    })
  })

  test('a block that does not continue the chain is refused and nothing of its batch is stored', async () => {
    const { store, writer } = await start()
    const blocks = buildChain(alicesBlocks(6))
    const other = buildChain(alicesBlocks(6), { fork: 'other' })
    await commitChain(writer, blocks.slice(0, 3))
    const before = await store.dump()
    const wrong: Record<string, readonly IndexedBlock[]> = {
      'another parent': other.slice(3),
      'a gap after the head': blocks.slice(4),
      'a block that is already there': blocks.slice(2, 4),
      'a gap inside the batch': [...blocks.slice(3, 4), ...blocks.slice(5)],
      'another branch inside the batch': [...blocks.slice(3, 5), ...other.slice(5)]
    }
    for (const [what, batch] of Object.entries(wrong)) {
      await expect(commitChain(writer, batch), what).rejects.toThrow(StoreError)
      expect(await store.dump(), what).toBe(before)
    }
    await commitChain(writer, blocks.slice(3))
    expect((await writer.state()).head).toEqual(blocks[5]?.ref)
  })

  test('a block that contradicts itself is refused and nothing of its batch is stored', async () => {
    const { store, writer } = await start()
    const [good, next] = buildChain([
      [{ name: 'a', parties: [alice] }],
      [
        { name: 'b', parties: [alice] },
        { name: 'c', parties: [bob] }
      ]
    ])
    const before = await store.dump()
    if (good === undefined || next === undefined) throw new Error('two blocks were built')
    const [b, c] = next.transactions
    if (b === undefined || c === undefined) throw new Error('two transactions were planned')
    const change = (transaction: Partial<typeof b.transaction>) => [
      { ...b, transaction: { ...b.transaction, ...transaction } },
      c
    ]
    const wrong = {
      'indexes out of order': [c, b],
      'an index twice': [b, { ...c, transaction: { ...c.transaction, index: 0 } }],
      'a transaction of another block': change({ blockNumber: 7 }),
      'an index beyond the block': [b, { ...c, transaction: { ...c.transaction, index: 65_536 } }],
      'a value that no format holds': change({ value: -1n }),
      'a broken address': [{ ...b, parties: ['0x1234' as const] }, c]
    }
    for (const [what, transactions] of Object.entries(wrong)) {
      await expect(commitChain(writer, [good, { ...next, transactions }]), what).rejects.toThrow(StoreError)
      expect(await store.dump(), what).toBe(before)
    }
    await commitChain(writer, [good, next])
  })

  test('a block with more than 65,536 transactions is refused by name', async () => {
    const { store, writer } = await start()
    const [full] = buildChain([Array.from({ length: 65_537 }, () => ({ name: 'same', parties: [alice] }))])
    if (full === undefined) throw new Error('one block was built')
    const before = await store.dump()
    await expect(commitChain(writer, [full])).rejects.toThrow(/block 0 has 65537 transactions.*65,?536/)
    expect(await store.dump()).toBe(before)
  })

  test('blocks that fail while they are being read leave nothing behind', async () => {
    const { store, writer } = await start()
    const blocks = buildChain(alicesBlocks(4))
    await commitChain(writer, blocks.slice(0, 1))
    const before = await store.dump()
    const [, second, third] = blocks
    if (second === undefined || third === undefined) throw new Error('four blocks were built')
    const failing: IndexedBlock = {
      ...third,
      get transactions(): never {
        throw new Error('the source broke')
      }
    }
    await expect(commitChain(writer, [second, failing])).rejects.toThrow('the source broke')
    expect(await store.dump()).toBe(before)
    await commitChain(writer, blocks.slice(1))
    expect((await writer.state()).head?.number).toBe(3)
  })

  test('a snapshot does not see what is committed, rolled back or pending after it was opened', async () => {
    const { writer, reader } = await start()
    const blocks = buildChain(alicesBlocks(8))
    await commitChain(writer, blocks.slice(0, 4))
    const snapshot = await reader.openSnapshot()
    const view = async () => ({
      range: await snapshot.indexedRange(),
      backfilled: (await snapshot.marks()).backfilled,
      history: await readHistory(snapshot, alice),
      pending: await snapshot.pending(alice),
      hash: await snapshot.lookUpHash(hashOf('tx 6')),
      gone: await snapshot.lookUpHash(hashOf('tx 3'))
    })
    const before = await view()
    expect(before.history).toHaveLength(4)
    await commitChain(writer, blocks.slice(4))
    await writer.rollbackTo({ number: 1, hash: blocks[1]?.ref.hash ?? '0x' })
    await writer.markBackfilled()
    expect(await view()).toStrictEqual(before)
    await snapshot.close()
    await withSnapshot(reader, async later => {
      expect(await readHistory(later, alice)).toHaveLength(2)
      expect((await later.marks()).backfilled).toBe(true)
    })
  })

  test('a history that is being streamed is not disturbed by commits and rollbacks', async () => {
    const { writer, reader } = await start()
    const plans = Array.from({ length: 10 }, (_, block) =>
      Array.from({ length: 100 }, (_, i) => ({ name: `${block}/${i}`, parties: [alice] }))
    )
    const blocks = buildChain(plans)
    await commitChain(writer, blocks)
    const seen: string[] = []
    await withSnapshot(reader, async snapshot => {
      let chunks = 0
      for await (const chunk of readChunks(snapshot, alice)) {
        seen.push(...chunk.map(({ hash }) => hash))
        const kept = blocks[8 - chunks++]
        if (kept !== undefined) await writer.rollbackTo(kept.ref)
      }
    })
    expect(seen).toEqual(expectedHistory(blocks, alice).map(({ hash }) => hash))
  })

  test('two hashes that begin alike are told apart', async () => {
    const { writer, reader } = await start()
    const [built] = buildChain([
      [
        { name: 'a', parties: [alice] },
        { name: 'b', parties: [alice] }
      ]
    ])
    if (built === undefined) throw new Error('one block was built')
    const start16 = 'ab'.repeat(16)
    const hashes = [`0x${start16}${'00'.repeat(16)}`, `0x${start16}${'00'.repeat(15)}01`] as const
    const transactions = built.transactions.map((indexed, i) => {
      const hash: Hash = hashes[i] ?? '0x'
      return { ...indexed, transaction: { ...indexed.transaction, hash } }
    })
    await commitChain(writer, [{ ...built, transactions }])
    await withSnapshot(reader, async snapshot => {
      for (const index of [0, 1]) {
        expect(await snapshot.lookUpHash(hashes[index] ?? '0x')).toEqual({
          kind: 'confirmed',
          position: { blockNumber: 0, index }
        })
      }
      expect(await snapshot.lookUpHash(`0x${start16}${'00'.repeat(15)}02`)).toEqual({ kind: 'unknown' })
    })
  })
}
