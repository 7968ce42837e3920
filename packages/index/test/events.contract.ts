import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AccountEvents, IndexedBlock } from '../src/model/evm.ts'
import { arbitraryLayout, arbitraryPlans } from './arbitraries.ts'
import { buildChain, people } from './buildChain.ts'
import { commitChain } from './commitChain.ts'
import { expectedEvents } from './expectedHistory.ts'
import { gather, readEvents, withSnapshot } from './readAll.ts'
import type { OpenStore } from './store.contract.ts'
import { useStores } from './useStore.ts'

const [alice = '0x', bob = '0x', carol = '0x'] = people

/** So many blocks without transactions, each with a tip for alice, of one wei more than its number. */
const tippedBlocks = (count: number, fork = ''): readonly IndexedBlock[] =>
  buildChain(
    Array.from({ length: count }, () => []),
    { fork }
  ).map(block => ({
    ...block,
    events: [{ address: alice, events: [{ kind: 'tip', amount: BigInt(block.ref.number) + 1n }] }]
  }))

/** What blocks do to accounts besides their transactions. */
export function describeEvents(open: OpenStore, share = 1): void {
  const { start } = useStores(open)

  test('each account finds its events as they were, by block ascending, through reorgs of any depth', async () => {
    const arbitraryReorgs = fc.array(fc.record({ depth: fc.nat({ max: 12 }), plans: arbitraryPlans }), {
      maxLength: 3
    })
    await fc.assert(
      fc.asyncProperty(arbitraryPlans, arbitraryReorgs, arbitraryLayout, async (plans, reorgs, layout) => {
        const { store, writer, reader } = await start(layout)
        let chain = buildChain(plans)
        await commitChain(writer, chain, { finalized: chain.length >> 1 })
        for (const [i, { depth, plans: next }] of reorgs.entries()) {
          chain = chain.slice(0, Math.max(1, chain.length - depth))
          const parent = chain.at(-1)!.ref
          await writer.rollbackTo(parent)
          // Without their transactions, which may be in the chain already.
          const empty = next.map(() => [])
          const grown = buildChain(empty, { parent, fork: `reorg ${i}` })
          await commitChain(writer, grown)
          chain = [...chain, ...grown]
        }
        await withSnapshot(reader, async snapshot => {
          for (const address of people) {
            expect(await gather(snapshot.accountEvents(address))).toStrictEqual(
              expectedEvents(chain, address)
            )
          }
        })
        await store.dispose()
      }),
      { numRuns: Math.ceil(12 * share) }
    )
  })

  test('several events of one block stay in their order, with amounts of every size', async () => {
    const { writer, reader } = await start()
    const [block] = buildChain([[]], { firstNumber: 9 })
    const events: readonly AccountEvents[] = [
      {
        address: alice,
        events: [
          { kind: 'withdrawal', amount: 2n ** 256n - 1n },
          { kind: 'authorization', nonce: 0n },
          { kind: 'authorization', nonce: 2n ** 64n - 1n },
          { kind: 'creation', count: 300 },
          { kind: 'reward', amount: 2n * 10n ** 18n },
          { kind: 'mint', amount: 1n },
          { kind: 'withdrawal', amount: 0n }
        ]
      },
      { address: bob, events: [{ kind: 'tip', amount: 5n }] }
    ]
    await commitChain(writer, [{ ...block!, events }])
    expect(await readEvents(reader, alice)).toStrictEqual([{ blockNumber: 9, events: events[0]!.events }])
    expect(await readEvents(reader, bob)).toStrictEqual([{ blockNumber: 9, events: events[1]!.events }])
    expect(await readEvents(reader, carol)).toEqual([])
  })

  test('events make nobody a party, and blocks without any say nothing', async () => {
    const { writer, reader } = await start()
    const blocks = tippedBlocks(2).map(block => (block.ref.number === 0 ? block : { ...block, events: [] }))
    await commitChain(writer, blocks)
    expect(await readEvents(reader, alice)).toHaveLength(1)
    await withSnapshot(reader, async snapshot => expect(await snapshot.countHistory(alice, 9)).toBe(0))
  })

  test('an account with events in very many blocks gets them in chunks, with a turn for other work in between', async () => {
    const { writer, reader } = await start()
    const blocks = tippedBlocks(5_000)
    await commitChain(writer, blocks)
    let turns = 0
    let isTicking = true
    const tick = () => {
      turns++
      if (isTicking) setImmediate(tick)
    }
    setImmediate(tick)
    const sizes: number[] = []
    const heights: number[] = []
    await withSnapshot(reader, async snapshot => {
      for await (const chunk of snapshot.accountEvents(alice)) {
        sizes.push(chunk.length)
        heights.push(...chunk.map(({ blockNumber }) => blockNumber))
      }
    })
    isTicking = false
    expect(heights).toEqual(blocks.map(({ ref }) => ref.number))
    expect(sizes.length).toBeGreaterThan(3)
    expect(Math.min(...sizes)).toBeGreaterThan(0)
    expect(turns).toBeGreaterThanOrEqual(sizes.length - 2)
  })

  test('removing everything removes them too; an open snapshot keeps its own', async () => {
    const { writer, reader } = await start()
    await commitChain(writer, tippedBlocks(3))
    const snapshot = await reader.openSnapshot()
    await writer.rollbackAll()
    expect(await readEvents(reader, alice)).toEqual([])
    expect(await gather(snapshot.accountEvents(alice))).toHaveLength(3)
    await snapshot.close()
    await commitChain(writer, tippedBlocks(1, 'b'))
    expect(await readEvents(reader, alice)).toHaveLength(1)
  })
}
