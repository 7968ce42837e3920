import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { buildChain, people, poolTransaction } from '../../test/buildChain.ts'
import { commitChain } from '../../test/commitChain.ts'
import { dumpPostgresStore } from '../../test/dumpPostgresStore.ts'
import { testIdentity } from '../../test/store.contract.ts'
import { startDatabaseDoor } from '../../test/support/startDatabaseDoor.ts'
import { createTestDatabase, startPostgres } from '../../test/support/startPostgres.ts'
import { StoreError, StoreUnavailableError } from '../platform/errors.ts'
import type { StoreWriter } from '../port/writer.ts'
import { type Client, connect } from './driver.ts'
import { openPostgresWriter, type PostgresWriterOptions } from './openWriter.ts'
import { chainSchema } from './schema.ts'

const { chainId } = testIdentity
const schema = chainSchema(chainId)
const [alice, bob] = [people[0]!, people[1]!]
const plans = Array.from({ length: 6 }, (_, i) => [
  { name: `tx ${i}`, parties: [alice, bob] },
  {
    name: `tx ${i} too`,
    parties: [bob],
    candidates: [{ owner: bob, contract: alice, standard: 'erc721' as const, tokenId: BigInt(i) }]
  }
])
const blocks = buildChain(plans)

/** How long a condition is waited for, on a busy machine too. */
const soon = { timeout: patient(10_000) }

let url: string
/** Some other program's connection. */
let other: Client
let opened: { close(): Promise<void> }[]

beforeEach(async () => {
  url = await createTestDatabase()
  other = await connect(url, 'check')
  await other.query(`SET search_path = ${schema}`)
  opened = []
})
afterEach(async () => {
  for (const each of opened) await each.close()
  await other.end()
})

const openWriter = async (options: PostgresWriterOptions = {}, at = url): Promise<StoreWriter> => {
  const writer = await openPostgresWriter(at, testIdentity, { lockWaitMs: 10_000, ...options })
  opened.push(writer)
  return writer
}
const one = async (sql: string): Promise<unknown> => Object.values((await other.query(sql)).rows[0] ?? {})[0]
const endWriters = () =>
  other.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'chain-data writer' AND datname = current_database()`)
const dump = async (at = url) => (await dumpPostgresStore(at, chainId)).text
/** The index of these blocks, stored without any trouble. */
const dumpOf = async (chain: typeof blocks) => {
  const elsewhere = await createTestDatabase()
  await commitChain(await openWriter({}, elsewhere), chain)
  return dump(elsewhere)
}

test('neither a copy of an index nor one made anew ever shows a number of rollbacks that the index has shown', async () => {
  const seen: unknown[] = []
  const see = async (client: Client) =>
    seen.push((await client.query(`SELECT rollbacks FROM ${schema}.meta`)).rows[0]?.rollbacks)
  const writer = await openWriter()
  await commitChain(writer, blocks)
  await see(other)
  await writer.close()
  await other.end()
  // As a replica that was promoted, or a backup, has it.
  const copyUrl = await createTestDatabase()
  const root = await connect(url.replace(/test_\d+/, 'postgres'), 'check')
  const [name, copy] = [url, copyUrl].map(each => new URL(each).pathname.slice(1))
  await root.query(`DROP DATABASE ${copy}`)
  await root.query(`CREATE DATABASE ${copy} TEMPLATE ${name}`)
  await root.end()
  for (const at of [url, copyUrl]) {
    const each = await openWriter({}, at)
    await each.rollbackTo(blocks[3]!.ref)
    await each.close()
    other = await connect(at, 'check')
    await see(other)
    await other.query(`DROP SCHEMA ${schema} CASCADE`)
    await (await openWriter({}, at)).close()
    await see(other)
    if (at === url) await other.end()
  }
  expect(new Set(seen).size, `${seen}`).toBe(5)
})

describe('partitions', () => {
  const small = { smallestPartition: 4, largestPartition: 4 }
  const firstBlocks = async (table: string) => {
    const { rows } = await other.query(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = '${table}'::regclass`
    )
    return rows.map(({ name }) => Number(/_(\d+)$/.exec(name)?.[1])).sort((a, b) => a - b)
  }

  test('follow each other without a gap, the next one there before it is needed, in every table alike', async () => {
    const writer = await openWriter(small)
    for (const block of blocks) await commitChain(writer, [block])
    // Two transactions a block: two blocks fill one, and the last has one more ahead of it.
    expect(await firstBlocks('tx')).toEqual([0, 2, 4, 6])
    expect(await firstBlocks('address_tx')).toEqual([0, 2, 4, 6])
    expect(await dump()).toBe(await dumpOf(blocks))
  })

  test('a commit may span many, and one that begins anywhere finds its own', async () => {
    const writer = await openWriter(small)
    await commitChain(writer, blocks)
    await writer.rollbackAll()
    const earlier = buildChain(plans, { firstNumber: 3, fork: 'b' })
    const later = buildChain(plans, { firstNumber: 1_000_003, fork: 'c' })
    for (const chain of [earlier, later]) {
      await commitChain(writer, chain)
      expect(await one('SELECT count(*)::int FROM tx')).toBe(12)
      await writer.rollbackAll()
    }
    // From before those that are there, up to them.
    const before = await openPostgresWriter(url, { ...testIdentity, chainId: 5 }, small)
    opened.push(before)
    await commitChain(before, buildChain(plans.slice(0, 1), { firstNumber: 4 }))
    await before.rollbackAll()
    await commitChain(before, buildChain(plans, { firstNumber: 0 }))
    expect(await one('SELECT count(*)::int FROM chain_data_5.tx')).toBe(12)
  })

  test('end where one begins that is there already', async () => {
    const writer = await openWriter({})
    const from = (firstNumber: number) => buildChain(Array(3).fill([]), { firstNumber })
    await commitChain(writer, from(100))
    await writer.rollbackAll()
    await commitChain(writer, from(98))
    expect((await writer.state()).head?.number).toBe(100)
  })

  test('are found again by the next writer', async () => {
    await commitChain(await openWriter(small), blocks.slice(0, 3))
    await opened[0]?.close()
    await commitChain(await openWriter(small), blocks.slice(3))
    expect(await firstBlocks('tx')).toEqual([0, 2, 4, 6])
  })

  test('are made while views are open, and wait for none', async () => {
    const writer = await openWriter(small)
    await commitChain(writer, blocks.slice(0, 1))
    await other.query(
      'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM tx JOIN address_tx ON id = tx_id'
    )
    await commitChain(writer, blocks.slice(1))
    expect(await one('SELECT count(*)::int FROM tx')).toBe(2)
    await other.query('COMMIT')
    expect(await one('SELECT count(*)::int FROM tx')).toBe(12)
  })
})

