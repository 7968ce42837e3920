import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { buildChain, people, poolTransaction } from '../../test/buildChain.ts'
import { commitChain } from '../../test/commitChain.ts'
import { testIdentity } from '../../test/store.contract.ts'
import { startDatabaseDoor } from '../../test/support/startDatabaseDoor.ts'
import { createTestDatabase, isOnCitus } from '../../test/support/startPostgres.ts'
import { StoreError, StoreUnavailableError } from '../platform/errors.ts'
import { type FencedWriter, StoreInUseError, type StoreWriter } from '../port/writer.ts'
import { chainStore } from '../store/format.ts'
import { type Client, connect } from './driver.ts'
import { indexTables } from './indexTables.ts'
import { makeTables } from './makeTables.ts'
import { openPostgresWriter, type PostgresWriterOptions } from './openWriter.ts'
import { chainSchema } from './schema.ts'

const { chainId } = testIdentity
const schema = chainSchema(chainId)
const blocks = buildChain(
  Array.from({ length: 4 }, (_, i) => [{ name: `tx ${i}`, parties: people.slice(0, 2) }])
)

/** How long a condition is waited for, on a busy machine too. */
const soon = { timeout: patient(10_000) }

let url: string
/** Some other program's connection. */
let other: Client
let opened: { close(): Promise<void> }[]
let ended: (() => void)[]

beforeEach(async () => {
  url = await createTestDatabase()
  other = await connect(url, 'check')
  await other.query(`SET search_path = ${schema}`)
  opened = []
  ended = []
})
afterEach(async () => {
  for (const each of opened) await each.close()
  for (const end of ended) end()
  await other.end()
})

