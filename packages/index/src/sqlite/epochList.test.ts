import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildChain, hashOf, people } from '../../test/buildChain.ts'
import { commitChain } from '../../test/commitChain.ts'
import { readHistory, withSnapshot } from '../../test/readAll.ts'
import { temporaryFolder } from '../../test/support/temporaryFolder.ts'
import type { StoreWriter } from '../port/writer.ts'
import { loadSqliteDriver } from './loadDriver.ts'
import { chainFiles } from './open.ts'
import { openSqliteReader } from './openReader.ts'
import { openSqliteWriter } from './openWriter.ts'

const identity = { chainId: 31_337, genesisHash: hashOf('genesis') }
const damage = { part: 'epochs' } as const
const blocks = buildChain(
  Array.from({ length: 12 }, (_, number) => [
    {
      name: `tx ${number}`,
      parties: people.slice(0, 3),
      candidates: [{ owner: people[0]!, contract: people[4]!, standard: 'erc20' as const }]
    }
  ])
)
const next = buildChain([[{ name: 'next', parties: people.slice(0, 1) }]], { parent: blocks[11]!.ref })

let folder: string
let writer: StoreWriter
let remove: () => Promise<void>

beforeAll(async () => {
  const made = await temporaryFolder()
  folder = made.path
  remove = made.remove
  writer = await openWriter()
  // Epochs of both kinds, and a merge that is not done.
  for (const block of blocks) await commitChain(writer, [block], { finalized: block.ref.number })
})
afterAll(async () => {
  await writer.close()
  await remove()
})

const openWriter = () =>
  openSqliteWriter(folder, identity, {
    ...{ epochTransactions: 2, mergeFanOut: 2, mergeRows: 1, maxEpochs: 0, mergeAfterMs: null },
    ...{ minUndoBlocks: 1, maxUndoBlocks: 2 }
  })

function onFile<Row extends object>(sql: string): readonly Row[] {
  const connection = loadSqliteDriver().open(chainFiles(folder, identity.chainId).database, {
    busyTimeoutMs: 1_000
  })
  try {
    return connection.prepare<Row>(sql).all([])
  } finally {
    connection.close()
  }
}

const tables = ['epoch', 'holding_epoch', 'dropped_epoch', 'merge', 'merge_source', 'epoch_check']
const list = () => tables.map(table => onFile(`SELECT * FROM ${table}`))

async function history() {
  const reader = await openSqliteReader(folder, identity.chainId)
  try {
    return await withSnapshot(reader, snapshot => readHistory(snapshot, people[0]!))
  } finally {
    await reader.close()
  }
}

test.each([
  'UPDATE epoch SET first_block = first_block + 1 WHERE id > 0',
  'UPDATE epoch SET tx_count = tx_count + 1 WHERE id < 0',
  'UPDATE epoch SET proof = 0 WHERE id > 0',
  'UPDATE epoch SET id = id + 64 WHERE id > 0',
  'DELETE FROM epoch WHERE first_block = 0',
  'UPDATE holding_epoch SET proof = 0',
  'DELETE FROM holding_epoch',
  'INSERT INTO dropped_epoch VALUES (999)',
  'INSERT INTO merge_source VALUES (999)',
  'UPDATE epoch_check SET sum = sum + 1'
])('is refused, and put back as it was: %s', async sql => {
  const [whole, before] = [await history(), list()]
  onFile(sql)
  expect(list()).not.toEqual(before)
  await expect(history()).rejects.toMatchObject({ damage })
  await expect(commitChain(writer, next)).rejects.toMatchObject({ damage })
  await writer.acceptRows(damage)
  expect(list()).toEqual(before)
  expect(await history()).toEqual(whole)
})

test('is put back in an index that is opened anew', async () => {
  const before = list()
  onFile('DELETE FROM holding_epoch')
  await writer.close()
  writer = await openWriter()
  await expect(writer.state()).rejects.toMatchObject({ damage })
  await writer.acceptRows(damage)
  expect(list()).toEqual(before)
})

test('a copy that is altered is not needed, and written anew with the next change', async () => {
  onFile("UPDATE epoch_check SET list = ''")
  await commitChain(writer, next)
  onFile('DELETE FROM holding_epoch')
  await writer.acceptRows(damage)
  expect(await history()).toHaveLength(blocks.length + 1)
})

test('is left as it is where the copy is altered too', async () => {
  onFile('DELETE FROM holding_epoch')
  onFile("UPDATE epoch_check SET list = ''")
  const before = list()
  await expect(writer.acceptRows(damage)).rejects.toMatchObject({ damage })
  expect(list()).toEqual(before)
})
