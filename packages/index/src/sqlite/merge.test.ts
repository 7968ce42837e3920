import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { arbitraryPlans } from '../../test/arbitraries.ts'
import { availableSqliteDrivers } from '../../test/availableSqliteDrivers.ts'
import { buildChain, hashOf, people } from '../../test/buildChain.ts'
import { commitChain } from '../../test/commitChain.ts'
import { dumpStore } from '../../test/dumpStore.ts'
import { expectedHistory } from '../../test/expectedHistory.ts'
import { failingDriver } from '../../test/failingDriver.ts'
import { gather, readHistory, readPages, withSnapshot } from '../../test/readAll.ts'
import { testIdentity } from '../../test/store.contract.ts'
import type { HoldingCandidate, IndexedBlock } from '../model/evm.ts'
import type { Snapshot, StoreReader } from '../port/store.ts'
import type { StoreWriter } from '../port/writer.ts'
import { encodeBlock } from '../record/encodeBlock.ts'
import { packBlocks } from '../record/packBlocks.ts'
import type { SqliteConnection, SqliteDriver } from './driver.ts'
import { loadSqliteDriver } from './loadDriver.ts'
import { EpochMerger } from './merge.ts'
import { chainFiles, openForWriting } from './open.ts'
import { openSqliteReader } from './openReader.ts'
import { openSqliteWriter } from './openWriter.ts'
import { defaultLayout, type Layout } from './writer.ts'

const seed = Number(process.env.CHAIN_DATA_SEED ?? 1)

/** So small that a handful of blocks reaches every case. */
const arbitraryLayout: fc.Arbitrary<Layout> = fc.record({
  epochTransactions: fc.integer({ min: 1, max: 8 }),
  mergeFanOut: fc.integer({ min: 2, max: 3 }),
  mergeRows: fc.integer({ min: 1, max: 5 }),
  maxEpochs: fc.constantFrom(0, 3, 1_000),
  mergeAfterMs: fc.constant(null),
  minUndoBlocks: fc.integer({ min: 0, max: 3 }),
  maxUndoBlocks: fc.constantFrom(3, 5, 100),
  changeLogBlocks: fc.constantFrom(1, 10_000),
  changeLogBytes: fc.constant(2 ** 20)
})

const arbitraryGrowth = fc.record({
  kind: fc.constant('grow' as const),
  plans: arbitraryPlans,
  lag: fc.nat({ max: 6 })
})
const arbitraryReorgIntoMerge = fc.record({
  kind: fc.constant('reorgIntoMerge' as const),
  pieces: fc.nat({ max: 12 }),
  after: fc.nat({ max: 2 })
})
const arbitraryAction = fc.oneof(
  { weight: 3, arbitrary: arbitraryGrowth },
  { weight: 4, arbitrary: arbitraryReorgIntoMerge },
  fc.record({ kind: fc.constant('merge' as const), pieces: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ kind: fc.constant('merge' as const), pieces: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ kind: fc.constant('crash' as const), statement: fc.integer({ min: 1, max: 8 }) }),
  fc.record({ kind: fc.constant('reorg' as const), depth: fc.nat({ max: 25 }) }),
  fc.record({ kind: fc.constant('look' as const) }),
  fc.record({ kind: fc.constant('removeAll' as const) })
)

const text = ({ contract, standard, tokenId, lastTokenId }: HoldingCandidate) =>
  `${contract} ${standard} ${tokenId ?? '-'} ${lastTokenId ?? '-'}`

/** What a view must show: the blocks at that time, and the candidates of all blocks there ever were. */
interface Expected {
  readonly chain: readonly IndexedBlock[]
  readonly ever: readonly IndexedBlock[]
}

async function checkView(snapshot: Snapshot, { chain, ever }: Expected): Promise<void> {
  for (const address of people) {
    const expected = expectedHistory(chain, address)
    expect(await readHistory(snapshot, address)).toStrictEqual(expected)
    expect(await readPages(snapshot, address, 3)).toStrictEqual(expected)
    expect(await snapshot.countHistory(address, 1_000)).toBe(expected.length)
    const candidates = ever
      .flatMap(({ transactions }) => transactions.flatMap(indexed => indexed.candidates))
      .filter(({ owner }) => owner === address)
    const found = (await gather(snapshot.holdingCandidates(address))).map(text)
    expect(found).toHaveLength(new Set(found).size)
    expect(new Set(found)).toEqual(new Set(candidates.map(text)))
  }
  for (const { transactions } of chain) {
    for (const { transaction } of transactions) {
      const { blockNumber, index } = transaction
      const position = { blockNumber, index }
      expect(await snapshot.lookUpHash(transaction.hash)).toEqual({ kind: 'confirmed', position })
    }
  }
}

