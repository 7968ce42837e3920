import { expect, test } from 'vitest'
import type { IndexedBlock } from '../src/model/evm.ts'
import type { StoreWriter } from '../src/port/writer.ts'
import { encodeBlock } from '../src/record/encodeBlock.ts'
import { packBlocks } from '../src/record/packBlocks.ts'
import { buildChain, hashOf, people } from './buildChain.ts'
import { commitChain } from './commitChain.ts'
import { expectedHistory } from './expectedHistory.ts'
import { readHistory, withSnapshot } from './readAll.ts'
import type { OpenStore } from './store.contract.ts'
import { useStores } from './useStore.ts'

const [alice = '0x', bob = '0x', carol = '0x'] = people
const blocks = buildChain(
  Array.from({ length: 12 }, (_, i) => [
    { name: `a ${i}`, parties: [alice, bob] },
    { name: `b ${i}`, parties: [bob, carol], gap: 2 }
  ])
)

function replace(writer: StoreWriter, block: IndexedBlock | undefined) {
  if (block === undefined) throw new Error('there is no such block')
  return writer.replaceBlock(packBlocks([encodeBlock(block)]))
}

/** Putting the same block in place of a damaged one. */
export function describeReplacing(open: OpenStore): void {
  const { start } = useStores(open)

  test.each([
    ['a record', { table: 'tx', position: { blockNumber: 4, index: 3 } }],
    ['the row of the block', { table: 'block', number: 4 }]
  ] as const)('brings back %s that was lost, and changes nothing else', async (_, row) => {
    const { store, writer, reader } = await start()
    await commitChain(writer, blocks, { finalized: 3 })
    const whole = await store.dump()
    const before = await writer.state()
    await store.loseRow(row)
    expect(await store.dump()).not.toBe(whole)
    expect(await replace(writer, blocks[4])).toBe('replaced')
    expect(await store.dump()).toBe(whole)
    expect(await writer.state()).toEqual(before)
    await withSnapshot(reader, async snapshot => {
      expect(await readHistory(snapshot, bob)).toStrictEqual(expectedHistory(blocks, bob))
      expect((await snapshot.lookUpHash(hashOf('b 4'))).kind).toBe('confirmed')
    })
  })

  test('brings back the newest block, on which the next ones are put', async () => {
    const { store, writer } = await start()
    const { store: whole, writer: other } = await start()
    await commitChain(writer, blocks.slice(0, 5))
    await store.loseRow({ table: 'block', number: 4 })
    expect(await replace(writer, blocks[4])).toBe('replaced')
    await commitChain(writer, blocks.slice(5))
    await commitChain(other, blocks)
    expect(await store.dump()).toBe(await whole.dump())
  })

  test('every block may be replaced, and rolled back afterwards as before', async () => {
    const { store, writer } = await start({ resealTransactions: 3 })
    await commitChain(writer, blocks)
    const whole = await store.dump()
    for (const block of blocks) expect(await replace(writer, block)).toBe('replaced')
    expect(await store.dump()).toBe(whole)
    const { store: short, writer: other } = await start()
    await commitChain(other, blocks.slice(0, 8))
    await writer.rollbackTo(blocks[7]!.ref)
    expect(await store.dump()).toBe(await short.dump())
  })

  test('a block that the stored chain does not have is not put into it', async () => {
    const { store, writer } = await start()
    await commitChain(writer, blocks.slice(0, 8))
    const whole = await store.dump()
    const fork = buildChain([[{ name: 'other', parties: [alice] }]], {
      parent: blocks[3]!.ref,
      fork: 'other'
    })
    expect(await replace(writer, fork[0])).toBe('other')
    expect(await replace(writer, blocks[8])).toBe('gone')
    expect(await store.dump()).toBe(whole)
    const putBack = await store.loseRow({ table: 'block', number: 4 })
    expect(await replace(writer, fork[0])).toBe('other')
    await putBack()
    await writer.rollbackTo(blocks[3]!.ref)
    expect(await replace(writer, blocks[4])).toBe('gone')
  })

  test.each([
    ['newest', 8],
    ['only', 1]
  ])('another block is not put in the place of the %s one, whose row is lost', async (_, count) => {
    const { store, writer, reader } = await start()
    const own = blocks.slice(8 - count, 8)
    await commitChain(writer, own)
    const fork = buildChain([[{ name: 'other', parties: [alice] }]], {
      ...{ parent: blocks[6]!.ref, fork: 'other' }
    })
    const whole = await store.dump()
    await store.loseRow({ table: 'block', number: 7 })
    expect(await replace(writer, fork[0])).toBe('other')
    expect(await writer.blockRef(7)).toEqual(blocks[7]?.ref)
    expect(await replace(writer, blocks[7])).toBe('replaced')
    expect(await store.dump()).toBe(whole)
    await withSnapshot(reader, async snapshot => {
      expect((await snapshot.lookUpHash(hashOf('b 7'))).kind).toBe('confirmed')
    })
  })

  test('of two neighbours whose rows are lost the newer one is replaced first: it shows which the other one is', async () => {
    const { store, writer } = await start()
    await commitChain(writer, blocks)
    const whole = await store.dump()
    for (const number of [10, 11]) await store.loseRow({ table: 'block', number })
    const damage = { part: 'block', block: 11 }
    await expect(replace(writer, blocks[10])).rejects.toMatchObject({ damage })
    for (const number of [11, 10]) expect(await replace(writer, blocks[number])).toBe('replaced')
    expect(await store.dump()).toBe(whole)
  })

  test('a traced block is not replaced by one without its traces', async () => {
    const { writer } = await start()
    await commitChain(
      writer,
      blocks.slice(0, 6).map(block => ({ ...block, isTraced: true }))
    )
    await expect(replace(writer, blocks[4])).rejects.toThrow('expected them in the block that replaces it')
  })
}
