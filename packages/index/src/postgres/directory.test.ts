import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { buildChain, people, type TransactionPlan } from '../../test/buildChain.ts'
import { commitChain } from '../../test/commitChain.ts'
import { expectedHistory } from '../../test/expectedHistory.ts'
import { openOwnPostgresReader } from '../../test/openOwnPostgresReader.ts'
import { readHistory, withSnapshot } from '../../test/readAll.ts'
import { testIdentity } from '../../test/store.contract.ts'
import { createTestDatabase, queryOnce } from '../../test/support/startPostgres.ts'
import type { Address, IndexedBlock } from '../model/evm.ts'
import type { StoreReader } from '../port/store.ts'
import type { StoreWriter } from '../port/writer.ts'
import { encodeBlock } from '../record/encodeBlock.ts'
import { packBlocks } from '../record/packBlocks.ts'
import { DirectoryWriter } from './directory.ts'
import { connect } from './driver.ts'
import { openPostgresWriter, type PostgresWriterOptions } from './openWriter.ts'
import type { Partitions } from './partitions.ts'
import { chainSchema } from './schema.ts'
import type { WriterSession } from './session.ts'

const schema = chainSchema(testIdentity.chainId)
const [alice = '0x', bob = '0x', carol = '0x', dave = '0x', stranger = '0x'] = people
/** They differ from the fifth byte on, or not at all in the first five. */
const twin: Address = `${stranger.slice(0, 12) as Address}${'77'.repeat(15)}`

const opened: { close(): Promise<void> }[] = []
const kept = <T extends { close(): Promise<void> }>(made: T): T => {
  opened.push(made)
  return made
}
afterEach(async () => {
  vi.restoreAllMocks()
})

/** One block for each partition. @param parties - of the one transaction of a block. */
const chainOf = (blocks: number, parties: (block: number) => readonly Address[]) =>
  buildChain(
    Array.from({ length: blocks }, (_, block): TransactionPlan[] => [
      { name: `tx ${block}`, parties: parties(block) }
    ])
  )

const openWriter = async (url: string, options: PostgresWriterOptions = {}): Promise<StoreWriter> =>
  kept(
    await openPostgresWriter(url, testIdentity, {
      ...{ smallestPartition: 1, largestPartition: 1, listingMs: 60_000, lockWaitMs: 10_000 },
      ...options
    })
  )
const openReader = async (url: string) => kept(await openOwnPostgresReader([url], testIdentity.chainId))
const listed = async (url: string) => {
  const [row] = await queryOnce(url, `SELECT directory_from, directory_end FROM ${schema}.meta`)
  return [Number(row?.directory_from ?? -1), Number(row?.directory_end ?? -1)]
}
const pageOf = (reader: StoreReader, address: Address) =>
  withSnapshot(reader, snapshot => readHistory(snapshot, address, { limit: 100 }))