test.each(availableSqliteDrivers())(
  `whatever commits, merges, rollbacks and crashes follow each other, every view shows its blocks, over $name (CHAIN_DATA_SEED=${seed})`,
  async driver => {
    let merged = 0
    await fc.assert(
      fc.asyncProperty(
        arbitraryLayout,
        fc
          .tuple(arbitraryGrowth, fc.array(arbitraryAction, { minLength: 3, maxLength: 12 }))
          .map(([first, rest]) => [first, ...rest]),
        async (layout, actions) => {
          const folder = mkdtempSync(join(tmpdir(), 'chain-data-merge-'))
          const path = chainFiles(folder, testIdentity.chainId).database
          const open = () => openSqliteWriter(folder, testIdentity, { driver, lockWaitMs: 0, ...layout })
          let writer: StoreWriter = await open()
          const reader: StoreReader = await openSqliteReader(folder, testIdentity.chainId, { driver })
          const views: { readonly snapshot: Snapshot; readonly expected: Expected }[] = []
          let chain: readonly IndexedBlock[] = []
          let ever: readonly IndexedBlock[] = []
          try {
            for (const [i, action] of actions.entries()) {
              if (action.kind === 'grow') {
                const parent = chain.at(-1)?.ref
                const plans = action.plans.map(block =>
                  block.map(plan => ({ ...plan, name: `${plan.name} of ${i}` }))
                )
                const grown = buildChain(plans, { fork: `${i}`, ...(parent !== undefined && { parent }) })
                const head = grown.at(-1)?.ref.number ?? 0
                await commitChain(writer, grown, { finalized: head - action.lag })
                chain = [...chain, ...grown]
                ever = [...ever, ...grown]
              } else if (action.kind === 'merge') {
                merged += mergePieces(openForWriting(driver, path), layout, action.pieces)
              } else if (action.kind === 'crash') {
                await writer.close()
                crashInMerge(driver, path, layout, action.statement)
                writer = await open()
              } else if (action.kind === 'reorg' && chain.length > 0) {
                chain = chain.slice(0, Math.max(1, chain.length - action.depth))
                const ancestor = chain.at(-1)
                if (ancestor !== undefined) await writer.rollbackTo(ancestor.ref)
              } else if (action.kind === 'reorgIntoMerge') {
                const last = beginMerge(openForWriting(driver, path), layout, action.pieces)
                const ancestor = chain.find(({ ref }) => ref.number === (last ?? -9) + action.after)
                if (ancestor !== undefined) {
                  chain = chain.slice(0, chain.indexOf(ancestor) + 1)
                  await writer.rollbackTo(ancestor.ref)
                }
              } else if (action.kind === 'removeAll') {
                chain = []
                await writer.rollbackAll()
              } else if (action.kind === 'look') {
                views.push({ snapshot: await reader.openSnapshot(), expected: { chain, ever } })
              }
              await withSnapshot(reader, snapshot => checkView(snapshot, { chain, ever }))
            }
            for (const { snapshot, expected } of views) {
              await checkView(snapshot, expected)
              await snapshot.close()
            }
            const dump = () => dumpStore(folder, testIdentity.chainId, { driver, omit: ['epoch', 'holding'] })
            const before = dump().text
            merged += mergePieces(openForWriting(driver, path), layout, 10_000)
            await withSnapshot(reader, snapshot => checkView(snapshot, { chain, ever }))
            expect(dump().text).toBe(before)
            expectNothingLeft(openForWriting(driver, path))
          } finally {
            await reader.close()
            await writer.close()
            rmSync(folder, { recursive: true, force: true })
          }
        }
      ),
      { numRuns: 25, seed }
    )
    expect(merged).toBeGreaterThan(0)
  }
)

/** @returns how many pieces there were. */
function mergePieces(connection: SqliteConnection, layout: Layout, most: number): number {
  const merger = new EpochMerger(connection, testIdentity.chainId, layout)
  let pieces = 0
  while (pieces < most && merger.step()) pieces++
  connection.close()
  return pieces
}

/** @returns where the newest source of the merge under way begins, after so many pieces of it; nothing without a merge. */
function beginMerge(connection: SqliteConnection, layout: Layout, pieces: number): number | undefined {
  const merger = new EpochMerger(connection, testIdentity.chainId, layout)
  const select = connection.prepare<{ block: number | null }>(
    'SELECT max(first_block) AS block FROM epoch WHERE id IN (SELECT epoch FROM merge_source)'
  )
  const lastSource = () => select.get([])?.block ?? undefined
  while (lastSource() === undefined && merger.step()) {}
  for (let left = pieces; left > 0 && lastSource() !== undefined; left--) merger.step()
  const last = lastSource()
  connection.close()
  return last
}

