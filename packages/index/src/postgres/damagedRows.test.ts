import { afterEach, beforeEach, expect, test } from 'vitest'
import { buildChain, hashOf, people, poolTransaction } from '../../test/buildChain.ts'
import { commitChain } from '../../test/commitChain.ts'
import { readChanges } from '../../test/foldChanges.ts'
import { openOwnPostgresReader } from '../../test/openOwnPostgresReader.ts'
import { withSnapshot } from '../../test/readAll.ts'
import { testIdentity } from '../../test/store.contract.ts'
import { createTestDatabase, queryOnce } from '../../test/support/startPostgres.ts'
import { IndexDamagedError } from '../platform/errors.ts'
import type { Snapshot, StoreReader } from '../port/store.ts'
import type { StoreWriter } from '../port/writer.ts'
import { openPostgresWriter } from './openWriter.ts'
import { chainSchema } from './schema.ts'

const { chainId } = testIdentity
const [alice = '0x', bob = '0x'] = people
const blocks = buildChain(Array.from({ length: 6 }, (_, i) => [{ name: `tx ${i}`, parties: [alice, bob] }]))
const next = buildChain([[]], { parent: blocks[5]!.ref })
const removed = buildChain([[{ name: 'gone', parties: [alice] }]], { parent: blocks[5]!.ref, fork: 'b' })

let url: string
let writer: StoreWriter
const opened: { close(): Promise<void> }[] = []

beforeEach(async () => {
  url = await createTestDatabase()
  writer = await openWriter()
  await commitChain(writer, blocks)
  await commitChain(writer, removed)
  await writer.rollbackTo(blocks[5]!.ref)
  await writer.updatePool({ present: [poolTransaction('waits', [alice])], seenAtSeconds: 5, headAfter: 5 })
  await writer.report({ phase: 'following', head: 5, poolCovered: true })
})
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
})

async function openWriter(): Promise<StoreWriter> {
  const made = await openPostgresWriter(url, testIdentity, { lockWaitMs: 10_000 })
  opened.push(made)
  return made
}

const byHand = (sql: string) => queryOnce(url, `SET search_path = ${chainSchema(chainId)}; ${sql}`)
const startAgain = async (): Promise<StoreWriter> => {
  await writer.close()
  return openWriter()
}
const present = (status: 0 | 1) => ({
  present: [{ ...poolTransaction('waits', [alice]), status }],
  ...{ seenAtSeconds: 6, headAfter: 5 }
})

async function read<T>(ask: (snapshot: Awaited<ReturnType<StoreReader['openSnapshot']>>) => Promise<T>) {
  const reader = await openOwnPostgresReader([url], chainId)
  opened.push(reader)
  return withSnapshot(reader, ask)
}

const readAllChanges = async (snapshot: Snapshot) =>
  readChanges(snapshot, (await snapshot.changeBounds()).oldest)

test.each([
  [
    'block',
    'UPDATE block SET timestamp_seconds = 7 WHERE number = 3',
    () => read(each => each.storedBlock(3))
  ],
  ['block', 'DELETE FROM block WHERE number = 3', () => read(each => each.storedBlock(3))],
  ['block', 'DELETE FROM block WHERE number = 5', () => read(each => each.indexedRange())],
  ['meta', 'UPDATE meta SET finalized = 5', () => read(each => each.marks())],
  ['undo', 'UPDATE reorged SET ancestor_number = 2', () => read(each => each.lookUpHash(hashOf('gone')))],
  ['poolEntry', 'UPDATE pool SET first_seen_seconds = 1', () => read(each => each.pending(alice))],
  ['poolEntry', 'DELETE FROM pool', () => read(each => each.pending(alice))],
  ['report', "UPDATE writer_report SET phase = 'stalled'", () => read(each => each.writerReport())],
  ['change', 'UPDATE change_log SET rec = rec || rec WHERE kind = 1', () => read(readAllChanges)],
  ['change', 'DELETE FROM change_log WHERE kind = 2', () => read(readAllChanges)],
  ['change', 'DELETE FROM change_log WHERE kind = 3', () => read(readAllChanges)]
])('a reader meets a row of %s that is changed by hand: %s', async (part, sql, ask) => {
  await ask()
  await byHand(sql)
  const error = await ask().catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(IndexDamagedError)
  expect(error).toMatchObject({ damage: { part } })
})

test.each([
  ['block', 'UPDATE block SET hash = parent_hash WHERE number = 3', () => writer.blockRef(3)],
  ['block', 'DELETE FROM block WHERE number = 5', async () => (await startAgain()).state()],
  ['meta', 'UPDATE meta SET indexed_from = 1', () => writer.state()],
  ['meta', 'UPDATE meta SET transactions = 1', () => commitChain(writer, next)],
  [
    'undo',
    'UPDATE reorged SET ancestor_number = 5, ancestor_hash = hash',
    () => writer.rollbackTo(blocks[2]!.ref)
  ],
  [
    'poolEntry',
    'UPDATE pool SET status = 1 - status',
    async () => (await startAgain()).updatePool(present(1))
  ]
])('the writer meets a row of %s that is changed by hand, and stores nothing: %s', async (part, sql, act) => {
  await byHand(sql)
  const error = await act().catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(IndexDamagedError)
  expect(error).toMatchObject({ damage: { part } })
})
