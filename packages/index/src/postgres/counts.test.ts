import { afterEach, beforeEach, expect, test } from 'vitest'
import { buildChain, people } from '../../test/buildChain.ts'
import { commitChain } from '../../test/commitChain.ts'
import { openOwnPostgresReader } from '../../test/openOwnPostgresReader.ts'
import { readCoverage, withSnapshot } from '../../test/readAll.ts'
import { testIdentity } from '../../test/store.contract.ts'
import { createTestDatabase } from '../../test/support/startPostgres.ts'
import type { Address } from '../model/evm.ts'
import type { StoreReader } from '../port/store.ts'
import type { StoreWriter } from '../port/writer.ts'
import { type Client, connect } from './driver.ts'
import { openPostgresWriter } from './openWriter.ts'
import { chainSchema } from './schema.ts'

const [alice = '0x', bob = '0x']: readonly Address[] = people
const blocks = buildChain(Array.from({ length: 8 }, (_, i) => [{ name: `tx ${i}`, parties: [alice, bob] }]))
const nothingLost = { isComplete: true, missing: [], unresolved: 0 }

let url: string
let other: Client
let reader: StoreReader
const opened: { close(): Promise<void> }[] = []

beforeEach(async () => {
  url = await createTestDatabase()
  other = await connect(url, 'check')
  await other.query(`SET search_path = ${chainSchema(testIdentity.chainId)}`)
  reader = await openOwnPostgresReader([url], testIdentity.chainId)
  opened.push(reader)
})
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
  await other.end()
})

const openWriter = async (): Promise<StoreWriter> => {
  const writer = await openPostgresWriter(url, testIdentity, { lockWaitMs: 10_000 })
  opened.push(writer)
  return writer
}
const recount = (address: Address) => withSnapshot(reader, snapshot => snapshot.recount(address))

test('what a writer counts comes from the store when it takes over, and after each failure', async () => {
  const writer = await openWriter()
  await commitChain(writer, blocks.slice(0, 3))
  await other.query(`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the disk is full, says the test'; END $$;
    CREATE TRIGGER fail BEFORE UPDATE ON tally FOR EACH ROW EXECUTE FUNCTION fail()`)
  await expect(commitChain(writer, blocks.slice(3))).rejects.toThrow('the disk is full')
  await expect(writer.rollbackTo(blocks[0]!.ref)).rejects.toThrow('the disk is full')
  await expect(writer.rollbackAll()).rejects.toThrow('the disk is full')
  await other.query('DROP TRIGGER fail ON tally')
  await commitChain(writer, blocks.slice(3))
  expect(await recount(alice)).toEqual(nothingLost)
  await writer.close()
  const next = await openWriter()
  await next.rollbackTo(blocks[4]!.ref)
  expect(await recount(alice)).toEqual(nothingLost)
  await commitChain(next, blocks.slice(5))
  expect(await recount(alice)).toEqual(nothingLost)
  expect(await readCoverage(reader)).toEqual({
    countedFrom: 0
  })
})

test('a page of row checksums that is changed again and again takes no more room', async () => {
  const writer = await openWriter()
  /** One for each of the 4,096 parts and so on every page. */
  const everyone = Array.from({ length: 4_096 }, (_, part): Address => {
    return `0x${part.toString(16).padStart(3, '0')}${'0'.repeat(37)}`
  })
  const size = async () => {
    const { rows } = await other.query(
      "SELECT pg_relation_size('tally')::int AS heap, pg_total_relation_size('tally')::int AS whole"
    )
    return rows[0] as { readonly heap: number; readonly whole: number }
  }
  const busy = buildChain(Array.from({ length: 30 }, (_, i) => [{ name: `busy ${i}`, parties: everyone }]))
  await commitChain(writer, busy.slice(0, 1))
  const before = await size()
  for (const block of busy.slice(1)) await commitChain(writer, [block])
  expect(await recount(everyone[77]!)).toEqual(nothingLost)
  const after = await size()
  expect(after.heap).toBe(before.heap)
  // The map of free space comes by itself.
  expect(after.whole).toBeLessThan(before.whole + 64 * 1024)
})