/** As when the process dies: what the piece under way has written is gone. */
function crashInMerge(real: SqliteDriver, path: string, layout: Layout, statement: number): void {
  const { driver, failAt, hasFailed } = failingDriver(real)
  const connection = openForWriting(driver, path)
  const merger = new EpochMerger(connection, testIdentity.chainId, layout)
  failAt(statement)
  try {
    while (!hasFailed() && merger.step()) {}
  } catch {
    expect(hasFailed()).toBe(true)
  }
  connection.close()
}

/** When there is nothing more to merge, no row is left that no epoch shows. */
function expectNothingLeft(connection: SqliteConnection): void {
  const rows = (sql: string) => connection.prepare(sql).all([])
  for (const table of ['address_tx', 'tx_hash']) {
    expect(rows(`SELECT 1 FROM ${table} WHERE epoch NOT IN (SELECT id FROM epoch)`)).toEqual([])
  }
  expect(rows('SELECT 1 FROM holding WHERE epoch NOT IN (SELECT id FROM holding_epoch)')).toEqual([])
  const empty = 'id NOT IN (SELECT epoch FROM holding) AND id NOT IN (SELECT id FROM epoch)'
  expect(rows(`SELECT id FROM holding_epoch WHERE ${empty}`)).toEqual([])
  expect(rows('SELECT 1 FROM merge_source UNION ALL SELECT 1 FROM dropped_epoch')).toEqual([])
  connection.close()
}

test('epochs that were merged are few, and their pages are used again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'chain-data-merge-'))
  const layout = {
    ...defaultLayout,
    epochTransactions: 20,
    mergeFanOut: 4,
    minUndoBlocks: 2,
    mergeAfterMs: null
  }
  const writer = await openSqliteWriter(folder, testIdentity, layout)
  const connection = openForWriting(loadSqliteDriver(), chainFiles(folder, testIdentity.chainId).database)
  const merger = new EpochMerger(connection, testIdentity.chainId, layout)
  const figure = (sql: string) => Number(Object.values(connection.prepare(sql).get([]) ?? {})[0])
  const most: number[] = []
  try {
    let parent: IndexedBlock['ref'] | undefined
    for (let round = 0; round < 64; round++) {
      const plans = Array.from({ length: 10 }, (_, block) =>
        Array.from({ length: 8 }, (_, i) => ({
          name: `${round} ${block} ${i}`,
          parties: [
            ...new Set([
              people[(round + i) % people.length] ?? '0x',
              `0x${hashOf(`${round}/${i}`).slice(2, 42)}` as const
            ])
          ]
        }))
      )
      const blocks = buildChain(plans, parent === undefined ? {} : { parent })
      parent = blocks.at(-1)?.ref
      await commitChain(writer, blocks, { finalized: parent?.number ?? 0 })
      while (merger.step()) {}
      most.push(merger.countEpochs())
    }
    // 64 times 80 transactions, at three levels of less than 4 epochs, and the newest ones that are still kept apart.
    expect(Math.max(...most)).toBeLessThanOrEqual(3 * 4 + 2)
    const pages = figure('PRAGMA page_count')
    expect(figure('PRAGMA freelist_count') / pages).toBeLessThan(0.5)
    expect(figure('SELECT sum(tx_count) FROM epoch')).toBe(64 * 80)
  } finally {
    connection.close()
    await writer.close()
    rmSync(folder, { recursive: true, force: true })
  }
})

/** Two transactions make an epoch, and two epochs a merged one. */
const tinyEpochs = {
  ...defaultLayout,
  epochTransactions: 2,
  mergeFanOut: 2,
  minUndoBlocks: 0,
  mergeAfterMs: null
}

