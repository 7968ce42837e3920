import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { availableSqliteDrivers } from '../../test/availableSqliteDrivers.ts'
import { buildChain, people, poolTransaction } from '../../test/buildChain.ts'
import { commitChain } from '../../test/commitChain.ts'
import { dumpStore } from '../../test/dumpStore.ts'
import { failingDriver } from '../../test/failingDriver.ts'
import { readHistory, readPending, withSnapshot } from '../../test/readAll.ts'
import { testIdentity } from '../../test/store.contract.ts'
import type { BlockRef } from '../model/evm.ts'
import { StoreError } from '../platform/errors.ts'
import type { StoreReader } from '../port/store.ts'
import type { StoreWriter } from '../port/writer.ts'
import type { SqliteDriver } from './driver.ts'
import { loadSqliteDriver } from './loadDriver.ts'
import { chainFiles } from './open.ts'
import { openSqliteReader } from './openReader.ts'
import { openSqliteWriter } from './openWriter.ts'

const { chainId } = testIdentity
const [alice, bob] = [people[0]!, people[1]!]

let folder: string
let opened: { close(): Promise<void> }[]

const kept = <T extends StoreReader | StoreWriter>(made: T): T => {
  opened.push(made)
  return made
}
const openWriter = async (options: Parameters<typeof openSqliteWriter>[2] = {}) =>
  kept(await openSqliteWriter(folder, testIdentity, { lockWaitMs: 0, ...options }))
const openReader = async (options: Parameters<typeof openSqliteReader>[2] = {}) =>
  kept(await openSqliteReader(folder, chainId, options))
const rowsIn = (table: string) => {
  const connection = loadSqliteDriver().open(chainFiles(folder, chainId).database, { busyTimeoutMs: 1000 })
  const rows = connection.prepare(`SELECT * FROM ${table}`).all([])
  connection.close()
  return rows
}
/** Runs SQL on the file as some other program would. */
const tamper = (sql: string) => {
  const connection = loadSqliteDriver().open(chainFiles(folder, chainId).database, { busyTimeoutMs: 1000 })
  connection.exec(sql)
  connection.close()
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'chain-data-sqlite-'))
  opened = []
})
afterEach(async () => {
  for (const each of opened) await each.close()
  rmSync(folder, { recursive: true, force: true })
})

const plans = Array.from({ length: 6 }, (_, i) => [
  { name: `tx ${i}`, parties: [alice, bob] },
  { name: `tx ${i} too`, parties: [bob] }
])

describe.each(availableSqliteDrivers())('whichever statement fails, over $name', real => {
  // Two indexes that were made at the same moment count rollbacks from the same number on, and number changes alike.
  beforeAll(() => {
    vi.useFakeTimers({ toFake: ['Date'] })
    vi.spyOn(Math, 'random').mockReturnValue(0)
  })
  afterAll(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })
  // Each pair of blocks has the same candidates, some of them in one run.
  const blocks = buildChain(
    plans.map((block, number) =>
      block.map(plan => ({
        ...plan,
        candidates: [
          { owner: alice, contract: bob, standard: 'erc20' },
          { owner: bob, contract: alice, standard: 'erc721', tokenId: BigInt(number >> 1) }
        ]
      }))
    )
  )
  const everything = () => ({
    dump: dumpStore(folder, chainId, { driver: real }).text,
    pool: rowsOf('pool'),
    addresses: rowsOf('pool_address'),
    firstSeen: rowsOf('first_seen'),
    reorged: rowsOf('reorged'),
    runs: rowsOf('run'),
    chunks: rowsOf('chunk_bound'),
    dropped: rowsOf('dropped_run'),
    log: rowsOf('change_log'),
    // Every log has a name of its own.
    coverage: rowsOf('meta').replace(/"changes_log":"\w+"|"sum":-?\d+/g, '')
  })
  const prepare = async (driver: SqliteDriver) => {
    const writer = await openWriter({ driver })
    await commitChain(writer, blocks.slice(0, 3))
    const entries = ['tx 3', 'tx 4', 'left'].map(name => poolTransaction(name, [alice]))
    await writer.updatePool({ present: entries, seenAtSeconds: 1, headAfter: 2 })
    return writer
  }
  const rowsOf = (table: string) => {
    const connection = real.open(chainFiles(folder, chainId).database, { busyTimeoutMs: 1000 })
    const rows = connection.prepare(`SELECT * FROM ${table} ORDER BY 1`).all([])
    connection.close()
    return JSON.stringify(rows)
  }

  test.each<[string, (writer: StoreWriter) => Promise<void>]>([
    ['a commit that confirms pool entries', writer => commitChain(writer, blocks.slice(3))],
    ['a rollback', writer => writer.rollbackTo(blocks[0]!.ref)],
    ['a rollback of everything', writer => writer.rollbackAll()],
    [
      'a pool update',
      writer =>
        writer.updatePool({
          present: [poolTransaction('tx 4', [alice], { status: 0 }), poolTransaction('new', [bob])],
          seenAtSeconds: 2,
          headAfter: 2
        })
    ]
  ])('%s is stored as a whole or not at all, and can be repeated', async (_, work) => {
    const { driver, failAt, hasFailed } = failingDriver(real)
    const writer = await prepare(driver)
    const before = everything()
    let failures = 0
    for (let n = 1; ; n++) {
      failAt(n)
      try {
        await work(writer)
        if (!hasFailed()) break
      } catch (error) {
        expect(error).toBeInstanceOf(StoreError)
      }
      failures++
      expect(everything(), `after a failure at statement ${n}`).toStrictEqual(before)
    }
    expect(failures).toBeGreaterThan(3)
    const repeated = everything()
    expect(repeated).not.toStrictEqual(before)
    await writer.close()
    rmSync(folder, { recursive: true })
    const undisturbed = await prepare(real)
    await work(undisturbed)
    expect(repeated).toStrictEqual(everything())
  })
})

