import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Address, IndexedBlock } from '../src/model/evm.ts'
import type { Recount } from '../src/port/audit.ts'
import type { StoreReader } from '../src/port/store.ts'
import { isRowOf } from '../src/record/rowChecksums.ts'
import { arbitraryPlans } from './arbitraries.ts'
import { buildChain, people } from './buildChain.ts'
import { addressRows, auditAll, busyBlocks } from './busyBlocks.ts'
import { commitChain } from './commitChain.ts'
import { readCoverage, withSnapshot } from './readAll.ts'
import type { OpenStore } from './store.contract.ts'
import { useStores } from './useStore.ts'

const [alice = '0x', bob = '0x']: readonly Address[] = people
/** Of the people of the tests, those that are counted in one part: they begin with the same 12 bits. */
const together = (address: Address) => people.filter(other => other.slice(0, 5) === address.slice(0, 5))

const nothingLost: Recount = { isComplete: true, missing: [], unresolved: 0 }

async function recounts(reader: StoreReader) {
  return withSnapshot(reader, async snapshot => {
    const all = new Map<Address, Recount>()
    for (const address of people) all.set(address, await snapshot.recount(address))
    return all
  })
}

async function expectNothingLost(reader: StoreReader) {
  for (const [address, recount] of await recounts(reader)) expect(recount, address).toEqual(nothingLost)
}