test('a new epoch takes no rows of a merged one whose removal is under way', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'chain-data-merge-'))
  const plan = (name: string) => [1, 2].map(i => ({ name: `${name} ${i}`, parties: people.slice(0, 2) }))
  const writer = await openSqliteWriter(folder, testIdentity, tinyEpochs)
  const reader = await openSqliteReader(folder, testIdentity.chainId)
  const connection = openForWriting(loadSqliteDriver(), chainFiles(folder, testIdentity.chainId).database)
  const merger = new EpochMerger(connection, testIdentity.chainId, tinyEpochs)
  const dropped = connection.prepare('SELECT 1 FROM dropped_epoch LIMIT 1')
  const blocks = buildChain(['a', 'b', 'c', 'd'].map(plan))
  try {
    await commitChain(writer, blocks, { finalized: 3 })
    while (dropped.get([]) === undefined) expect(merger.step()).toBe(true)
    const kept = blocks.slice(0, 2)
    await writer.rollbackTo(kept[1]!.ref)
    const grown = buildChain([plan('e'), plan('f')], { parent: kept[1]!.ref, fork: 'other' })
    await commitChain(writer, grown, { finalized: 1 })
    while (merger.step()) {}
    const chain = [...kept, ...grown]
    await withSnapshot(reader, snapshot => checkView(snapshot, { chain, ever: [] }))
  } finally {
    connection.close()
    await reader.close()
    await writer.close()
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a reader takes no rows of a merged epoch for those of a later one with its id and as many transactions', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'chain-data-merge-'))
  const plans = Array.from({ length: 10 }, (_, block) => [{ name: `${block}`, parties: people.slice(0, 2) }])
  const chain = buildChain(plans)
  const writer = await openSqliteWriter(folder, testIdentity, tinyEpochs)
  const reader = await openSqliteReader(folder, testIdentity.chainId)
  const path = chainFiles(folder, testIdentity.chainId).database
  const expectChain = (from: number) =>
    withSnapshot(reader, snapshot => checkView(snapshot, { chain: chain.slice(from), ever: [] }))
  const prepend = (from: number) =>
    writer.prependBlocks(packBlocks(chain.slice(from, from + 2).map(encodeBlock)))
  try {
    await commitChain(writer, chain.slice(8), { finalized: 9 })
    for (const from of [6, 4]) {
      await prepend(from)
      await expectChain(from)
    }
    expect(mergePieces(openForWriting(loadSqliteDriver(), path), tinyEpochs, 10_000)).toBeGreaterThan(0)
    for (const from of [2, 0]) {
      await prepend(from)
      await expectChain(from)
    }
  } finally {
    await reader.close()
    await writer.close()
    rmSync(folder, { recursive: true, force: true })
  }
})

test('an epoch is merged alone once the backfill is complete, not in a pause within it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'chain-data-merge-'))
  const layout = { ...defaultLayout, epochTransactions: 1, minUndoBlocks: 0, mergeAfterMs: null }
  const writer = await openSqliteWriter(folder, testIdentity, layout)
  const connection = openForWriting(loadSqliteDriver(), chainFiles(folder, testIdentity.chainId).database)
  try {
    const plans = ['a', 'b', 'c'].map(name => [{ name, parties: people.slice(0, 2) }])
    await commitChain(writer, buildChain(plans), { finalized: 2 })
    const merger = new EpochMerger(connection, testIdentity.chainId, layout)
    expect(merger.step()).toBe(false)
    await writer.markBackfilled()
    expect(merger.step()).toBe(true)
    while (merger.step()) {}
    expect(merger.countEpochs()).toBe(3)
  } finally {
    connection.close()
    await writer.close()
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a writer merges in a pause, and a failure there is told by the next commit', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'chain-data-merge-'))
  const { driver, failAt, hasFailed } = failingDriver(loadSqliteDriver())
  const layout = { epochTransactions: 2, mergeFanOut: 2, minUndoBlocks: 0, mergeAfterMs: 5 }
  const writer = await openSqliteWriter(folder, testIdentity, { driver, ...layout })
  const look = loadSqliteDriver().open(chainFiles(folder, testIdentity.chainId).database, {
    busyTimeoutMs: 1_000
  })
  const epochs = () => look.prepare<{ n: number }>('SELECT count(*) AS n FROM epoch').get([])?.n ?? 0
  const blocks = buildChain(
    Array.from({ length: 9 }, (_, i) => [
      { name: `a ${i}`, parties: people.slice(0, 2) },
      { name: `b ${i}`, parties: people.slice(1, 3) }
    ])
  )
  try {
    await commitChain(writer, blocks.slice(0, 8), { finalized: 7 })
    expect(epochs()).toBe(8)
    await vi.waitUntil(() => epochs() <= 4, { timeout: patient(20_000) })
    await writer.rollbackTo(blocks[0]!.ref)
    await commitChain(writer, blocks.slice(1, 8), { finalized: 7 })
    failAt(1)
    await vi.waitUntil(hasFailed, { timeout: patient(20_000) })
    await expect(commitChain(writer, blocks.slice(8))).rejects.toThrow('the disk is full')
    await commitChain(writer, blocks.slice(8))
    expect((await writer.state()).head).toEqual(blocks[8]?.ref)
  } finally {
    look.close()
    await writer.close()
    rmSync(folder, { recursive: true, force: true })
  }
})