const openWriter = async (options: PostgresWriterOptions = {}): Promise<StoreWriter> => {
  const writer = await openPostgresWriter(url, testIdentity, { lockWaitMs: 0, ...options })
  opened.push(writer)
  return writer
}
const one = async (sql: string): Promise<unknown> => Object.values((await other.query(sql)).rows[0] ?? {})[0]
const endBackends = () =>
  other.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'chain-data writer' AND datname = current_database()`)
/** How many connections wait for the lock inside the server. */
const waiting = async (count: number) => {
  await expect
    .poll(
      () =>
        one(`SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`),
      soon
    )
    .toBe(count)
}

/** A writer in a process of its own. */
async function holdElsewhere(silentMs: number) {
  const program = fileURLToPath(new URL('../../test/holdPostgresWriter.ts', import.meta.url))
  const child = spawn(
    process.execPath,
    [
      '--conditions=@chain-data/source',
      program,
      url,
      String(chainId),
      testIdentity.genesisHash,
      String(silentMs)
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] }
  )
  ended.push(() => child.kill('SIGKILL'))
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const next = async () => (await lines.next()).value as string
  expect(await next()).toBe('held')
  return {
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    commit: async () => {
      child.stdin.write('\n')
      return next()
    }
  }
}

describe('one writer at a time', () => {
  test('the second of two that open at once waits for the first to close, and goes on where that one ended', async () => {
    const first = await openWriter()
    await expect(openWriter({ lockWaitMs: 50 })).rejects.toThrow(StoreInUseError)
    const second = openWriter({ lockWaitMs: 20_000 })
    await waiting(1)
    await commitChain(first, blocks.slice(0, 2))
    await first.close()
    expect((await (await second).state()).head).toEqual(blocks[1]?.ref)
    await commitChain(await second, blocks.slice(2))
  })

  test('of many that open at once one gets in, and the next one each time that one ends', async () => {
    const crowd = Array.from({ length: 4 }, () => openWriter({ lockWaitMs: 20_000 }))
    for (let left = crowd.length; left > 0; left--) {
      const winner = await Promise.race(crowd.map((each, place) => each.then(writer => ({ writer, place }))))
      crowd.splice(winner.place, 1)
      await waiting(left - 1)
      await winner.writer.close()
    }
    expect(await one('SELECT term::int FROM leader')).toBe(4)
  })

  test('a signal ends the waiting with its reason, and leaves nobody in the queue', async () => {
    const first = await openWriter()
    const givingUp = new AbortController()
    const given = openWriter({ lockWaitMs: 60_000, signal: givingUp.signal })
    await waiting(1)
    givingUp.abort(new Error('enough'))
    await expect(given).rejects.toThrow('enough')
    await expect(openWriter({ signal: givingUp.signal })).rejects.toThrow('enough')
    await first.close()
    await openWriter({ lockWaitMs: 10_000 })
  })

  test('two chains of one database do not meet', async () => {
    await openWriter()
    const second = await openPostgresWriter(url, { ...testIdentity, chainId: 10 }, { lockWaitMs: 0 })
    opened.push(second)
    await commitChain(second, blocks)
    expect(await one(`SELECT count(*)::int FROM ${schema}.block`)).toBe(0)
    expect(await one('SELECT count(*)::int FROM chain_data_10.block')).toBe(4)
  })

  test('a killed process leaves nothing locked and all it committed', async () => {
    const holder = await holdElsewhere(15_000)
    expect(await holder.commit()).toBe('committed')
    const next = openWriter({ lockWaitMs: 20_000 })
    await waiting(1)
    holder.kill('SIGKILL')
    expect((await (await next).state()).head?.number).toBe(0)
  })

  test('one that lives and has nothing to write is not fenced, however long another waits', async () => {
    const holder = await holdElsewhere(500)
    const told: FencedWriter[] = []
    const next = openWriter({ lockWaitMs: 1_700, silentMs: 500, onFenced: each => told.push(each) })
    await expect(next).rejects.toThrow(StoreInUseError)
    expect(told).toEqual([])
    expect(await holder.commit()).toBe('committed')
  })

  test('one whose statement is at work is not fenced, however long that takes', async () => {
    const writer = await openWriter({ silentMs: 200 })
    await other.query('BEGIN; LOCK TABLE meta')
    const working = writer.markBackfilled()
    const onFenced = vi.fn()
    await expect(openWriter({ silentMs: 200, lockWaitMs: 1_000, onFenced })).rejects.toThrow(StoreInUseError)
    expect(onFenced).not.toHaveBeenCalled()
    await other.query('COMMIT')
    await working
  })

  test('one that is frozen is fenced and reported; once it goes on it writes nothing more', async () => {
    const holder = await holdElsewhere(500)
    expect(await holder.commit()).toBe('committed')
    holder.kill('SIGSTOP')
    const told: FencedWriter[] = []
    const next = await openWriter({ lockWaitMs: 20_000, silentMs: 500, onFenced: each => told.push(each) })
    expect(told).toEqual([{ chainId, silentMs: 500, backendPid: expect.any(Number) }])
    const { head } = await next.state()
    holder.kill('SIGCONT')
    expect(await holder.commit()).toBe('StoreUnavailableError')
    expect((await next.state()).head).toEqual(head)
    expect(await one('SELECT count(*)::int FROM block')).toBe(1)
  })
})

describe('an earlier term', () => {
  const present = [poolTransaction('new', people.slice(0, 1))]
  const everything = async () => {
    const tables = ['meta', 'block', 'block_extra', 'tx', 'run', 'chunk', 'reorged', 'pool', 'first_seen']
    const texts = [...tables, 'writer_report'].map(
      table => `(SELECT json_agg(t ORDER BY t::text) FROM ${table} t)`
    )
    return one(`SELECT concat_ws(';', ${texts.join(', ')})`)
  }

  test.each<[string, (writer: StoreWriter) => Promise<unknown>]>([
    ['commit', writer => commitChain(writer, blocks.slice(2))],
    ['roll back', writer => writer.rollbackTo(blocks[0]!.ref)],
    ['roll everything back', writer => writer.rollbackAll()],
    ['mark itself backfilled', writer => writer.markBackfilled()],
    ['mark blocks as final', writer => writer.markFinal(1)],
    ['change the pool', writer => writer.updatePool({ present, seenAtSeconds: 1, headAfter: 1 })],
    ['report', writer => writer.report({ phase: 'following', poolCovered: false })]
  ])('does not %s', async (_, work) => {
    const writer = await openWriter()
    await commitChain(writer, blocks.slice(0, 2))
    const before = await everything()
    // As behind a pooler, or after a fail-over that the connection has survived: it is alive and has no lock.
    await other.query('UPDATE leader SET term = term + 1')
    await expect(work(writer)).rejects.toThrow(StoreInUseError)
    // Also when nobody knows any more whose term it was.
    await other.query('UPDATE leader SET term = term - 1')
    await expect(work(writer)).rejects.toThrow(StoreInUseError)
    expect(await everything()).toEqual(before)
  })

  test('a writer stores nothing once the row of the term is lost', async () => {
    const writer = await openWriter()
    await commitChain(writer, blocks.slice(0, 2))
    await other.query('DELETE FROM leader')
    const before = await everything()
    await expect(commitChain(writer, blocks.slice(2))).rejects.toThrow(StoreInUseError)
    expect(await everything()).toEqual(before)
  })

  test('a writer that loses its connection in the middle of a commit stores nothing, and the next one what it wants', async () => {
    const writer = await openWriter()
    await commitChain(writer, blocks.slice(0, 1))
    // Holds the commit up after it has written blocks and records.
    const lock = await connect(url, 'check')
    await lock.query(`BEGIN; LOCK TABLE ${schema}.chunk IN EXCLUSIVE MODE`)
    const commit = commitChain(writer, blocks.slice(1))
    const failed = expect(commit).rejects.toThrow(StoreUnavailableError)
    await expect
      .poll(
        () =>
          one(
            `SELECT count(*)::int FROM pg_locks WHERE NOT granted AND relation = '${schema}.chunk'::regclass`
          ),
        soon
      )
      .toBe(1)
    await endBackends()
    await failed
    await lock.query('ROLLBACK')
    await lock.end()
    const next = await openWriter({ lockWaitMs: 10_000 })
    expect((await next.state()).head).toEqual(blocks[0]?.ref)
    await expect(commitChain(writer, blocks.slice(1))).rejects.toThrow(StoreUnavailableError)
    await commitChain(next, blocks.slice(1))
    expect(await one('SELECT count(*)::int FROM tx')).toBe(4)
  })

  test('the next writer waits for a commit of the one before that is under way without the lock', async () => {
    const writer = await openWriter()
    await commitChain(writer, blocks.slice(0, 1))
    const lock = await connect(url, 'check')
    await lock.query(`BEGIN; LOCK TABLE ${schema}.chunk IN EXCLUSIVE MODE`)
    const commit = commitChain(writer, blocks.slice(1))
    const blocked = (found: string) =>
      expect.poll(() => one(`SELECT count(*)::int FROM ${found}`), soon).toBe(1)
    await blocked(`pg_locks WHERE NOT granted AND relation = '${schema}.chunk'::regclass`)
    const takingOver = connect(url, 'check').then(async client => {
      await client.query(`UPDATE ${schema}.leader SET term = term + 1`)
      const { rows } = await client.query(`SELECT count(*)::int AS n FROM ${schema}.block`)
      await client.end()
      return rows[0]?.n
    })
    // A node of Citus has the row, and its locks are not the coordinator's.
    await blocked(
      isOnCitus
        ? `citus_lock_waits WHERE blocked_statement LIKE 'UPDATE %leader%'`
        : `pg_locks WHERE NOT granted AND locktype = 'transactionid'`
    )
    await lock.query('ROLLBACK')
    await lock.end()
    await commit
    expect(await takingOver).toBe(4)
  })
})

test('what the database limits for others ends no writer', async () => {
  await other.query(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET lock_timeout = 1', current_database());
    -- On a busy machine it takes a moment before a new connection has said what it wants for itself.
    EXECUTE format('ALTER DATABASE %I SET statement_timeout = 300', current_database());
    EXECUTE format('ALTER DATABASE %I SET idle_session_timeout = 300', current_database()); END $$`)
  // Citus connects to its nodes by itself: there, only settings of the role lift those of the database (docs/citus.md).
  for (const name of isOnCitus ? ['lock_timeout', 'statement_timeout', 'idle_session_timeout'] : [])
    await other.query(`ALTER ROLE postgres SET ${name} = 0`)
  const writer = await openWriter()
  await commitChain(writer, blocks)
  await other.query('BEGIN; LOCK TABLE meta')
  const waits = writer.markBackfilled()
  const waitsForLonger = `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database()
    AND wait_event_type = 'Lock' AND clock_timestamp() - query_start > '400 ms'`
  await expect.poll(() => one(waitsForLonger), soon).toBe(1)
  await other.query('COMMIT')
  await waits
  const idlesForLonger = `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database()
    AND application_name = 'chain-data writer' AND state = 'idle' AND clock_timestamp() - state_change > '400 ms'`
  await expect.poll(() => one(idlesForLonger), soon).toBe(1)
  expect((await writer.state()).backfilled).toBe(true)
})

