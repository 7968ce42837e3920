import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { IndexedBlock } from '../src/model/evm.ts'
import type { StoreWriter } from '../src/port/writer.ts'
import { encodeBlock } from '../src/record/encodeBlock.ts'
import { partCount } from '../src/record/keyParts.ts'
import { packBlocks } from '../src/record/packBlocks.ts'
import { buildChain, hashOf, people, poolTransaction } from './buildChain.ts'
import { commitChain } from './commitChain.ts'
import { expectedHistory } from './expectedHistory.ts'
import { FoldedHistories, readChanges } from './foldChanges.ts'
import { readCoverage, readHistory, readPending, withSnapshot } from './readAll.ts'
import type { OpenStore } from './store.contract.ts'
import { useStores } from './useStore.ts'

const [alice = '0x', bob = '0x', carol = '0x'] = people
/** Runs are merged after each commit. */
const layout = { maxRuns: 0, mergeFactor: 2, unmergedBlocks: 3 }
const blocks = buildChain(
  Array.from({ length: 24 }, (_, i) =>
    i % 5 === 3
      ? []
      : [
          { name: `a ${i}`, parties: [alice, bob] },
          { name: `b ${i}`, parties: [bob, carol], gap: 2 }
        ]
  ),
  { firstNumber: 100 }
)
const between = (from: number, to: number) => blocks.slice(from - 100, to - 100)

function prepend(writer: StoreWriter, older: readonly IndexedBlock[]) {
  return writer.prependBlocks(packBlocks(older.map(encodeBlock)))
}

