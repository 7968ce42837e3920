import { expect, test } from 'vitest'
import type { Address } from '../src/model/evm.ts'
import { buildChain, people } from './buildChain.ts'
import { auditAll, busyBlocks, positionOf } from './busyBlocks.ts'
import { commitChain } from './commitChain.ts'
import { expectedHistory } from './expectedHistory.ts'
import { decodeRecords, readAudit } from './readAll.ts'
import type { OpenStore, StoredRow } from './store.contract.ts'
import { useStores } from './useStore.ts'

const [alice = '0x', bob = '0x', carol = '0x', dave = '0x']: readonly Address[] = people

/** Reading a history in spite of what is missing in it. */
export function describeAudit(open: OpenStore): void {
  const { start, create } = useStores(open)

  test('a store that is not there yet has no history', async () => {
    expect(await readAudit(await (await create()).openReader(), alice)).toEqual([])
  })

  test('an audited history is the history, in chunks that add up to it', async () => {
    const { writer, reader } = await start()
    const blocks = buildChain(
      Array.from({ length: 26 }, (_, block) =>
        Array.from({ length: 40 }, (_, i) => ({
          name: `${block}/${i}`,
          parties: [alice, people[i % 5] ?? bob]
        }))
      )
    )
    await commitChain(writer, blocks)
    for (const address of [alice, bob, dave, people[7]!]) {
      const chunks = await readAudit(reader, address)
      expect(chunks.flatMap(decodeRecords)).toStrictEqual(expectedHistory(blocks, address))
      expect(chunks.every(({ missing }) => missing.length === 0)).toBe(true)
    }
    expect((await readAudit(reader, alice)).length).toBeGreaterThan(2)
  })

  test('a record that is lost is named to exactly its parties, and the rest of their history is there', async () => {
    const { store, writer, reader } = await start()
    const blocks = busyBlocks(5)
    await commitChain(writer, blocks)
    for (const { transaction, parties } of blocks.flatMap(block => block.transactions)) {
      const position = positionOf(transaction)
      const putBack = await store.loseRow({ table: 'tx', position })
      const found = await auditAll(reader)
      expect([...found.keys()].sort()).toEqual([...parties].sort())
      for (const address of parties) {
        expect(found.get(address)).toEqual([{ position, part: 'record' }])
        expect((await readAudit(reader, address)).flatMap(decodeRecords)).toStrictEqual(
          expectedHistory(blocks, address).filter(({ hash }) => hash !== transaction.hash)
        )
      }
      await putBack()
    }
    expect(await auditAll(reader)).toEqual(new Map())
  })

  test('a block that is lost is named for each of its transactions, to exactly their parties', async () => {
    const { store, writer, reader } = await start()
    const blocks = busyBlocks(6)
    await commitChain(writer, blocks)
    for (const { ref, transactions } of blocks.slice(0, -1)) {
      const putBack = await store.loseRow({ table: 'block', number: ref.number })
      const expected = new Map<Address, unknown>()
      for (const address of people) {
        const missing = transactions
          .filter(({ parties }) => parties.includes(address))
          .map(({ transaction }) => ({ position: positionOf(transaction), part: 'block' }))
        if (missing.length > 0) expected.set(address, missing.reverse())
      }
      expect(await auditAll(reader)).toEqual(expected)
      await putBack()
    }
    expect(await auditAll(reader)).toEqual(new Map())
  })

  test('whatever is lost together is named together, down to a history of which nothing is left', async () => {
    const { store, writer, reader } = await start()
    const blocks = buildChain([0, 1, 2, 3].map(i => [{ name: `tx ${i}`, parties: [alice, bob] }]))
    await commitChain(writer, blocks)
    const lose = (row: StoredRow) => store.loseRow(row)
    await lose({ table: 'block', number: 1 })
    await lose({ table: 'tx', position: { blockNumber: 1, index: 0 } })
    await lose({ table: 'tx', position: { blockNumber: 3, index: 0 } })
    const at = (blockNumber: number) => ({ blockNumber, index: 0 })
    const missingOf = async (address: Address) =>
      (await readAudit(reader, address)).flatMap(chunk => chunk.missing)
    const expected = [
      { position: at(3), part: 'record' },
      { position: at(1), part: 'record' },
      { position: at(1), part: 'block' }
    ]
    expect(await missingOf(alice)).toEqual(expected)
    expect(await missingOf(bob)).toEqual(expected)
    await lose({ table: 'tx', position: at(0) })
    await lose({ table: 'tx', position: at(2) })
    const chunks = await readAudit(reader, alice)
    expect(chunks.flatMap(decodeRecords)).toEqual([])
    expect(chunks.flatMap(({ missing }) => missing)).toHaveLength(5)
    expect((await readAudit(reader, carol)).flatMap(({ missing }) => missing)).toEqual([])
  })
}