test('what is confirmed again after a restart is no longer remembered as removed', async () => {
  const writer = await openWriter()
  await commitChain(writer, blocks)
  await writer.rollbackTo(blocks[1]!.ref)
  await writer.close()
  expect(await one('SELECT count(*)::int FROM reorged')).toBe(2)
  await commitChain(await openWriter({ lockWaitMs: 5_000 }), blocks.slice(2))
  expect(await one('SELECT count(*)::int FROM reorged')).toBe(0)
})

describe('a server that says nothing', () => {
  test('keeps nobody waiting who closes a writer', async () => {
    const writer = await openPostgresWriter(url, testIdentity)
    const pid = Number(
      await one(`SELECT pid FROM pg_stat_activity
        WHERE application_name = 'chain-data writer' AND datname = current_database()`)
    )
    process.kill(pid, 'SIGSTOP')
    await writer.close().finally(() => process.kill(pid, 'SIGCONT'))
  })

  test('is told as such where it is lost before the index is open', async () => {
    const door = await startDatabaseDoor(url, piece => (piece.includes('mayMove') ? 'cut' : 'pass'))
    await expect(openPostgresWriter(door.url, testIdentity)).rejects.toThrow(StoreUnavailableError)
    await door.close()
  })

  test('keeps nobody waiting whom it has let in', async () => {
    const door = await startDatabaseDoor(url, piece =>
      piece.includes('SET client_connection_check_interval') ? new Promise<'pass'>(() => {}) : 'pass'
    )
    await expect(connect(door.url, 'queries', 100)).rejects.toThrow(StoreUnavailableError)
    await door.close()
  })
})

