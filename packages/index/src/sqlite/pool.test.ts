import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  buildChain,
  hashOf,
  type PresentTransaction,
  people,
  poolTransaction
} from '../../test/buildChain.ts'
import { commitChain } from '../../test/commitChain.ts'
import { failingDriver } from '../../test/failingDriver.ts'
import { readPending } from '../../test/readAll.ts'
import { testIdentity } from '../../test/store.contract.ts'
import { withRows } from '../record/deriveRows.ts'
import { encodeBlock } from '../record/encodeBlock.ts'
import { packBlocks } from '../record/packBlocks.ts'
import { Pool, type PoolWrite } from '../store/Pool.ts'
import { createPoolRows, writePool } from '../store/poolTables.ts'
import type { SqliteConnection, SqliteStatement } from './driver.ts'
import { indexTables } from './indexTables.ts'
import { loadSqliteDriver } from './loadDriver.ts'
import { openSqliteReader } from './openReader.ts'
import { openSqliteWriter } from './openWriter.ts'
import { createWritableStore } from './transaction.ts'

const [alice = '0x', bob = '0x'] = people

let folder: string
let connection: SqliteConnection
/** Statements that may have changed a row. */
let written: string[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'chain-data-pool-'))
  const real = loadSqliteDriver().open(join(folder, 'pool.sqlite'), { busyTimeoutMs: 1000 })
  real.exec(indexTables)
  written = []
  connection = {
    ...{ exec: sql => real.exec(sql), close: () => real.close() },
    prepare: <Row extends object>(sql: string): SqliteStatement<Row> => {
      const statement = real.prepare<Row>(sql)
      return {
        run: parameters => {
          written.push(sql)
          return statement.run(parameters)
        },
        get: parameters => statement.get(parameters),
        all: parameters => statement.all(parameters)
      }
    }
  }
})
afterEach(() => {
  connection.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The pool over the test's connection, and one look at it as the writer takes it. */
function openPool(maxFirstSeen = 100_000) {
  const store = createWritableStore(connection)
  const rows = createPoolRows(store.reads, 1, async () => new Set())
  const pool = new Pool(rows, { keepFirstSeenBlocks: 256, maxFirstSeen })
  const write = (changes: PoolWrite) => store.write(transaction => writePool(transaction, 1, changes))
  return {
    pool,
    write,
    async look(present: readonly PresentTransaction[], seenAtSeconds = 1, head = 0): Promise<void> {
      const changes = await pool.update({ present, seenAtSeconds, headAfter: head }, head)
      if (changes !== undefined) await write(changes)
    }
  }
}

const crowd = (size: number): PresentTransaction[] =>
  Array.from({ length: size }, (_, i) => poolTransaction(`p${i}`, [alice, bob], { nonce: BigInt(i) }))

const firstSeen = () =>
  connection.prepare<{ n: number }>('SELECT count(*) AS n FROM first_seen').get([])?.n ?? 0

test('a look writes what has changed and nothing else, however large the pool', async () => {
  const { look } = openPool()
  const entries = crowd(3_000)
  await look(entries)
  written.length = 0
  await look(entries)
  expect(written).toEqual([])
  const queued = entries.slice(0, 10).map(entry => ({ ...entry, status: 0 as const }))
  await look([...queued, ...entries.slice(20), ...crowd(3_005).slice(3_000)])
  const counts = (table: RegExp) => written.filter(sql => table.test(sql)).length
  expect(counts(/^UPDATE pool /)).toBe(10)
  expect(counts(/^DELETE FROM pool /)).toBe(1)
  expect(counts(/^INSERT INTO pool /)).toBe(5)
  // Besides these: two addresses of each that came, lists of those that went, counts, and first-seen seconds.
  expect(written.length).toBeLessThan(16 + 2 * 5 + 10 + 20)
})

test('a block that ends nothing writes nothing to the pool, however large it is', async () => {
  const { pool, write, look } = openPool()
  await look(crowd(3_000))
  written.length = 0
  const [block] = buildChain([[{ name: 'stranger', parties: [bob] }]], { firstNumber: 1 })
  if (block === undefined) throw new Error('no block')
  const settled = await pool.settle(withRows(packBlocks([encodeBlock(block)])))
  await write(settled)
  expect(written.filter(sql => !/first_seen WHERE left_at/.test(sql))).toEqual([])
})

test('first-seen seconds of those that left long ago make room, even while no block comes', async () => {
  const { look } = openPool(200)
  const old = poolTransaction('old', [bob])
  await look([old], 50, 7)
  await look([], 51, 7)
  for (const round of [1, 2, 3]) {
    await look(
      crowd(150).map(entry => ({ ...entry, hash: hashOf(`${round} ${entry.nonce}`) })),
      round,
      7 + round
    )
  }
  expect(firstSeen()).toBeLessThanOrEqual(202)
  await look([old], 99, 11)
  const seconds = connection
    .prepare<{ seconds: number }>('SELECT max(first_seen_seconds) AS seconds FROM pool')
    .get([])
  expect(seconds).toEqual({ seconds: 99 })
})

test('a commit that fails leaves the pool as it was; the next one ends what it should', async () => {
  const failing = failingDriver(loadSqliteDriver())
  const writer = await openSqliteWriter(folder, testIdentity, { driver: failing.driver })
  const reader = await openSqliteReader(folder, testIdentity.chainId)
  const chain = buildChain([[], [{ name: 'mined', parties: [alice] }]])
  const replaced = poolTransaction('replaced', [alice], { nonce: 0n })
  await commitChain(writer, chain.slice(0, 1))
  await writer.updatePool({ present: [replaced], seenAtSeconds: 1, headAfter: 0 })
  let failures = 0
  for (let n = 1; ; n++) {
    failing.failAt(n)
    const done = await commitChain(writer, chain.slice(1)).then(
      () => true,
      () => false
    )
    if (done) break
    failures++
    expect((await readPending(reader, alice)).map(({ hash }) => hash)).toEqual([replaced.hash])
  }
  expect(failures).toBeGreaterThan(5)
  expect(await readPending(reader, alice)).toEqual([])
  await reader.close()
  await writer.close()
})
