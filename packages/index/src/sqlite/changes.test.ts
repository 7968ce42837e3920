import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { buildChain, people, poolTransaction } from '../../test/buildChain.ts'
import { commitChain } from '../../test/commitChain.ts'
import { readChanges } from '../../test/foldChanges.ts'
import { withSnapshot } from '../../test/readAll.ts'
import { testIdentity } from '../../test/store.contract.ts'
import type { StoreWriter } from '../port/writer.ts'
import { loadSqliteDriver } from './loadDriver.ts'
import { chainFiles } from './open.ts'
import { openSqliteReader } from './openReader.ts'
import { openSqliteWriter } from './openWriter.ts'

const { chainId } = testIdentity
const [alice = '0x', bob = '0x'] = people
const blocks = buildChain(Array.from({ length: 6 }, (_, i) => [{ name: `tx ${i}`, parties: [alice, bob] }]))

let folder: string
let writer: StoreWriter
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'chain-data-changes-'))
  writer = await openSqliteWriter(folder, testIdentity)
  for (const block of blocks) await commitChain(writer, [block])
  await writer.updatePool({ present: [poolTransaction('waits', [alice])], seenAtSeconds: 5, headAfter: 5 })
})
afterEach(async () => {
  await writer.close()
  rmSync(folder, { recursive: true, force: true })
})

function byHand(sql: string): void {
  const connection = loadSqliteDriver().open(chainFiles(folder, chainId).database, { busyTimeoutMs: 1_000 })
  connection.exec(sql)
  connection.close()
}

async function readAll() {
  const reader = await openSqliteReader(folder, chainId)
  try {
    return await withSnapshot(reader, async snapshot => {
      const { oldest, newest } = await snapshot.changeBounds()
      return { oldest, newest, changes: await readChanges(snapshot, oldest) }
    })
  } finally {
    await reader.close()
  }
}

const damages: readonly (readonly [string, string])[] = [
  ['an altered entry', 'UPDATE change_log SET rec = substr(rec, 2) WHERE last_block = 3'],
  ['an altered kind', 'UPDATE change_log SET kind = 9 WHERE last_block = 3'],
  ['a lost entry', 'DELETE FROM change_log WHERE last_block = 3'],
  ['the newest entry lost', 'DELETE FROM change_log WHERE kind = 3']
]

test.each(damages)('%s is met by a replay, and the log begins anew when it is healed', async (_, sql) => {
  expect((await readAll()).changes).toHaveLength(7)
  byHand(sql)
  await expect(readAll()).rejects.toMatchObject({ damage: { part: 'change' } })
  await writer.close()
  writer = await openSqliteWriter(folder, testIdentity)
  await writer.dropChanges()
  const { oldest, newest, changes } = await readAll()
  expect(oldest).toEqual(newest)
  expect(changes).toEqual([])
  await commitChain(writer, buildChain([[{ name: 'next', parties: [alice] }]], { parent: blocks[5]!.ref }))
  expect((await readAll()).changes).toHaveLength(1)
})

test.each<readonly [string, string]>([
  ...damages,
  ['an altered record', 'UPDATE tx SET rec = substr(rec, 1, length(rec) - 1) WHERE id >= 4 * 65536']
])('%s keeps no writer from blocks and reorgs', async (_, sql) => {
  byHand(sql)
  await writer.close()
  writer = await openSqliteWriter(folder, testIdentity)
  await writer.rollbackTo(blocks[1]!.ref)
  const fork = buildChain([[{ name: 'other', parties: [bob] }]], { parent: blocks[1]!.ref, fork: 'b' })
  await commitChain(writer, fork)
  const { newest, changes } = await readAll()
  expect(newest.entry).toBeGreaterThan(0)
  expect(changes.map(({ kind }) => kind)).toEqual(['added'])
})

test('a reorg whose entry is lost is met before anything is told of the blocks that it removed', async () => {
  await writer.rollbackTo(blocks[3]!.ref)
  const fork = buildChain([[{ name: 'other', parties: [bob] }]], { parent: blocks[3]!.ref, fork: 'b' })
  await commitChain(writer, fork)
  byHand('DELETE FROM change_log WHERE kind = 2')
  const reader = await openSqliteReader(folder, chainId)
  const told: string[] = []
  await expect(
    withSnapshot(reader, async snapshot => {
      const { oldest } = await snapshot.changeBounds()
      for await (const { changes } of snapshot.changes(oldest)) told.push(...changes.map(({ hash }) => hash))
    })
  ).rejects.toMatchObject({ damage: { part: 'change' } })
  expect(told).toHaveLength(4)
  await reader.close()
})