describe('what is refused', () => {
  test('a schema of another chain under this name, both chains named', async () => {
    await (await openWriter()).close()
    await other.query(`ALTER SCHEMA ${schema} RENAME TO chain_data_1`)
    await expect(openPostgresWriter(url, { ...testIdentity, chainId: 1 })).rejects.toThrow(
      /chain 31337.*chain 1/
    )
  })

  test('a user without the right to make a schema is told which right is missing; one who owns it needs none', async () => {
    await other.query('CREATE ROLE plain LOGIN')
    const theirs = new URL(url)
    theirs.username = 'plain'
    await expect(openPostgresWriter(theirs.href, testIdentity)).rejects.toThrow(
      new RegExp(`may not make the schema ${schema}.*expected the right CREATE on the database`)
    )
    await other.query(`CREATE SCHEMA ${schema} AUTHORIZATION plain`)
    const writer = await openPostgresWriter(theirs.href, testIdentity)
    opened.push(writer)
    await commitChain(writer, blocks)
    await writer.close()
    await other.query(`DROP OWNED BY plain; DROP ROLE plain`)
  })

  test('a certificate that cannot be read, without a word of the URL', async () => {
    const failure = await openPostgresWriter(
      'postgres://user:a-secret@localhost/db?sslrootcert=/nowhere/root.pem',
      testIdentity
    ).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StoreError)
    expect(failure).toHaveProperty('retryable', false)
    expect(String(failure)).toMatch(/ENOENT/)
    expect(String(failure)).not.toMatch(/a-secret|postgres:\/\/user/)
  })

  test.each([
    [
      'a database that is not there',
      (there: URL) => Object.assign(there, { pathname: '/nowhere' }),
      StoreError
    ],
    [
      'a user that is not there',
      (there: URL) => Object.assign(there, { username: 'nobody-at-all' }),
      StoreError
    ],
    [
      'a server that is not there',
      (there: URL) => {
        there.searchParams.set('host', '/nowhere')
        return there
      },
      StoreUnavailableError
    ]
  ])('%s, without a word of the URL', async (_, change, kind) => {
    const there = change(new URL(url))
    there.password = 'a-secret'
    const failure = await openPostgresWriter(there.href, testIdentity).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(kind)
    expect(failure).toHaveProperty('retryable', kind === StoreUnavailableError)
    expect(String(failure)).not.toMatch(/a-secret|postgres:\/\//)
  })
})

test('two processes that make the schema at once both find it made', async () => {
  const clients = await Promise.all([1, 2, 3].map(() => connect(url, 'writer')))
  const store = chainStore(7, 'chain_data_7')
  await Promise.all(clients.map(client => makeTables(client, 'chain_data_7', indexTables, store)))
  for (const client of clients) await client.end()
  expect(await one('SELECT count(*)::int FROM chain_data_7.store_format')).toBe(1)
})

test('every table has a primary key: Citus moves no chain with one that has none while it is indexed', async () => {
  await openWriter()
  const { rows } = await other.query(
    `SELECT relname FROM pg_class WHERE relnamespace = '${schema}'::regnamespace AND relkind = 'r'
       AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = pg_class.oid AND indisprimary)`
  )
  expect(rows).toEqual([])
})