describe('whatever fails', () => {
  // Two logs number their entries alike.
  beforeAll(() => void vi.spyOn(Math, 'random').mockReturnValue(0))
  afterAll(() => void vi.restoreAllMocks())
  const present = ['tx 3', 'tx 4', 'left'].map(name => poolTransaction(name, [alice]))
  const prepare = async (at = url) => {
    const writer = await openWriter({}, at)
    await commitChain(writer, blocks.slice(0, 3))
    await writer.updatePool({ present, seenAtSeconds: 1, headAfter: 2 })
    return writer
  }
  const everything = async () => {
    const tables = [
      'pool',
      'pool_address',
      'first_seen',
      'reorged',
      'undo',
      'account_event',
      'tally',
      'change_log'
    ]
    const rows = tables.map(table => `(SELECT json_agg(t ORDER BY t::text) FROM ${schema}.${table} t)`)
    // Every log of changes has a name of its own.
    const meta = `(SELECT json_agg(to_jsonb(t) - 'changes_log' - 'sum') FROM ${schema}.meta t)`
    return { dump: await dump(), rows: await one(`SELECT json_build_array(${meta}, ${rows.join(', ')})`) }
  }
  test.each<[string, readonly string[], (writer: StoreWriter) => Promise<void>]>([
    [
      'a commit that confirms pool entries',
      [
        ...['block', 'tx', 'address_tx', 'holding', 'undo', 'meta', 'pool', 'pool_address', 'first_seen'],
        ...['account_event', 'tally', 'change_log']
      ],
      writer => commitChain(writer, blocks.slice(3))
    ],
    [
      'a rollback',
      ['block', 'tx', 'address_tx', 'undo', 'meta', 'reorged', 'account_event', 'tally'],
      writer => writer.rollbackTo(blocks[0]!.ref)
    ],
    [
      'a rollback of everything',
      ['block', 'tx', 'address_tx', 'undo', 'meta', 'account_event', 'tally'],
      writer => writer.rollbackAll()
    ],
    [
      'a pool update',
      ['pool', 'pool_address', 'first_seen', 'change_log'],
      writer =>
        writer.updatePool({
          present: [poolTransaction('tx 4', [alice], { status: 0 }), poolTransaction('new', [bob])],
          seenAtSeconds: 2,
          headAfter: 2
        })
    ]
  ])(
    '%s is stored as a whole or not at all, and can be repeated over the same connection',
    async (_, tables, work) => {
      const writer = await prepare()
      const before = await everything()
      await other.query(`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'the disk is full, says the test'; END $$`)
      for (const table of tables) {
        await other.query(
          `CREATE TRIGGER fail BEFORE INSERT OR UPDATE OR DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION fail()`
        )
        await expect(work(writer), table).rejects.toThrow(StoreError)
        expect(await everything(), `after a failure at ${table}`).toEqual(before)
        await other.query(`DROP TRIGGER fail ON ${table}`)
      }
      await work(writer)
      const repeated = await everything()
      await writer.close()
      await other.query(`DROP SCHEMA ${schema} CASCADE`)
      await work(await prepare())
      // Each of the two has gone back at its own moment, which the checksum of its row covers.
      const timeless = (all: unknown) => JSON.stringify(all).replace(/"(rollbacks|sum)":-?\d+/g, '')
      expect(timeless(repeated)).toBe(timeless(await everything()))
    }
  )
})