/** Adding blocks older than the index. */
export function describePrepending(open: OpenStore, share: number): void {
  const { start } = useStores(open)

  test('histories, hashes and counts are those of all blocks, whichever batches they came in', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 101, max: 123 }),
        fc.array(fc.record({ isOlder: fc.boolean(), count: fc.integer({ min: 1, max: 5 }) }), {
          maxLength: 8
        }),
        async (first, steps) => {
          const { store, writer, reader } = await start(layout)
          let [from, end] = [first, first + 1]
          await commitChain(writer, between(from, end))
          for (const { isOlder, count } of steps) {
            if (isOlder) await prepend(writer, between(Math.max(100, from - count), from))
            else await commitChain(writer, between(end, Math.min(124, end + count)))
            if (isOlder) from = Math.max(100, from - count)
            else end = Math.min(124, end + count)
            await withSnapshot(reader, async snapshot => {
              expect(await snapshot.indexedRange()).toMatchObject({ from, to: { number: end - 1 } })
              for (const person of [alice, bob, carol]) {
                const expected = expectedHistory(between(from, end), person)
                expect(await readHistory(snapshot, person)).toStrictEqual(expected)
              }
              expect(await snapshot.findDamage(from, end - 1)).toEqual([])
              for (const { ref, transactions } of blocks) {
                for (const { transaction } of transactions) {
                  const isStored = ref.number >= from && ref.number < end
                  const { kind } = await snapshot.lookUpHash(transaction.hash)
                  expect(kind).toBe(isStored ? 'confirmed' : 'unknown')
                }
              }
            })
          }
          expect(await withSnapshot(reader, snapshot => snapshot.findChunkDamage(0, partCount))).toEqual([])
          const { store: straight, writer: other } = await start(layout)
          await commitChain(other, between(from, end))
          expect(await store.dump()).toBe(await straight.dump())
        }
      ),
      { numRuns: Math.ceil(8 * share) }
    )
  })

  test('what does not end at the parent of the first block is refused, and nothing is written', async () => {
    const { store, writer } = await start(layout)
    await expect(prepend(writer, between(100, 105))).rejects.toThrow('is not the parent of the first stored')
    await commitChain(writer, between(110, 115))
    const before = await store.dump()
    const fork = buildChain([[{ name: 'other', parties: [alice] }]], { parent: blocks[8]!.ref, fork: 'x' })
    for (const older of [fork, between(105, 109), between(110, 112), between(114, 117)]) {
      await expect(prepend(writer, older)).rejects.toThrow('is not the parent of the first stored')
    }
    await expect(prepend(writer, [blocks[7]!, blocks[9]!])).rejects.toThrow('does not continue')
    await prepend(writer, [])
    expect(await store.dump()).toBe(before)
    await prepend(writer, between(108, 110))
    expect((await writer.state()).indexedFrom).toBe(108)
  })

  test('marks that reached down to the first block go on as far as the older ones allow', async () => {
    const { writer, reader } = await start(layout)
    const known = blocks.map(block => ({
      ...block,
      isTraced: block.ref.number >= 104,
      hasVerifiedRoots: block.ref.number >= 110
    }))
    const part = (from: number, to: number) => known.slice(from - 100, to - 100)
    await commitChain(writer, part(112, 115))
    await prepend(writer, part(108, 112))
    expect(await readCoverage(reader)).toEqual({ tracedFrom: 108, rootsFrom: 110 })
    await prepend(writer, part(100, 108))
    expect(await readCoverage(reader)).toEqual({ tracedFrom: 104, rootsFrom: 110 })
  })

  test('a rollback may go down into older blocks, and to before them', async () => {
    const { store, writer, reader } = await start(layout)
    await commitChain(writer, between(112, 118))
    await prepend(writer, between(106, 112))
    await prepend(writer, between(102, 106))
    await writer.rollbackTo(blocks[8]!.ref)
    const { store: short, writer: other } = await start(layout)
    await commitChain(other, between(102, 109))
    expect(await store.dump()).toBe(await short.dump())
    await withSnapshot(reader, async snapshot => {
      expect((await snapshot.lookUpHash(hashOf('a 12'))).kind).toBe('reorged')
      expect(await readHistory(snapshot, bob)).toStrictEqual(expectedHistory(between(102, 109), bob))
    })
    await prepend(writer, between(100, 102))
    await commitChain(writer, between(109, 124))
    await withSnapshot(reader, async snapshot => {
      expect(await readHistory(snapshot, bob)).toStrictEqual(expectedHistory(blocks, bob))
      expect((await snapshot.lookUpHash(hashOf('a 12'))).kind).toBe('confirmed')
    })
    await writer.rollbackAll()
    await commitChain(writer, between(120, 122))
    await prepend(writer, between(115, 120))
    await withSnapshot(reader, async snapshot => {
      expect(await readHistory(snapshot, carol)).toStrictEqual(expectedHistory(between(115, 122), carol))
    })
  })

  test('a pool of before the index keeps no transaction that an older block has', async () => {
    const { writer, reader } = await start(layout)
    await commitChain(writer, between(110, 115))
    const present = ['a 6', 'b 7', 'waits'].map(name => poolTransaction(name, [alice, bob]))
    const { newest } = await withSnapshot(reader, snapshot => snapshot.changeBounds())
    await writer.updatePool({ present, seenAtSeconds: 1_000, headAfter: 105 })
    expect(await readPending(reader, alice)).toHaveLength(3)
    await prepend(writer, between(107, 110))
    await prepend(writer, between(104, 107))
    await withSnapshot(reader, async snapshot => {
      const pending = await snapshot.pending(alice)
      expect(pending.map(({ hash }) => hash)).toEqual([hashOf('waits')])
      const fold = new FoldedHistories()
      for (const change of await readChanges(snapshot, newest)) fold.take(change)
      expect(fold.of(alice)).toEqual(pending)
    })
  })

  test('candidates of older blocks are there, those that newer ones have too but once', async () => {
    const { writer, reader } = await start(layout)
    const token = (contract: string) =>
      ({ owner: bob, contract: `0x${contract.repeat(20)}`, standard: 'erc20' }) as const
    const chain = buildChain([
      [{ name: 'x', parties: [alice, bob], candidates: [token('11'), token('22')] }],
      [{ name: 'y', parties: [alice, bob], candidates: [token('22'), token('33')] }]
    ])
    await commitChain(writer, chain.slice(1))
    await prepend(writer, chain.slice(0, 1))
    await withSnapshot(reader, async snapshot => {
      const found: string[] = []
      for await (const chunk of snapshot.holdingCandidates(bob))
        found.push(...chunk.map(({ contract }) => contract))
      expect(found.sort()).toEqual(['11', '22', '33'].map(digits => `0x${digits.repeat(20)}`))
    })
  })
}
