import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Address, IndexedBlock } from '../src/model/evm.ts'
import { StoreError } from '../src/platform/errors.ts'
import type { StoreWriter } from '../src/port/writer.ts'
import { arbitraryLayout, arbitraryPlans } from './arbitraries.ts'
import { buildChain, hashOf, people, type TransactionPlan } from './buildChain.ts'
import { commitChain } from './commitChain.ts'
import { expectedHistory } from './expectedHistory.ts'
import { readHistory, withSnapshot } from './readAll.ts'
import type { OpenStore } from './store.contract.ts'
import { useStores } from './useStore.ts'

const [alice = '0x', bob = '0x']: readonly Address[] = people

const oneEach = (names: readonly string[]): readonly (readonly TransactionPlan[])[] =>
  names.map(name => [{ name, parties: [alice, bob] }])

async function commitInBatches(
  writer: StoreWriter,
  blocks: readonly IndexedBlock[],
  size: number,
  finalized?: number
) {
  for (let i = 0; i < blocks.length; i += size) {
    await commitChain(writer, blocks.slice(i, i + size), finalized === undefined ? {} : { finalized })
  }
}

/** Taking blocks back. */
export function describeReorgs(open: OpenStore, share = 1): void {
  const { start } = useStores(open)

  test('rolling back k blocks leaves exactly the store that never had them', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryPlans,
        arbitraryLayout,
        fc.record({ kept: fc.nat({ max: 20 }), batch: fc.integer({ min: 1, max: 5 }) }),
        fc.option(fc.nat({ max: 12 }), { nil: undefined }),
        async (plans, layout, { kept, batch }, finalized) => {
          const blocks = buildChain(plans)
          const keptBlocks = blocks.slice(0, 1 + (kept % blocks.length))
          const ancestor = keptBlocks.at(-1)
          if (ancestor === undefined) throw new Error('at least one block is kept')
          const rolled = await start(layout)
          await commitInBatches(rolled.writer, blocks, batch, finalized)
          await rolled.writer.rollbackTo(ancestor.ref)
          const never = await start(layout)
          await commitChain(never.writer, keptBlocks, finalized === undefined ? {} : { finalized })
          expect(await rolled.store.dump()).toBe(await never.store.dump())
          const { settled, degraded, ...state } = await rolled.writer.state()
          const asNever = await never.writer.state()
          expect({ ...state, settled: true, degraded: false }).toEqual(asNever)
          const removedFinal = finalized !== undefined && finalized > ancestor.ref.number
          expect(degraded).toBe(removedFinal && ancestor !== blocks.at(-1))
          expect(settled).toBe(ancestor === blocks.at(-1))
          await rolled.store.dispose()
          await never.store.dispose()
        }
      ),
      { numRuns: Math.ceil(60 * share) }
    )
  })

  test('any course of commits, reorgs and restarts ends in the store of the surviving chain', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('grow' as const), plans: arbitraryPlans }),
      fc.record({ kind: fc.constant('reorg' as const), depth: fc.nat({ max: 15 }), plans: arbitraryPlans }),
      fc.record({ kind: fc.constant('restart' as const) })
    )
    await fc.assert(
      fc.asyncProperty(
        arbitraryLayout,
        fc.array(step, { minLength: 2, maxLength: 8 }),
        async (layout, steps) => {
          const { store, writer: first, reader } = await start(layout)
          let writer = first
          let chain: readonly IndexedBlock[] = []
          const everSeen = new Set<string>()
          for (const [i, action] of steps.entries()) {
            if (action.kind === 'restart') {
              await writer.close()
              writer = await store.openWriter()
              continue
            }
            if (action.kind === 'reorg' && chain.length > 0) {
              chain = chain.slice(0, Math.max(1, chain.length - action.depth))
              const ancestor = chain.at(-1)
              if (ancestor !== undefined) await writer.rollbackTo(ancestor.ref)
            }
            const parent = chain.at(-1)?.ref
            // Names repeat from step to step: some transactions are mined again, none twice in one chain.
            const confirmed = new Set(
              chain.flatMap(block => block.transactions.map(({ transaction }) => transaction.hash))
            )
            const plans = action.plans.map(block => block.filter(({ name }) => !confirmed.has(hashOf(name))))
            const grown = buildChain(plans, { fork: `step ${i}`, ...(parent !== undefined && { parent }) })
            await commitChain(writer, grown, { finalized: grown[0]?.ref.number ?? 0 })
            for (const block of grown)
              for (const { transaction } of block.transactions) everSeen.add(transaction.hash)
            chain = [...chain, ...grown]
          }
          const straight = await start(layout)
          await commitChain(straight.writer, chain)
          expect(await store.dump()).toBe(await straight.store.dump())
          await withSnapshot(reader, async snapshot => {
            for (const address of people) {
              expect(await readHistory(snapshot, address)).toStrictEqual(expectedHistory(chain, address))
            }
            const confirmed = new Set(
              chain.flatMap(block => block.transactions.map(({ transaction }) => transaction.hash))
            )
            for (const hash of everSeen) {
              const found = await snapshot.lookUpHash(hash as `0x${string}`)
              expect(found.kind).toBe(confirmed.has(hash as `0x${string}`) ? 'confirmed' : 'reorged')
              if (found.kind === 'reorged') {
                expect(await writer.blockRef(found.commonAncestor.number)).toEqual(found.commonAncestor)
              }
            }
          })
          await store.dispose()
          await straight.store.dispose()
        }
      ),
      { numRuns: Math.ceil(40 * share) }
    )
  })

  test('a removed hash is told from an unknown one and names the last block kept', async () => {
    const { writer, reader } = await start()
    const blocks = buildChain(oneEach(['a', 'b', 'c']))
    await commitChain(writer, blocks)
    const kept = blocks[0]?.ref ?? { number: -1, hash: '0x' }
    await writer.rollbackTo(kept)
    await withSnapshot(reader, async snapshot => {
      const position = { blockNumber: 0, index: 0 }
      expect(await snapshot.lookUpHash(hashOf('a'))).toEqual({ kind: 'confirmed', position })
      expect(await snapshot.lookUpHash(hashOf('b'))).toEqual({ kind: 'reorged', commonAncestor: kept })
      expect(await snapshot.lookUpHash(hashOf('c'))).toEqual({ kind: 'reorged', commonAncestor: kept })
      expect(await snapshot.lookUpHash(hashOf('d'))).toEqual({ kind: 'unknown' })
    })
  })

  test('a removed hash that is mined again is confirmed, at its new place', async () => {
    const { writer, reader } = await start()
    const blocks = buildChain(oneEach(['a', 'b']))
    await commitChain(writer, blocks)
    const parent = blocks[0]?.ref ?? { number: -1, hash: '0x' }
    await writer.rollbackTo(parent)
    await commitChain(writer, buildChain(oneEach(['c', 'b']), { parent, fork: 'new' }))
    await withSnapshot(reader, async snapshot => {
      const position = { blockNumber: 2, index: 0 }
      expect(await snapshot.lookUpHash(hashOf('b'))).toEqual({ kind: 'confirmed', position })
    })
    await writer.rollbackTo(parent)
    await withSnapshot(reader, async snapshot => {
      expect(await snapshot.lookUpHash(hashOf('b'))).toEqual({ kind: 'reorged', commonAncestor: parent })
    })
  })

  test('a deeper reorg moves what earlier ones remembered down to its own ancestor', async () => {
    const { writer, reader } = await start()
    const blocks = buildChain(oneEach(['a', 'b', 'c', 'd']))
    const [first, , third] = blocks.map(({ ref }) => ref)
    if (first === undefined || third === undefined) throw new Error('four blocks were built')
    await commitChain(writer, blocks)
    await writer.rollbackTo(third)
    await writer.rollbackTo(first)
    await withSnapshot(reader, async snapshot => {
      expect(await snapshot.lookUpHash(hashOf('d'))).toEqual({ kind: 'reorged', commonAncestor: first })
    })
  })

  test('rolling back to the head changes nothing', async () => {
    const { store, writer } = await start()
    const blocks = buildChain(oneEach(['a', 'b']))
    await commitChain(writer, blocks)
    const before = await store.dump()
    await writer.rollbackTo(blocks[1]?.ref ?? { number: -1, hash: '0x' })
    expect(await store.dump()).toBe(before)
  })

  test('rolling back to a block that is not stored is refused and changes nothing', async () => {
    const { store, writer } = await start()
    const blocks = buildChain(oneEach(['a', 'b']), { firstNumber: 5 })
    await commitChain(writer, blocks)
    const before = await store.dump()
    for (const ref of [
      { number: 5, hash: hashOf('another') },
      { number: 4, hash: blocks[0]?.parentHash ?? '0x' },
      { number: 7, hash: hashOf('later') }
    ] as const) {
      await expect(writer.rollbackTo(ref)).rejects.toThrow(StoreError)
      expect(await store.dump()).toBe(before)
    }
  })

  test('rolling back everything leaves an empty index that may start anywhere', async () => {
    const { store, writer, reader } = await start()
    const empty = await store.dump()
    await commitChain(writer, buildChain(oneEach(['a', 'b', 'c', 'd', 'e'])), { finalized: 2 })
    await writer.markBackfilled()
    await writer.rollbackAll()
    expect(await store.dump()).toBe(empty)
    expect(await writer.state()).toEqual({ backfilled: false, settled: false, degraded: true })
    await withSnapshot(reader, async snapshot => {
      expect(await snapshot.indexedRange()).toBeUndefined()
      expect(await readHistory(snapshot, alice)).toEqual([])
      expect(await snapshot.lookUpHash(hashOf('a'))).toEqual({ kind: 'unknown' })
    })
    await commitChain(writer, buildChain(oneEach(['f']), { firstNumber: 90 }))
    expect((await writer.state()).indexedFrom).toBe(90)
  })

  test('removing a final block degrades the index until the newest removed height is final again', async () => {
    const { store, writer } = await start()
    const blocks = buildChain(oneEach(['a', 'b', 'c', 'd', 'e']))
    await commitChain(writer, blocks, { finalized: 1 })
    await writer.rollbackTo(blocks[3]!.ref)
    expect(await writer.state()).toMatchObject({ degraded: false, finalized: 1 })
    await writer.markFinal(99)
    expect(await writer.state()).toMatchObject({ degraded: false, finalized: 3 })
    await writer.rollbackTo(blocks[1]!.ref)
    expect(await writer.state()).toMatchObject({ degraded: true, finalized: 1 })
    const parent = blocks[1]!.ref
    await commitChain(writer, buildChain(oneEach(['f', 'g', 'h']), { parent, fork: 'b' }), { finalized: 2 })
    expect(await writer.state()).toMatchObject({ degraded: true, finalized: 2 })
    await writer.close()
    const again = await store.openWriter()
    expect(await again.state()).toMatchObject({ degraded: true, finalized: 2 })
    await again.markFinal(3)
    expect(await again.state()).toMatchObject({ degraded: false, finalized: 3 })
    await again.markFinal(1)
    expect(await again.state()).toMatchObject({ finalized: 3 })
  })

  test('blocks below the first stored one say nothing of what is final', async () => {
    const { writer } = await start()
    await commitChain(writer, buildChain(oneEach(['a', 'b']), { firstNumber: 50 }), { finalized: 49 })
    await writer.markFinal(49)
    expect(await writer.state()).not.toHaveProperty('finalized')
    await writer.rollbackAll()
    expect(await writer.state()).toMatchObject({ degraded: false })
  })

  test('a rollback leaves the index unsettled, for readers too, until it is marked settled', async () => {
    const { writer, reader } = await start()
    const blocks = buildChain(oneEach(['a', 'b']))
    await commitChain(writer, blocks)
    const before = await reader.openSnapshot()
    await writer.rollbackTo(blocks[0]!.ref)
    expect((await before.marks()).settled).toBe(true)
    await before.close()
    await withSnapshot(reader, async snapshot => expect((await snapshot.marks()).settled).toBe(false))
    await commitChain(writer, buildChain(oneEach(['c']), { parent: blocks[0]!.ref, fork: 'b' }))
    expect((await writer.state()).settled).toBe(false)
    await writer.markSettled()
    await withSnapshot(reader, async snapshot => expect((await snapshot.marks()).settled).toBe(true))
  })

  test('every removal of blocks makes the number of rollbacks grow, for good, and nothing else does', async () => {
    const { writer, reader } = await start()
    const rollbacks = () => withSnapshot(reader, snapshot => snapshot.rollbacks())
    const first = await rollbacks()
    const blocks = buildChain(oneEach(['a', 'b']))
    await commitChain(writer, blocks)
    await writer.markSettled()
    expect(await rollbacks()).toBe(first)
    await writer.rollbackTo(blocks[1]!.ref)
    expect(await rollbacks()).toBe(first)
    await writer.rollbackTo(blocks[0]!.ref)
    const second = await rollbacks()
    await writer.markSettled()
    expect(await rollbacks()).toBe(second)
    await writer.rollbackAll()
    const third = await rollbacks()
    expect(second).toBeGreaterThan(first)
    expect(third).toBeGreaterThan(second)
  })
}