describe('round trips of a page', () => {
  const blocks = chainOf(60, block => [
    alice,
    ...(block === 3 ? [bob] : []),
    ...(block % 9 === 0 ? [carol] : []),
    ...(block > 57 ? [dave] : [])
  ])
  let url: string
  let reader: StoreReader
  beforeAll(async () => {
    url = await createTestDatabase()
    const writer = await openWriter(url)
    for (let i = 0; i < blocks.length; i += 4) await commitChain(writer, blocks.slice(i, i + 4))
    // Its heartbeats would be counted.
    await writer.close()
    reader = await openReader(url)
    // How the tables are cut is read once.
    await pageOf(reader, stranger)
  })
  afterAll(async () => {
    for (const each of opened.splice(0)) await each.close()
  })

  test('all partitions but the newest are listed', async () => {
    expect(await listed(url)).toEqual([0, 60])
  })

  test.each([
    ['an address that is nowhere takes the fewest', stranger, 2],
    ['one that is in the newest partitions only takes as many', dave, 2],
    ['one that was active once, long ago, takes one more', bob, 3],
    ['one that is in many partitions takes no more', carol, 3],
    ['one that is in all of them takes no more', alice, 3]
  ])('%s', async (_, address, expected) => {
    const asked = vi.spyOn(pg.Client.prototype, 'query')
    const snapshot = await reader.openSnapshot()
    expect(await readHistory(snapshot, address, { limit: 100 })).toStrictEqual(
      expectedHistory(blocks, address)
    )
    expect(asked).toHaveBeenCalledTimes(expected)
    await snapshot.close()
  })

  test('a listed partition is read alone, and its rows of the directory by their keys', async () => {
    const client = await connect(url, 'check')
    const scans: string[] = []
    const session = {
      read: async (sql: string) => (await client.query(sql)).rows,
      /** Carries the settings out alone. */
      async write(statements: readonly string[]) {
        for (const statement of statements) {
          const isSetting = statement.startsWith('SELECT set_config')
          const { rows } = await client.query(isSetting ? statement : `EXPLAIN (COSTS OFF) ${statement}`)
          const plan = rows.map(row => String(row['QUERY PLAN']).trim())
          if (statement.startsWith('DELETE')) continue
          for (const [at, line] of plan.entries()) {
            const [scan] = /(\w+ )+using \w+|(Seq|Heap) Scan on (directory|address_tx)/.exec(line) ?? []
            const bounds = plan[at + 1]?.match(/(bucket|partition|address|tx_id) [<=>]+( ANY)?/g) ?? []
            if (scan !== undefined) scans.push(`${scan}: ${bounds.join(', ')}`)
          }
        }
      }
    } as unknown as WriterSession
    const partitions = { ranges: [{ first: 16, end: 17 }] } as unknown as Partitions
    await client.query(`BEGIN; SET LOCAL search_path = ${schema}`)
    await new DirectoryWriter(session, partitions, { listedAtOnce: 1, listingMs: 0 }).restore(0xab)
    await client.end()
    const ofDirectory = 'Index Scan using directory_pkey: bucket = ANY, partition ='
    const ofPartition = 'Index Only Scan using address_tx_16_pkey: address >=, address <, tx_id >=, tx_id <'
    expect(scans).toEqual([ofDirectory, ofPartition, ofDirectory])
  })

  test('a page from the middle, and a whole history in small pieces, are right', async () => {
    for (const address of [alice, bob, carol, dave, stranger]) {
      const expected = expectedHistory(blocks, address)
      for (const at of [0, 3, 30].filter(at => at < expected.length)) {
        const { blockNumber = 0, index = 0 } = expected[at] ?? {}
        const olderThan = { blockNumber, index }
        const read = await withSnapshot(reader, snapshot =>
          readHistory(snapshot, address, { limit: 7, olderThan })
        )
        expect(read).toStrictEqual(expected.slice(at + 1, at + 8))
      }
    }
  })
})