describe.each(availableSqliteDrivers())('next to a writer elsewhere, over $name', driver => {
  const program = new URL('../../test/holdWriter.ts', import.meta.url)
  const execArgv = ['--conditions=@chain-data/source']
  const programArguments = () => [folder, String(chainId), testIdentity.genesisHash, driver.name]

  /** What both kinds of elsewhere must give; `end` ends the other writer the hard way. */
  const meetTheOther = async (end: () => Promise<unknown>) => {
    const reader = await openReader({ driver })
    const readers = () => withSnapshot(reader, snapshot => readHistory(snapshot, alice))
    expect(await readers()).toHaveLength(1)
    await expect(openWriter({ driver, lockWaitMs: 60 })).rejects.toThrow(
      /another process or thread is writing/
    )
    const givingUp = new AbortController()
    const given = openWriter({ driver, lockWaitMs: 60_000, signal: givingUp.signal })
    givingUp.abort(new Error('enough'))
    await expect(given).rejects.toThrow('enough')
    const waiting = openWriter({ driver, lockWaitMs: 20_000 })
    await end()
    const writer = await waiting
    expect((await writer.state()).head?.number).toBe(0)
    expect(await readers()).toHaveLength(1)
  }

  test('a killed process leaves nothing locked and all it committed', async () => {
    const child = spawn(process.execPath, [...execArgv, fileURLToPath(program), ...programArguments()], {
      stdio: ['ignore', 'pipe', 'inherit']
    })
    try {
      await once(child.stdout, 'data')
      await meetTheOther(async () => child.kill('SIGKILL'))
    } finally {
      child.kill('SIGKILL')
    }
  })

  test('a terminated thread leaves nothing locked and all it committed', async () => {
    const worker = new Worker(program, { execArgv, argv: programArguments() })
    try {
      await once(worker, 'message')
      await meetTheOther(() => worker.terminate())
    } finally {
      await worker.terminate()
    }
  })
})

test('a file that is no database is refused', async () => {
  writeFileSync(
    chainFiles(folder, chainId).database,
    'not a database at all, but long enough to look at'.repeat(99)
  )
  await expect(openWriter()).rejects.toThrow(StoreError)
  await expect((await openReader()).openSnapshot()).rejects.toThrow(StoreError)
})

test('a file of another chain under this name is refused by writer and reader, both chains named', async () => {
  await (await openWriter()).close()
  copyFileSync(chainFiles(folder, chainId).database, chainFiles(folder, 1).database)
  await expect(openSqliteWriter(folder, { ...testIdentity, chainId: 1 })).rejects.toThrow(
    /chain 31337.*chain 1/
  )
  const reader = kept(await openSqliteReader(folder, 1))
  await expect(reader.openSnapshot()).rejects.toThrow(/chain 31337.*chain 1/)
})

test('an empty file is made into a store; until then a reader shows nothing', async () => {
  writeFileSync(chainFiles(folder, chainId).database, '')
  const reader = await openReader()
  expect(await withSnapshot(reader, snapshot => snapshot.indexedRange())).toBeUndefined()
  await commitChain(await openWriter(), buildChain(plans))
  expect((await withSnapshot(reader, snapshot => snapshot.indexedRange()))?.to.number).toBe(5)
})

test('what an interrupted creation left is cleared away', async () => {
  const { unfinished } = chainFiles(folder, chainId)
  for (const suffix of ['', '-wal', '-shm']) writeFileSync(unfinished + suffix, 'half written')
  const writer = await openWriter()
  await commitChain(writer, buildChain(plans))
  expect(readdirSync(folder).filter(name => name.includes('.new'))).toEqual([])
})

test('each chain has a file of its own, and two writers of two chains do not meet', async () => {
  const first = await openWriter()
  const second = kept(await openSqliteWriter(folder, { ...testIdentity, chainId: 10 }, { lockWaitMs: 0 }))
  await commitChain(first, buildChain(plans))
  await commitChain(second, buildChain(plans.slice(0, 1)))
  expect(dumpStore(folder, chainId).counts.block).toBe(6)
  expect(dumpStore(folder, 10).counts.block).toBe(1)
  expect(readdirSync(folder)).toEqual(expect.arrayContaining(['evm-31337.sqlite', 'evm-10.sqlite']))
})

