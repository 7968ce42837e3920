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

describe('whatever fails', () => {
  // Two logs number their entries alike.
  beforeAll(() => void vi.spyOn(Math, 'random').mockReturnValue(0))
  afterAll(() => void vi.restoreAllMocks())
  const present = ['tx 3', 'tx 4', 'left'].map(name => poolTransaction(name, [alice]))
  const prepare = async (at = url) => {
    const writer = await openWriter({ mergeAfterMs: null }, at)
    await commitChain(writer, blocks.slice(0, 3))
    await writer.updatePool({ present, seenAtSeconds: 1, headAfter: 2 })
    return writer
  }
  const everything = async () => {
    const tables = [
      ...['block_extra', 'run', 'chunk', 'dropped_run', 'reorged', 'pool', 'pool_address', 'first_seen'],
      ...['key_part', 'change_log']
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
        ...['block', 'block_extra', 'tx', 'run', 'chunk', 'meta', 'pool', 'pool_address', 'first_seen'],
        ...['key_part', 'change_log']
      ],
      writer => commitChain(writer, blocks.slice(3))
    ],
    [
      'a rollback',
      ['block', 'block_extra', 'tx', 'run', 'chunk', 'dropped_run', 'meta', 'reorged', 'key_part'],
      writer => writer.rollbackTo(blocks[0]!.ref)
    ],
    [
      'a rollback of everything',
      ['block', 'block_extra', 'tx', 'run', 'dropped_run', 'meta'],
      writer => writer.rollbackAll()
    ],
    [
      'a pool update',
      ['pool', 'pool_address', 'first_seen', 'key_part', 'meta', 'change_log'],
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
      // Each of the two was made, and has gone back, at its own moment, which the checksum of its row covers.
      const timeless = (all: unknown) =>
        JSON.stringify(all).replace(/"(rollbacks|manifest_version|sum)":-?\d+/g, '')
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