describe('reconnecting', () => {
  test('after its connection was ended a writer fails, and the next one goes on with nothing lost or doubled', async () => {
    const writer = await openWriter()
    await commitChain(writer, blocks.slice(0, 3))
    await endWriters()
    await expect(commitChain(writer, blocks.slice(3))).rejects.toThrow(StoreUnavailableError)
    await expect(writer.state()).rejects.toThrow(StoreUnavailableError)
    const next = await openWriter()
    expect((await next.state()).head).toEqual(blocks[2]?.ref)
    await commitChain(next, blocks.slice(3))
    expect(await dump()).toBe(await dumpOf(blocks))
  })

  test('a commit that a node of Citus may have lost is not taken for stored: the next writer reads what is', async () => {
    const writer = await openWriter()
    const warn = (text: string) =>
      other.query(`CREATE OR REPLACE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE WARNING '${text}'; RETURN NULL; END $$`)
    await warn('database "index" has a collation version mismatch')
    await other.query('CREATE TRIGGER warn AFTER UPDATE ON meta FOR EACH STATEMENT EXECUTE FUNCTION warn()')
    await commitChain(writer, blocks.slice(0, 3))
    await warn('failed to commit transaction on a node')
    await expect(writer.rollbackTo(blocks[1]!.ref)).rejects.toThrow(StoreUnavailableError)
    await expect(writer.state()).rejects.toThrow(StoreUnavailableError)
    await other.query('DROP FUNCTION warn CASCADE')
    const next = await openWriter()
    expect((await next.state()).head).toEqual(blocks[1]?.ref)
    await commitChain(next, blocks.slice(2))
    expect(await dump()).toBe(await dumpOf(blocks))
  })

  test('a node that Citus lost in the middle of a commit is told as passing', async () => {
    const writer = await openWriter()
    await other.query(`CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE 'failure on connection marked as essential: node-1:5432' USING ERRCODE = 'XX000'; END $$`)
    await other.query('CREATE TRIGGER lose BEFORE UPDATE ON meta FOR EACH ROW EXECUTE FUNCTION lose()')
    await expect(commitChain(writer, blocks)).rejects.toThrow(StoreUnavailableError)
    await other.query('DROP FUNCTION lose CASCADE')
    await commitChain(writer, blocks)
    expect(await dump()).toBe(await dumpOf(blocks))
  })

  test('a commit of which only a part arrives leaves nothing', async () => {
    let isCutting = false
    const door = await startDatabaseDoor(url, piece =>
      isCutting && piece.includes('COPY block') ? 'cut' : 'pass'
    )
    const writer = await openWriter({}, door.url)
    await commitChain(writer, blocks.slice(0, 3))
    isCutting = true
    await expect(commitChain(writer, blocks.slice(3))).rejects.toThrow(StoreUnavailableError)
    await door.close()
    const next = await openWriter()
    expect((await next.state()).head).toEqual(blocks[2]?.ref)
    await commitChain(next, blocks.slice(3))
    expect(await dump()).toBe(await dumpOf(blocks))
  })

  test('a commit that was stored and whose answer was lost is found by the next writer', async () => {
    await other.query(
      `DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' SET synchronous_commit = on'; END $$`
    )
    const writer = await openWriter()
    await commitChain(writer, blocks.slice(0, 3))
    // What is stored waits for a replica that never comes, before it is answered.
    await other.query(`ALTER SYSTEM SET synchronous_standby_names = 'nobody'`)
    try {
      await other.query('SELECT pg_reload_conf()')
      await expect.poll(() => one('SHOW synchronous_standby_names'), soon).toBe('nobody')
      // The checkpointer makes commits wait: it reads the settings anew before each checkpoint.
      await other.query('CHECKPOINT')
      const failed = expect(commitChain(writer, blocks.slice(3))).rejects.toThrow(StoreUnavailableError)
      await expect
        .poll(
          () =>
            one(`SELECT count(*)::int FROM pg_stat_activity WHERE wait_event = 'SyncRep'
          AND datname = current_database()`),
          soon
        )
        .toBe(1)
      await endWriters()
      await failed
    } finally {
      await other.query('ALTER SYSTEM RESET synchronous_standby_names')
      await other.query('SELECT pg_reload_conf()')
    }
    await expect.poll(() => one('SHOW synchronous_standby_names'), soon).toBe('')
    const next = await openWriter()
    expect((await next.state()).head).toEqual(blocks[5]?.ref)
    expect(await dump()).toBe(await dumpOf(blocks))
  })

  test('over a restart of the server nothing is lost or doubled; a server that is away is told as such', async () => {
    const server = await startPostgres()
    try {
      const there = await server.createDatabase()
      const writer = await openWriter({}, there)
      await commitChain(writer, blocks.slice(0, 3))
      await server.restart()
      await expect(commitChain(writer, blocks.slice(3))).rejects.toThrow(StoreUnavailableError)
      const next = await openWriter({}, there)
      expect((await next.state()).head).toEqual(blocks[2]?.ref)
      await commitChain(next, blocks.slice(3))
      expect(await dump(there)).toBe(await dumpOf(blocks))
      await server.stop()
      await expect(next.markBackfilled()).rejects.toThrow(StoreUnavailableError)
      await expect(openWriter({}, there)).rejects.toThrow(StoreUnavailableError)
    } finally {
      await server.stop()
    }
  })
})

