import { afterEach, beforeEach, expect, test } from 'vitest'
import { createTestDatabase } from '../../../test/support/startPostgres.ts'
import { unsealed } from '../../../test/upgrades/oldStores.ts'
import type { Address } from '../../model/evm.ts'
import type { StoreReader } from '../port/store.ts'
import type { StoreWriter } from '../port/writer.ts'
import { buildChain, people } from '../test/buildChain.ts'
import { commitChain } from '../test/commitChain.ts'
import { expectedHistory } from '../test/expectedHistory.ts'
import { openOwnPostgresReader } from '../test/openOwnPostgresReader.ts'
import { readCoverage, readHistory, withSnapshot } from '../test/readAll.ts'
import { testIdentity } from '../test/store.contract.ts'
import type { Client } from './driver.ts'
import { connect } from './driver.ts'
import { openPostgresWriter } from './openWriter.ts'
import { chainSchema, migrations } from './schema.ts'

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
const loseRow = (blockNumber: number) =>
  other.query('DELETE FROM address_tx WHERE tx_id = $1 AND address = $2', [
    blockNumber * 65_536,
    Buffer.from(alice.slice(2), 'hex')
  ])

/** As the version before this one left it. */
async function downgrade(): Promise<void> {
  expect(migrations).toHaveLength(10)
  await other.query(`${unsealed}; DROP FUNCTION require_term; DROP TABLE account_event, tally, change_log, directory, key_part; DELETE FROM migration WHERE version >= 2;
    ALTER TABLE meta DROP COLUMN detailed_from, DROP COLUMN traced_from, DROP COLUMN tallied_from, DROP COLUMN operations_from,
      DROP COLUMN roots_from, DROP COLUMN changes_log, DROP COLUMN changes_from, DROP COLUMN changes_to, DROP COLUMN directory_from, DROP COLUMN directory_end;
    ALTER TABLE writer_report DROP COLUMN head_seconds`)
}

test('an index of the version before is kept, says that it does not know, and knows of what comes after', async () => {
  const old = await openWriter()
  await commitChain(old, blocks.slice(0, 5))
  await old.close()
  await downgrade()
  // Until its writer has brought it to this version, nothing of it is known.
  expect(await withSnapshot(reader, snapshot => snapshot.indexedRange())).toBeUndefined()
  expect(await readCoverage(reader)).toEqual({})
  const writer = await openWriter()
  const history = () => withSnapshot(reader, snapshot => readHistory(snapshot, alice))
  expect(await history()).toStrictEqual(expectedHistory(blocks.slice(0, 5), alice))
  expect(await readCoverage(reader)).toEqual({})
  await loseRow(1)
  expect(await recount(alice)).toEqual(nothingLost)
  await commitChain(writer, blocks.slice(5))
  expect(await readCoverage(reader)).toEqual({
    detailedFrom: 5,
    countedFrom: 5,
    operationsFrom: 5,
    checkedFrom: 5
  })
  expect(await recount(alice)).toEqual(nothingLost)
  await loseRow(6)
  expect(await recount(alice)).toMatchObject({ missing: [{ blockNumber: 6, index: 0 }] })
  // Its undo data name rows that were never counted.
  await writer.rollbackTo(blocks[2]!.ref)
  expect(await readCoverage(reader)).toEqual({})
  await commitChain(writer, blocks.slice(3))
  expect(await readCoverage(reader)).toEqual({
    detailedFrom: 3,
    countedFrom: 3,
    operationsFrom: 3,
    checkedFrom: 3
  })
  for (const address of [alice, bob]) expect(await recount(address)).toEqual(nothingLost)
})

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
    detailedFrom: 0,
    countedFrom: 0,
    operationsFrom: 0,
    checkedFrom: 0
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