test('a folder that cannot be made is a StoreError', async () => {
  writeFileSync(join(folder, 'file'), '')
  await expect(openSqliteWriter(join(folder, 'file', 'sub'), testIdentity)).rejects.toThrow(StoreError)
})

test.each([1, 50])(
  'blocks of %i transactions that come without a pause make no more than a few runs',
  async size => {
    const writer = await openWriter({ mergeAfterMs: null })
    const counts: number[] = []
    let parent: BlockRef | undefined
    for (let number = 0; number < 300; number++) {
      const plan = Array.from({ length: size }, (_, i) => ({ name: `${number}/${i}`, parties: [alice, bob] }))
      const [block] = buildChain([plan], parent && { parent })
      if (block === undefined) throw new Error('one block was built')
      await commitChain(writer, [block])
      parent = block.ref
      counts.push(rowsIn('run').length)
    }
    // 32 may wait, and those of one merge.
    expect(Math.max(...counts)).toBeLessThanOrEqual(32 + 8)
    expect(rowsIn('dropped_run').length).toBeLessThanOrEqual(8 + 1)
    const reader = await openReader()
    await withSnapshot(reader, async snapshot => {
      expect(await snapshot.countHistory(alice, 100_000)).toBe(300 * size)
    })
  }
)

test('a removed hash is forgotten once it is mined again', async () => {
  const writer = await openWriter()
  const blocks = buildChain(plans)
  await commitChain(writer, blocks)
  await writer.rollbackTo(blocks[2]!.ref)
  expect(rowsIn('reorged')).toHaveLength(6)
  await commitChain(writer, blocks.slice(3, 5))
  expect(rowsIn('reorged')).toHaveLength(2)
})

test('a pool that has not changed causes no write', async () => {
  const { driver, failAt } = failingDriver(loadSqliteDriver())
  const writer = await openWriter({ driver })
  const present = [poolTransaction('a', [alice]), poolTransaction('b', [alice], { status: 0 })]
  await writer.updatePool({ present, seenAtSeconds: 1, headAfter: 3 })
  failAt(1)
  await writer.updatePool({ present: [...present].reverse(), seenAtSeconds: 2, headAfter: 4 })
  // What has left is still shown until the index has reached the head of the look.
  await writer.updatePool({ present: [], seenAtSeconds: 3, headAfter: 4 })
  await writer.updatePool({ present: [], seenAtSeconds: 4, headAfter: 5 })
  expect(await readPending(await openReader(), alice)).toHaveLength(2)
  await expect(writer.updatePool({ present: [], seenAtSeconds: 5, headAfter: -1 })).rejects.toThrow(
    /disk is full/
  )
})

test('more snapshots than allowed wait for one to close, in order', async () => {
  await commitChain(await openWriter(), buildChain(plans))
  const reader = await openReader({ maxSnapshots: 2, maxIdle: 1 })
  const [first, second] = [await reader.openSnapshot(), await reader.openSnapshot()]
  const order: string[] = []
  const third = reader.openSnapshot().then(snapshot => {
    order.push('third')
    return snapshot
  })
  const fourth = reader.openSnapshot().then(snapshot => {
    order.push('fourth')
    return snapshot
  })
  expect(await readHistory(first, alice)).toHaveLength(6)
  expect(order).toEqual([])
  await first.close()
  expect(await readHistory(await third, alice)).toHaveLength(6)
  expect(order).toEqual(['third'])
  await second.close()
  await (await fourth).close()
  await (await third).close()
  // The turns are all back.
  const again = [await reader.openSnapshot(), await reader.openSnapshot()]
  const waiting = reader.openSnapshot()
  await reader.close()
  await expect(waiting).rejects.toThrow(StoreError)
  for (const snapshot of again) await expect(snapshot.indexedRange()).rejects.toThrow(StoreError)
})

test('a missing record fails the history instead of shortening it', async () => {
  const writer = await openWriter()
  await commitChain(writer, buildChain(plans))
  await writer.close()
  tamper(`DELETE FROM tx WHERE id = ${3 * 65_536}`)
  const reader = await openReader()
  await withSnapshot(reader, async snapshot => {
    await expect(readHistory(snapshot, alice)).rejects.toThrow(
      /a record of block 3: transaction 0 is missing/
    )
  })
})

test('a damaged record fails the history', async () => {
  const writer = await openWriter()
  await commitChain(writer, buildChain(plans))
  await writer.close()
  tamper(`UPDATE tx SET rec = substr(rec, 1, 60) WHERE id = ${3 * 65_536}`)
  await withSnapshot(await openReader(), async snapshot => {
    await expect(readHistory(snapshot, alice)).rejects.toThrow(StoreError)
  })
})