test('undo data are kept of what is not final, and of the newest blocks that have become final since', async () => {
  const undoBlocks = async (
    finalAt: (block: number) => number | undefined,
    layout: PostgresWriterOptions
  ) => {
    const at = await createTestDatabase()
    const writer = await openWriter(layout, at)
    for (const block of blocks) {
      const finalized = finalAt(block.ref.number)
      await commitChain(writer, [block], finalized === undefined ? {} : { finalized })
    }
    await writer.close()
    const client = await connect(at, 'check')
    const { rows } = await client.query(`SELECT block FROM ${schema}.undo ORDER BY block`)
    await client.end()
    return rows.map(({ block }) => block)
  }
  expect(await undoBlocks(() => undefined, {})).toEqual([0, 1, 2, 3, 4, 5])
  expect(await undoBlocks(() => 5, { minUndoBlocks: 2 })).toEqual([])
  expect(await undoBlocks(block => block - 1, { minUndoBlocks: 3 })).toEqual([3, 4, 5])
  expect(await undoBlocks(() => 0, { minUndoBlocks: 2, maxUndoBlocks: 3 })).toEqual([3, 4, 5])
})

test('calls that are not waited for are carried out one after the other, in their order', async () => {
  const writer = await openWriter()
  const calls = [
    ...blocks.slice(0, 5).map(block => commitChain(writer, [block])),
    writer.rollbackTo(blocks[2]!.ref),
    writer.report({ phase: 'following', poolCovered: false }),
    commitChain(writer, blocks.slice(3)),
    writer.markBackfilled()
  ]
  const closing = writer.close()
  await Promise.allSettled(calls)
  await closing
  const outcomes = await Promise.allSettled(calls)
  // What was asked before the close and had not begun is refused; nothing is half done.
  const { head } = await (await openWriter()).state()
  const done = outcomes.slice(0, 5).filter(({ status }) => status === 'fulfilled').length
  expect(head).toEqual(outcomes[7]?.status === 'fulfilled' ? blocks[5]?.ref : blocks[done - 1]?.ref)
})