/** Counting the rows of the address index again. */
/** @param keepsCounts - a rollback beyond the undo data knows what it removes. */
export function describeRecount(open: OpenStore, share = 1, keepsCounts = false): void {
  const { start, create } = useStores(open)

  test('an index that is as it was written lacks nothing, after any course of commits, reorgs and restarts', async () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('grow' as const), plans: arbitraryPlans }) },
      {
        weight: 3,
        arbitrary: fc.record({
          kind: fc.constant('reorg' as const),
          depth: fc.nat({ max: 15 }),
          plans: arbitraryPlans
        })
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('everything' as const) }) }
    )
    const arbitraryLayout = fc.record({
      epochTransactions: fc.integer({ min: 1, max: 8 }),
      minUndoBlocks: fc.integer({ min: 0, max: 6 }),
      maxUndoBlocks: fc.constantFrom(6, 100)
    })
    await fc.assert(
      fc.asyncProperty(
        arbitraryLayout,
        fc.array(step, { minLength: 2, maxLength: 7 }),
        async (layout, steps) => {
          const { store, writer: first, reader } = await start(layout)
          let writer = first
          let chain: readonly IndexedBlock[] = []
          for (const [i, action] of steps.entries()) {
            if (action.kind === 'restart') {
              await writer.close()
              writer = await store.openWriter()
              continue
            }
            if (action.kind === 'everything') {
              await writer.rollbackAll()
              chain = []
              continue
            }
            if (action.kind === 'reorg' && chain.length > 0) {
              chain = chain.slice(0, Math.max(1, chain.length - action.depth))
              await writer.rollbackTo(chain.at(-1)!.ref)
              await expectNothingLost(reader)
            }
            const parent = chain.at(-1)?.ref
            const plans = action.plans.map(block =>
              block.map(plan => ({ ...plan, name: `${i} ${plan.name}` }))
            )
            const grown = buildChain(plans, { fork: `step ${i}`, ...(parent !== undefined && { parent }) })
            await commitChain(writer, grown, { finalized: grown[0]?.ref.number ?? 0 })
            chain = [...chain, ...grown]
            await expectNothingLost(reader)
          }
          expect(await auditAll(reader)).toEqual(new Map())
          // What is counted is really counted: the newest row is missed when it is gone.
          const last = [...addressRows(chain)].at(-1)
          const { countedFrom } = await readCoverage(reader)
          if (last !== undefined) {
            expect(countedFrom).toBeLessThanOrEqual(chain.at(-1)!.ref.number)
            await store.loseRow({ table: 'address_tx', ...last })
            const found = (await recounts(reader)).get(last.address)
            const isCounted = last.position.blockNumber >= (countedFrom ?? 0)
            expect(found?.missing).toEqual(isCounted ? [last.position] : [])
          }
          await store.dispose()
        }
      ),
      { numRuns: Math.ceil(16 * share) }
    )
  })

  test('each row of the address index that is lost is named to its address, and to nobody else', async () => {
    const { store, writer, reader } = await start({ epochTransactions: 4 })
    const blocks = busyBlocks(6, { firstNumber: 3 })
    await commitChain(writer, blocks.slice(0, 4))
    await commitChain(writer, blocks.slice(4))
    for (const row of addressRows(blocks)) {
      const putBack = await store.loseRow({ table: 'address_tx', ...row })
      for (const [address, recount] of await recounts(reader)) {
        const expected =
          address === row.address
            ? { ...nothingLost, missing: [row.position] }
            : together(row.address).includes(address)
              ? { ...nothingLost, ofOther: expect.objectContaining({ position: row.position }) }
              : nothingLost
        if (recount.ofOther) expect(isRowOf(recount.ofOther, row.address)).toBe(true)
        expect(recount, `${address} without ${JSON.stringify(row)}`).toEqual(expected)
      }
      await putBack()
    }
    await expectNothingLost(reader)
  })

  test('two lost rows of one part are told to everyone in it, and to nobody outside', async () => {
    const { store, writer, reader } = await start()
    const blocks = busyBlocks(6)
    await commitChain(writer, blocks)
    for (const row of [...addressRows(blocks)].filter(({ address }) => address === alice).slice(0, 2)) {
      await store.loseRow({ table: 'address_tx', ...row })
    }
    for (const [address, recount] of await recounts(reader)) {
      const isNear = together(alice).includes(address)
      expect(recount, address).toEqual(isNear ? { ...nothingLost, unresolved: 2 } : nothingLost)
    }
  })

  test('a row that is lost stays lost over commits, a reorg above it and a restart', async () => {
    const { store, writer, reader } = await start()
    const blocks = busyBlocks(6)
    await commitChain(writer, blocks)
    const row = [...addressRows(blocks.slice(0, 1))][0]!
    await store.loseRow({ table: 'address_tx', ...row })
    const named = { isComplete: true, missing: [row.position], unresolved: 0 }
    const find = async () => (await recounts(reader)).get(row.address)
    expect(await find()).toEqual(named)
    await writer.rollbackTo(blocks[3]!.ref)
    expect(await find()).toEqual(named)
    await writer.close()
    const again = await store.openWriter()
    await commitChain(again, busyBlocks(4, { parent: blocks[3]!.ref, fork: 'b' }))
    expect(await find()).toEqual(named)
    await again.rollbackTo(blocks[0]!.ref)
    expect(await find()).toEqual(named)
  })

  const beyond = keepsCounts ? 'also beyond them' : 'beyond them counting begins anew above the ancestor'
  test(`a rollback within the undo data keeps the count; ${beyond}`, async () => {
    const { store, writer, reader } = await start({ minUndoBlocks: 4, maxUndoBlocks: 6 })
    const blocks = busyBlocks(20)
    for (const block of blocks) await commitChain(writer, [block])
    await writer.rollbackTo(blocks[15]!.ref)
    expect((await readCoverage(reader)).countedFrom).toBe(0)
    await expectNothingLost(reader)
    await writer.rollbackTo(blocks[5]!.ref)
    const counted = (countedFrom: number) => ({ countedFrom: keepsCounts ? 0 : countedFrom })
    expect(await readCoverage(reader)).toEqual(keepsCounts ? counted(0) : {})
    await expectNothingLost(reader)
    const grown = busyBlocks(8, { parent: blocks[5]!.ref, fork: 'b' })
    await commitChain(writer, grown)
    expect(await readCoverage(reader)).toEqual(counted(6))
    await expectNothingLost(reader)
    const rows = [...addressRows([...blocks.slice(0, 6), ...grown])].filter(
      ({ address }) => address === alice
    )
    const below = rows.find(({ position }) => position.blockNumber < 6)!
    const above = rows.find(({ position }) => position.blockNumber >= 6)!
    const putBack = await store.loseRow({ table: 'address_tx', ...below })
    if (keepsCounts) expect((await recounts(reader)).get(alice)?.missing).toEqual([below.position])
    else await expectNothingLost(reader)
    await putBack()
    await store.loseRow({ table: 'address_tx', ...above })
    expect((await recounts(reader)).get(alice)?.missing).toEqual([above.position])
  })

  test('a part of many rows is counted in pieces, with a turn for other work in between', async () => {
    const { store, writer, reader } = await start({ epochTransactions: 9_000 })
    const perBlock = 1_000
    const blocks = buildChain(
      Array.from({ length: 11 }, (_, block) =>
        Array.from({ length: perBlock }, (_, i) => ({ name: `${block}/${i}`, parties: [alice, bob] }))
      )
    )
    await commitChain(writer, blocks)
    let turns = 0
    let isTicking = true
    const tick = () => {
      turns++
      if (isTicking) setImmediate(tick)
    }
    setImmediate(tick)
    const rows = blocks.length * perBlock
    await withSnapshot(reader, async snapshot => {
      expect(await snapshot.recount(alice)).toEqual(nothingLost)
      expect(turns).toBeGreaterThan(3)
      expect((await snapshot.recount(bob, { maxRows: 2 * rows })).isComplete).toBe(true)
      expect((await snapshot.recount(bob, { maxRows: 2 * rows - 1 })).isComplete).toBe(false)
    })
    isTicking = false
    for (const place of [0, 4_998, 4_999, 5_000, 5_001, 8_999, 9_000, rows - 1]) {
      const position = { blockNumber: Math.floor(place / perBlock), index: place % perBlock }
      const putBack = await store.loseRow({ table: 'address_tx', address: bob, position })
      await withSnapshot(reader, async snapshot => {
        expect(await snapshot.recount(bob)).toEqual({ ...nothingLost, missing: [position] })
        const { ofOther, ...forAlice } = await snapshot.recount(alice)
        expect(forAlice).toEqual(nothingLost)
        expect(ofOther && isRowOf(ofOther, bob)).toBe(true)
      })
      await putBack()
    }
  })

  test('counting stops at a bound, or when the time is over, and then says nothing', async () => {
    const { store, writer, reader } = await start({ epochTransactions: 4 })
    const blocks = busyBlocks(8)
    await commitChain(writer, blocks)
    const rows = [...addressRows(blocks)]
    const partRows = rows.filter(({ address }) => together(alice).includes(address)).length
    await store.loseRow({ table: 'address_tx', ...rows.find(({ address }) => address === alice)! })
    const unknown = { isComplete: false, missing: [], unresolved: 0 }
    await withSnapshot(reader, async snapshot => {
      expect(await snapshot.recount(alice, { maxRows: 3 })).toEqual(unknown)
      expect(await snapshot.recount(alice, { maxRows: partRows - 2 })).toEqual(unknown)
      expect((await snapshot.recount(alice, { maxRows: partRows - 1 })).missing).toHaveLength(1)
      expect(await snapshot.recount(alice, { signal: AbortSignal.abort() })).toEqual(unknown)
      const controller = new AbortController()
      const counting = snapshot.recount(alice, { signal: controller.signal })
      controller.abort()
      expect(await counting).toEqual(unknown)
    })
  })

  test('a snapshot recounts what it sees, whatever is written meanwhile', async () => {
    const { writer, reader } = await start({ epochTransactions: 4 })
    const blocks = busyBlocks(8)
    await commitChain(writer, blocks.slice(0, 6))
    const snapshot = await reader.openSnapshot()
    const counted = people.map(address => snapshot.recount(address))
    await commitChain(writer, blocks.slice(6))
    await writer.rollbackTo(blocks[1]!.ref)
    for (const recount of counted) expect(await recount).toEqual(nothingLost)
    expect(await snapshot.recount(alice)).toEqual(nothingLost)
    await snapshot.close()
  })

  test('a store that is not there yet lacks nothing', async () => {
    const reader = await (await create()).openReader()
    expect((await recounts(reader)).get(alice)).toEqual(nothingLost)
  })
}
