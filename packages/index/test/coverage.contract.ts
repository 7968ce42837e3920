import { expect, test } from 'vitest'
import type { IndexedBlock } from '../src/model/evm.ts'
import { encodeBlock } from '../src/record/encodeBlock.ts'
import { packBlocks } from '../src/record/packBlocks.ts'
import { buildChain, people } from './buildChain.ts'
import { commitChain } from './commitChain.ts'
import { readCoverage, withSnapshot } from './readAll.ts'
import type { OpenStore } from './store.contract.ts'
import { useStores } from './useStore.ts'

const [alice = '0x', bob = '0x'] = people
const plans = Array.from({ length: 10 }, (_, i) => [{ name: `tx ${i}`, parties: [alice, bob] }])

/** The same blocks, traced from the height `from` up to `to`. */
const traced = (blocks: readonly IndexedBlock[], from: number, to = Number.POSITIVE_INFINITY) =>
  blocks.map(block => ({ ...block, isTraced: block.ref.number >= from && block.ref.number <= to }))

/** What is known of which blocks. */
export function describeCoverage(open: OpenStore): void {
  const { start, create } = useStores(open)

  test('an empty index covers nothing; blocks without traces add nothing', async () => {
    const { writer, reader } = await start()
    expect(await readCoverage(reader)).toEqual({})
    const blocks = buildChain(plans, { firstNumber: 40 })
    await commitChain(writer, blocks.slice(0, 3))
    expect(await readCoverage(reader)).toEqual({})
    await commitChain(writer, blocks.slice(3))
    expect(await readCoverage(reader)).toEqual({})
  })

  test('a store that is not there yet covers nothing', async () => {
    const store = await create()
    expect(await readCoverage(await store.openReader())).toEqual({})
  })

  test('the traced stretch begins behind the last block that is not traced, in one batch or over many', async () => {
    const blocks = traced(buildChain(plans), 2, 5)
    const from = async (batches: readonly (readonly IndexedBlock[])[]) => {
      const { writer, reader } = await start()
      for (const batch of batches) await commitChain(writer, batch)
      return (await readCoverage(reader)).tracedFrom
    }
    expect(await from([blocks.slice(0, 2)])).toBeUndefined()
    expect(await from([blocks.slice(0, 6)])).toBe(2)
    expect(await from([blocks.slice(0, 3), blocks.slice(3, 6)])).toBe(2)
    expect(await from([blocks.slice(0, 7)])).toBeUndefined()
    expect(await from([blocks.slice(0, 6), blocks.slice(6, 8)])).toBeUndefined()
    expect(await from([blocks.slice(0, 8), traced(blocks.slice(8), 9)])).toBe(9)
    expect(await from([blocks.slice(0, 8), traced(blocks.slice(8), 0)])).toBe(8)
    expect(await from([traced(blocks, 0)])).toBe(0)
  })

  test('blocks that were held against their headers are a stretch of their own', async () => {
    const { writer, reader } = await start()
    const blocks = buildChain(plans).map(block => ({ ...block, hasVerifiedRoots: block.ref.number !== 4 }))
    const from = async () => (await readCoverage(reader)).rootsFrom
    await commitChain(writer, blocks.slice(0, 3))
    expect(await from()).toBe(0)
    await commitChain(writer, blocks.slice(3, 5))
    expect(await from()).toBeUndefined()
    await commitChain(writer, blocks.slice(5))
    expect(await from()).toBe(5)
    await writer.rollbackTo(blocks[5]!.ref)
    expect(await from()).toBe(5)
    await writer.rollbackTo(blocks[4]!.ref)
    expect(await from()).toBeUndefined()
  })

  test('blocks with a part unknown are named, until they are rolled back', async () => {
    const { writer, reader } = await start()
    const blocks = buildChain(plans, { firstNumber: 40 }).map(block =>
      [42, 43, 46].includes(block.ref.number) ? { ...block, unknown: 'receipts' as const } : block
    )
    const unknown = async () => (await readCoverage(reader)).unknown
    await commitChain(writer, blocks.slice(3, 6))
    expect(await unknown()).toEqual([{ from: 43, to: 43 }])
    await writer.prependBlocks(packBlocks(blocks.slice(0, 3).map(encodeBlock)))
    expect(await unknown()).toEqual([{ from: 42, to: 43 }])
    await commitChain(writer, blocks.slice(6))
    expect(await unknown()).toEqual([
      { from: 42, to: 43 },
      { from: 46, to: 46 }
    ])
    await writer.rollbackTo(blocks[5]!.ref)
    expect(await unknown()).toEqual([{ from: 42, to: 43 }])
    await writer.rollbackTo(blocks[2]!.ref)
    expect(await unknown()).toEqual([{ from: 42, to: 42 }])
    await writer.rollbackTo(blocks[1]!.ref)
    expect(await unknown()).toBeUndefined()
  })

  test('a block that was indexed as a whole is not replaced by one with a part unknown', async () => {
    const { writer, reader } = await start()
    const blocks = buildChain(plans)
    await commitChain(writer, blocks)
    const [, second] = blocks
    const replace = (block: IndexedBlock) => writer.replaceBlock(packBlocks([encodeBlock(block)]))
    await expect(replace({ ...second!, unknown: 'receipts' })).rejects.toThrow('indexed as a whole')
    expect(await replace(second!)).toBe('replaced')
    expect((await readCoverage(reader)).unknown).toBeUndefined()
  })

  test('a rollback keeps what is known of the blocks that stay', async () => {
    const { store, writer, reader } = await start()
    const blocks = traced(buildChain(plans), 4)
    await commitChain(writer, blocks)
    const whole = { tracedFrom: 4 }
    expect(await readCoverage(reader)).toEqual(whole)
    await writer.rollbackTo(blocks[4]!.ref)
    expect(await readCoverage(reader)).toEqual(whole)
    await writer.rollbackTo(blocks[3]!.ref)
    expect(await readCoverage(reader)).toEqual({})
    await writer.close()
    const again = await store.openWriter()
    expect(await readCoverage(reader)).toEqual({})
    await commitChain(again, traced(buildChain(plans, { parent: blocks[3]!.ref, fork: 'b' }), 0))
    expect(await readCoverage(reader)).toEqual(whole)
  })

  test('an untraced block that is rolled back does not bring back what it ended', async () => {
    const { writer, reader } = await start()
    const blocks = traced(buildChain(plans), 0, 8)
    await commitChain(writer, blocks)
    await writer.rollbackTo(blocks[8]!.ref)
    expect(await readCoverage(reader)).toEqual({})
    await commitChain(writer, traced(buildChain(plans.slice(0, 2), { parent: blocks[8]!.ref, fork: 'b' }), 0))
    expect(await readCoverage(reader)).toEqual({ tracedFrom: 9 })
  })

  test('what is known outlives the writer, and a snapshot goes on saying what it was opened with', async () => {
    const { store, writer, reader } = await start()
    const blocks = traced(buildChain(plans), 0)
    await commitChain(writer, blocks.slice(0, 5))
    const snapshot = await reader.openSnapshot()
    await writer.close()
    const second = await store.openWriter()
    await commitChain(second, blocks.slice(5, 7))
    expect(await readCoverage(reader)).toEqual({ tracedFrom: 0 })
    await second.rollbackAll()
    expect(await readCoverage(reader)).toEqual({})
    expect(await snapshot.coverage()).toEqual({ tracedFrom: 0 })
    await snapshot.close()
    await commitChain(second, traced(buildChain(plans, { firstNumber: 70 }), 71))
    expect(await readCoverage(reader)).toEqual({ tracedFrom: 71 })
  })

  test('a refused batch says nothing', async () => {
    const { writer, reader } = await start()
    const blocks = buildChain(plans)
    await commitChain(writer, blocks.slice(0, 2))
    await expect(commitChain(writer, traced(blocks.slice(4), 0))).rejects.toThrow()
    expect(await readCoverage(reader)).toEqual({})
  })

  test('a snapshot names the blocks that are indexed, at every height, and no others', async () => {
    const { writer, reader } = await start()
    const blocks = buildChain(plans, { firstNumber: 5 })
    await commitChain(writer, blocks)
    await withSnapshot(reader, async snapshot => {
      await writer.rollbackTo(blocks[1]!.ref)
      for (const { ref } of blocks) expect(await snapshot.blockRef(ref.number)).toEqual(ref)
      expect(await snapshot.blockRef(4)).toBeUndefined()
      expect(await snapshot.blockRef(15)).toBeUndefined()
    })
    await withSnapshot(reader, async snapshot => expect(await snapshot.blockRef(7)).toBeUndefined())
  })
}
