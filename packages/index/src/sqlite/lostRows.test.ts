import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { availableSqliteDrivers } from '../../test/availableSqliteDrivers.ts'
import { buildChain, hashOf, people } from '../../test/buildChain.ts'
import { commitChain } from '../../test/commitChain.ts'
import { expectedHistory } from '../../test/expectedHistory.ts'
import { loseSqliteRow, type SqliteRow } from '../../test/loseSqliteRow.ts'
import { decodeRecords, readAudit, withSnapshot } from '../../test/readAll.ts'
import { testIdentity } from '../../test/store.contract.ts'
import { StoreError } from '../platform/errors.ts'
import type { StoreReader } from '../port/store.ts'
import { findChecksum } from '../record/rowChecksums.ts'
import type { SqliteDriver } from './driver.ts'
import { loadSqliteDriver } from './loadDriver.ts'
import { chainFiles } from './open.ts'
import { openSqliteReader } from './openReader.ts'
import { openSqliteWriter, type SqliteWriterOptions } from './openWriter.ts'

const { chainId } = testIdentity
const [alice = '0x', bob = '0x', , dave = '0x'] = people
const nothingLost = { isComplete: true, missing: [], unresolved: 0 }

let folder: string
let opened: { close(): Promise<void> }[]

const kept = <T extends { close(): Promise<void> }>(made: T): T => {
  opened.push(made)
  return made
}
const openWriter = async (options: SqliteWriterOptions = {}) =>
  kept(await openSqliteWriter(folder, testIdentity, { lockWaitMs: 0, mergeAfterMs: null, ...options }))
const openReader = async (options: Parameters<typeof openSqliteReader>[2] = {}) =>
  kept(await openSqliteReader(folder, chainId, options))
const lose = (row: SqliteRow, driver?: SqliteDriver) => loseSqliteRow(folder, chainId, row, driver)
const recount = (reader: StoreReader, address = alice) =>
  withSnapshot(reader, snapshot => snapshot.recount(address))

function onFile<T>(work: (connection: ReturnType<ReturnType<typeof loadSqliteDriver>['open']>) => T): T {
  const connection = loadSqliteDriver().open(chainFiles(folder, chainId).database, { busyTimeoutMs: 1000 })
  try {
    return work(connection)
  } finally {
    connection.close()
  }
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'chain-data-sqlite-'))
  opened = []
})
afterEach(async () => {
  for (const each of opened) await each.close()
  rmSync(folder, { recursive: true, force: true })
})

/** One transaction of alice and bob in each block. */
const plans = Array.from({ length: 6 }, (_, i) => [{ name: `tx ${i}`, parties: [alice, bob] }])

test.each(availableSqliteDrivers())(
  'a row of the hash index that is lost is named to exactly the parties, over $name',
  async driver => {
    const blocks = buildChain(plans.map(([plan], i) => [plan!, { name: `too ${i}`, parties: [bob, dave] }]))
    const writer = await openWriter({ driver, epochTransactions: 3 })
    await commitChain(writer, blocks)
    const reader = await openReader({ driver })
    const missing = async (address: typeof alice) =>
      (await readAudit(reader, address)).flatMap(chunk => chunk.missing)
    for (const { transaction } of blocks.flatMap(block => block.transactions)) {
      const { hash, blockNumber, index } = transaction
      const putBack = lose({ table: 'tx_hash', hash, position: { blockNumber, index } }, driver)
      const expected = [{ position: { blockNumber, index }, part: 'hash' }]
      expect(await missing(alice)).toEqual(index === 0 ? expected : [])
      expect(await missing(bob)).toEqual(expected)
      expect(await missing(dave)).toEqual(index === 1 ? expected : [])
      expect((await readAudit(reader, bob)).flatMap(decodeRecords)).toStrictEqual(
        expectedHistory(blocks, bob)
      )
      putBack()
    }
    expect(await missing(bob)).toEqual([])
  }
)

test('without the record nothing is said of the hash; what else is gone is named', async () => {
  await commitChain(await openWriter(), buildChain(plans))
  const position = { blockNumber: 2, index: 0 }
  lose({ table: 'tx_hash', hash: hashOf('tx 2'), position })
  lose({ table: 'tx', position })
  lose({ table: 'block', number: 2 })
  const chunks = await readAudit(await openReader(), alice)
  expect(chunks.flatMap(({ missing }) => missing)).toEqual([
    { position, part: 'record' },
    { position, part: 'block' }
  ])
})

test('a page of row checksums that is lost shows as rows that nobody has written; a torn one is an error', async () => {
  const writer = await openWriter()
  await commitChain(writer, buildChain(plans))
  await writer.close()
  const reader = await openReader()
  const { page } = findChecksum(alice)
  onFile(file => file.exec(`UPDATE epoch_sum SET rec = substr(rec, 1, 100) WHERE id = ${page - 256}`))
  await expect(recount(reader)).rejects.toThrow(StoreError)
  const again = await openWriter()
  await expect(commitChain(again, buildChain([[]], { parent: buildChain(plans)[5]!.ref }))).rejects.toThrow(
    /row checksums/
  )
  onFile(file => file.exec(`DELETE FROM epoch_sum WHERE id = ${page - 256}`))
  expect(await recount(reader)).toEqual({ isComplete: true, missing: [], unresolved: 12 })
})

test('merged epochs, and those that are being merged, are counted once', async () => {
  const writer = await openWriter({
    epochTransactions: 1,
    mergeFanOut: 2,
    mergeRows: 1,
    maxEpochs: 0,
    minUndoBlocks: 0
  })
  const many = Array.from({ length: 30 }, (_, i) => [{ name: `tx ${i}`, parties: [alice, bob] }])
  const reader = await openReader()
  for (const block of buildChain(many)) {
    await commitChain(writer, [block], { finalized: block.ref.number })
    expect(await recount(reader)).toEqual(nothingLost)
  }
  expect(onFile(file => file.prepare('SELECT 1 FROM epoch WHERE id > 0').all([])).length).toBeGreaterThan(0)
  expect(
    onFile(file =>
      file.prepare('SELECT epoch FROM merge_source UNION ALL SELECT id FROM dropped_epoch').all([])
    )
  ).not.toEqual([])
})