describe('an entry is never missing', () => {
  let url: string
  let reader: StoreReader
  beforeEach(async () => {
    url = await createTestDatabase()
  })
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.close()
  })

  test('after blocks were removed from listed partitions, and others came in their place', async () => {
    const writer = await openWriter(url, { smallestPartition: 3, largestPartition: 3 })
    const blocks = chainOf(21, block => [alice, ...(block === 1 ? [bob] : [])])
    await commitChain(writer, blocks)
    expect(await listed(url)).toEqual([0, 21])
    await writer.rollbackTo(blocks[7]!.ref)
    expect(await listed(url)).toEqual([0, 6])
    const others = buildChain(
      Array.from({ length: 16 }, (_, i): TransactionPlan[] => [
        { name: `other ${i}`, parties: [alice, ...(i === 1 ? [carol] : [])] }
      ]),
      { parent: blocks[7]!.ref, fork: 'b' }
    )
    await commitChain(writer, others)
    expect((await listed(url))[1]).toBeGreaterThan(12)
    reader = await openReader(url)
    for (const address of [alice, bob, carol, dave]) {
      const expected = expectedHistory([...blocks.slice(0, 8), ...others], address)
      expect(await pageOf(reader, address)).toStrictEqual(expected)
    }
    await writer.rollbackAll()
    expect(await listed(url)).toEqual([-1, -1])
    expect(await queryOnce(url, `SELECT count(*)::int AS rows FROM ${schema}.directory`)).toEqual([
      { rows: 0 }
    ])
  })

  test('after a block of a listed partition was replaced by one with more parties', async () => {
    const writer = await openWriter(url)
    const before = chainOf(30, () => [alice])
    const after = chainOf(30, block => [alice, ...(block === 5 ? [stranger] : [])])
    await commitChain(writer, before)
    expect(await listed(url)).toEqual([0, 30])
    const put = packBlocks([encodeBlock(after[5] as IndexedBlock)])
    expect(await writer.replaceBlock(put, { part: 'record', block: 5 })).toBe('replaced')
    reader = await openReader(url)
    expect(await pageOf(reader, stranger)).toStrictEqual(expectedHistory(after, stranger))
    // It shares what the directory knows of an address, and is not taken for it.
    expect(await pageOf(reader, twin)).toEqual([])
  })

  test('while a partition is listed over several commits, and the index is rolled back between them', async () => {
    const inPartition = 40
    const addressAt = (block: number): Address =>
      `0x${(block * 1_400).toString(16).padStart(4, '0')}${'5e'.repeat(18)}`
    const blocks = chainOf(inPartition + 6, block => [alice, addressAt(block)])
    const layout = {
      smallestPartition: inPartition,
      largestPartition: inPartition,
      listedAtOnce: 1,
      listingMs: 0
    }
    const writer = await openWriter(url, layout)
    await commitChain(writer, blocks.slice(0, inPartition))
    for (const block of blocks.slice(inPartition)) await commitChain(writer, [block])
    // One of forty pieces follows each commit. The partition loses its newest blocks, and gets others.
    expect(await queryOnce(url, `SELECT max(bucket) < 16384 AS "isBegun" FROM ${schema}.directory`)).toEqual([
      { isBegun: true }
    ])
    await writer.rollbackTo(blocks[inPartition - 3]!.ref)
    const other: Address = `0x0001${'5f'.repeat(18)}`
    const others = buildChain(
      Array.from({ length: 50 }, (_, i): TransactionPlan[] => [
        { name: `other ${i}`, parties: i === 0 ? [other] : [bob] }
      ]),
      { parent: blocks[inPartition - 3]!.ref, fork: 'b' }
    )
    for (const block of others) await commitChain(writer, [block])
    expect(await listed(url)).toEqual([0, inPartition])
    // From above the partition, which is then read as the directory says.
    const more = buildChain(
      Array.from({ length: 2 * inPartition }, (_, i): TransactionPlan[] => [
        { name: `more ${i}`, parties: [bob] }
      ]),
      { parent: others.at(-1)!.ref }
    )
    await commitChain(writer, more)
    const all = [...blocks.slice(0, inPartition - 2), ...others, ...more]
    reader = await openReader(url)
    for (const address of [alice, other, addressAt(0), addressAt(inPartition - 3), stranger]) {
      const read = await withSnapshot(reader, snapshot => readHistory(snapshot, address))
      expect(read).toStrictEqual(expectedHistory(all, address))
    }
  })

  test.each([
    ['lost', (bucket: number) => `DELETE FROM directory WHERE bucket = ${bucket} AND partition = 4 * 65536`],
    ['altered', (bucket: number) => `UPDATE directory SET prints = 'abc' WHERE bucket = ${bucket}`],
    ['of another bucket', (bucket: number) => `UPDATE directory SET bucket = 7 WHERE bucket = ${bucket}`],
    ['without its sum', (bucket: number) => `DELETE FROM key_part WHERE keyed = 3 AND part = ${bucket}`]
  ])(
    'unnoticed: a page refuses a row that is %s, the background check finds it, and it is written anew',
    async (_, sql) => {
      const writer = await openWriter(url)
      const blocks = chainOf(20, block => (block % 5 === 4 ? [alice, stranger] : [alice]))
      await commitChain(writer, blocks)
      reader = await openReader(url)
      const checked = () => withSnapshot(reader, snapshot => snapshot.findRowDamage(0, 4_096))
      expect(await checked()).toEqual([])
      await queryOnce(url, `SET search_path = ${schema}; ${sql(Number(stranger.slice(0, 6)))}`)
      const damage = { part: 'addressRow', key: stranger.slice(2, 6) } as const
      await expect(pageOf(reader, stranger)).rejects.toMatchObject({ damage })
      expect(await checked()).toContainEqual(damage)
      for (const found of await checked()) {
        expect(await writer.findSuspects(found)).toMatchObject({ likely: [], range: { from: 0, to: -1 } })
        await writer.acceptRows(found)
        expect(await writer.findSuspects(found)).toBeUndefined()
      }
      expect(await checked()).toEqual([])
      expect(await pageOf(reader, stranger)).toStrictEqual(expectedHistory(blocks, stranger))
    }
  )

  test('where so many addresses begin alike that they are not named', async () => {
    const alike = Array.from(
      { length: 900 },
      (_, i): Address => `0xabcd${i.toString(16).padStart(6, '0')}${'0'.repeat(30)}`
    )
    const writer = await openWriter(url)
    const blocks = chainOf(12, block => (block === 2 ? alike : [alice]))
    await commitChain(writer, blocks)
    const [row] = await queryOnce(url, `SELECT prints FROM ${schema}.directory WHERE bucket = ${0xabcd}`)
    expect(row).toEqual({ prints: null })
    reader = await openReader(url)
    for (const address of [alike[0]!, alike[899]!]) {
      expect(await pageOf(reader, address)).toStrictEqual(expectedHistory(blocks, address))
    }
  })
})
