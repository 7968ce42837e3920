import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { buildChain, hashOf, people } from '../../test/buildChain.ts'
import { commitChain } from '../../test/commitChain.ts'
import { openOwnPostgresReader } from '../../test/openOwnPostgresReader.ts'
import { gather, readHistory, withSnapshot } from '../../test/readAll.ts'
import { testIdentity } from '../../test/store.contract.ts'
import { eventually } from '../../test/support/eventually.ts'
import { createTestDatabase, type Postgres, startPostgres } from '../../test/support/startPostgres.ts'
import type { Hash, IndexedTransaction } from '../model/evm.ts'
import { StoreError, StoreUnavailableError } from '../platform/errors.ts'
import type { StoreReader } from '../port/store.ts'
import { ReadConnection } from './connection.ts'
import { connect } from './driver.ts'
import { openPostgresReader, type PostgresReaderOptions } from './openReader.ts'
import { openPostgresWriter } from './openWriter.ts'
import { createPostgresPool, type PostgresPoolOptions } from './servers.ts'

const { chainId } = testIdentity
const alice = people[3] ?? '0x'
const count = 1_500
const blocks = buildChain(
  Array.from({ length: 5 }, (_, block) =>
    Array.from({ length: count / 5 }, (__, i) => ({ name: `tx ${block}/${i}`, parties: [alice] }))
  )
)
let url: string
let reader: StoreReader | undefined

/** Each block in a run of its own. */
async function fill(database: string, identity = testIdentity) {
  const writer = await openPostgresWriter(database, identity)
  for (const block of blocks) await commitChain(writer, [block])
  await writer.close()
}

async function query(database: string, sql: string, values: readonly unknown[] = []) {
  const client = await connect(database, 'check')
  try {
    return (await client.query(sql, [...values])).rows
  } finally {
    await client.end()
  }
}

const queriesOf = async (database: string) =>
  (
    await query(
      database,
      `SELECT pid FROM pg_stat_activity WHERE application_name = 'chain-data queries' AND datname = current_database()`
    )
  ).map(({ pid }) => Number(pid))

async function open(options: PostgresReaderOptions & PostgresPoolOptions = {}): Promise<StoreReader> {
  reader = await openOwnPostgresReader([url], chainId, options)
  return reader
}

afterEach(() => reader?.close())

describe('on a server that stays', () => {
  beforeEach(async () => {
    url = await createTestDatabase()
    await fill(url)
  })

  describe('when every snapshot is in use', () => {
    it('the one that was not read from for longest gives way to who waits, and says so', async () => {
      const store = await open({ connections: 2, idleMs: 30 })
      const slow = (await store.openSnapshot()).records(alice)[Symbol.asyncIterator]()
      await slow.next()
      const busy = await store.openSnapshot()
      let isWaiting = true
      const waiting = store.openSnapshot().finally(() => {
        isWaiting = false
      })
      while (isWaiting) expect(await readHistory(busy, alice, { limit: 300 })).toHaveLength(300)
      await expect(slow.next()).rejects.toThrow(
        'the snapshot is gone: it was read too slowly while others waited'
      )
      expect(await readHistory(busy, alice)).toHaveLength(count)
      expect(await readHistory(await waiting, alice)).toHaveLength(count)
    })

    it('none gives way that is not idle: who waits gets the first one that is closed', async () => {
      const store = await open({ connections: 1, idleMs: 3_600_000 })
      const first = await store.openSnapshot()
      const waiting = store.openSnapshot()
      expect(await readHistory(first, alice)).toHaveLength(count)
      await first.close()
      expect(await readHistory(await waiting, alice)).toHaveLength(count)
    })
  })

  it('a snapshot ends at an age, so that the database need not keep what was deleted for ever', async () => {
    const store = await open({ connections: 1, maxAgeMs: -1 })
    const snapshot = await store.openSnapshot()
    await expect(snapshot.indexedRange()).rejects.toThrow('the snapshot is too old')
    // Its connection has gone back already.
    await store.openSnapshot()
  })

  it('many chains share a few connections, however many snapshots are wanted at once', async () => {
    const chainIds = [1, 2, 3, 4]
    for (const other of chainIds) await fill(url, { chainId: other, genesisHash: hashOf(`genesis ${other}`) })
    const pool = createPostgresPool([url], { connections: 3 })
    const readers = await Promise.all(chainIds.map(other => openPostgresReader(pool, other)))
    let most = 0
    const read = async (each: StoreReader) => {
      const read = await withSnapshot(each, snapshot => readHistory(snapshot, alice, { limit: 200 }))
      expect(read).toHaveLength(200)
      most = Math.max(most, (await queriesOf(url)).length)
    }
    await Promise.all([...readers, ...readers, ...readers, ...readers].map(read))
    expect(most).toBe(3)
    for (const each of readers) await each.close()
    await expect(readers[0]?.openSnapshot()).rejects.toThrow('the store is closed')
    await pool.close()
    await eventually('no connection is left', async () => (await queriesOf(url)).length === 0)
  })

  it('where the server lets in fewer connections than wanted, those are waited for', async () => {
    await query(url, `CREATE ROLE narrow LOGIN CONNECTION LIMIT 2 IN ROLE pg_read_all_data`)
    const theirs = new URL(url)
    theirs.username = 'narrow'
    reader = await openOwnPostgresReader([theirs.href], chainId, { connections: 8 })
    const store = reader
    const counts = await Promise.all(
      Array.from({ length: 50 }, () => withSnapshot(store, snapshot => snapshot.countHistory(alice, count)))
    )
    expect(counts).toEqual(Array(50).fill(count))
    // They end all at once, and nobody waits for what is gone.
    const held = [await store.openSnapshot(), await store.openSnapshot()]
    const waiting = Promise.allSettled(Array.from({ length: 6 }, () => store.openSnapshot()))
    await query(url, 'ALTER ROLE narrow NOLOGIN')
    for (const pid of await queriesOf(url)) await query(url, 'SELECT pg_terminate_backend($1)', [pid])
    expect((await waiting).map(({ status }) => status)).toEqual(Array(6).fill('rejected'))
    for (const snapshot of held) await snapshot.close()
    await store.close()
    await query(url, 'DROP ROLE narrow')
  })

  it('connections that nobody uses are closed', async () => {
    const store = await open({ keptMs: 20 })
    await Promise.all([1, 2, 3].map(() => withSnapshot(store, snapshot => readHistory(snapshot, alice))))
    await eventually('no connection is left', async () => (await queriesOf(url)).length === 0)
  })

  it('a record that is missing is an error, never a shorter list', async () => {
    const store = await open()
    await query(url, `DELETE FROM chain_data_${chainId}.tx WHERE id = $1`, [2 * 65_536 + 7])
    const chunks = (await store.openSnapshot()).records(alice)
    await expect(gather(idsOf(chunks))).rejects.toThrow('a record of block 2: transaction 7 is missing')
  })

  it('of a hash that is listed twice the later place is found, and no other hash with the same first bytes', async () => {
    const hash = hashOf('tx 1/5')
    const alike: Hash = `0x${hash.slice(2, -2)}${hash.endsWith('00') ? '01' : '00'}`
    const names: readonly (readonly Hash[])[] = [[], [hash, hashOf('other')], [], [alike], [hash]]
    const database = await createTestDatabase()
    const writer = await openPostgresWriter(database, testIdentity)
    const plans = names.map((hashes, block) =>
      hashes.map((_, i) => ({ name: `${block}/${i}`, parties: [alice] }))
    )
    for (const [number, block] of buildChain(plans).entries()) {
      const transactions = block.transactions.map((each, i): IndexedTransaction => {
        const { transaction } = each
        return { ...each, transaction: { ...transaction, hash: names[number]?.[i] ?? transaction.hash } }
      })
      await commitChain(writer, [{ ...block, transactions }])
    }
    await writer.close()
    const own = await openOwnPostgresReader([database], chainId)
    expect(await withSnapshot(own, snapshot => snapshot.lookUpHash(hash))).toEqual({
      kind: 'confirmed',
      position: { blockNumber: 4, index: 0 }
    })
    expect(await withSnapshot(own, snapshot => snapshot.lookUpHash(alike))).toEqual({
      kind: 'confirmed',
      position: { blockNumber: 3, index: 0 }
    })
    await own.close()
  })

  it('a page takes three round trips, and at most two more after a commit', async () => {
    const store = await open()
    const trips = countTrips()
    const tripsOfPage = async () => {
      const before = trips.count()
      const snapshot = await store.openSnapshot({ historyOf: alice })
      await snapshot.marks()
      await snapshot.indexedRange()
      expect(await readHistory(snapshot, alice, { limit: 100 })).toHaveLength(100)
      await snapshot.close()
      return trips.count() - before
    }
    expect(await tripsOfPage()).toBe(3)
    const writer = await openPostgresWriter(url, testIdentity)
    await commitChain(writer, buildChain([[]], { parent: blocks[4]!.ref }))
    await writer.close()
    // What was asked along with the view may still be under way when the new runs are asked for.
    expect(await tripsOfPage()).toBeLessThanOrEqual(5)
    expect(await tripsOfPage()).toBe(3)
    trips.stop()
  })

  it('another chain in the schema is refused by name', async () => {
    await fill(url, { ...testIdentity, chainId: 5 })
    await query(url, `DROP SCHEMA chain_data_${chainId} CASCADE`)
    await query(url, `ALTER SCHEMA chain_data_5 RENAME TO chain_data_${chainId}`)
    await expect(open()).rejects.toThrow(`the store holds chain 5, chain ${chainId} was asked for`)
  })

  it('a store that is dropped and made anew is read on without a restart', async () => {
    const store = await open()
    await query(url, `DROP SCHEMA chain_data_${chainId} CASCADE`)
    await withSnapshot(store, async snapshot => expect(await snapshot.identity()).toBeUndefined())
    await fill(url)
    await withSnapshot(store, async snapshot =>
      expect(await readHistory(snapshot, alice)).toHaveLength(count)
    )
  })

  it('a table that gets another column is read on without a restart', async () => {
    const store = await open()
    await query(url, `ALTER TABLE chain_data_${chainId}.meta ADD COLUMN later bigint`)
    await withSnapshot(store, async snapshot =>
      expect(await readHistory(snapshot, alice)).toHaveLength(count)
    )
  })

  it('a user without rights is told at the start, without the URL', async () => {
    await query(url, 'CREATE ROLE stranger LOGIN')
    const strangersUrl = url.replace('postgres@', 'stranger:secret@')
    const opening = openOwnPostgresReader([strangersUrl], chainId)
    await expect(opening).rejects.toThrow(/permission denied/)
    await expect(opening).rejects.not.toThrow(/secret|stranger:|postgres:\/\//)
    await expect(opening).rejects.not.toBeInstanceOf(StoreUnavailableError)
  })
})

describe('on a server that breaks', () => {
  let postgres: Postgres
  beforeAll(async () => {
    postgres = await startPostgres()
    url = await postgres.createDatabase()
    await fill(url)
    return () => postgres.stop()
  })

  it('answers are right or say that the store is away, while connections are cut under load', async () => {
    const store = await open({ connections: 4 })
    let isOver = false
    const outcomes = { right: 0, away: 0 }
    const ask = async () => {
      while (!isOver) {
        try {
          const ids = await withSnapshot(store, snapshot => gather(idsOf(snapshot.records(alice))))
          expect(ids).toHaveLength(count)
          outcomes.right++
        } catch (error) {
          if (!(error instanceof StoreUnavailableError)) throw error
          outcomes.away++
        }
      }
    }
    const asking = Array.from({ length: 6 }, ask)
    await eventually('some are cut', async () => {
      const [pid] = await queriesOf(url)
      if (pid !== undefined) await query(url, 'SELECT pg_terminate_backend($1)', [pid])
      return outcomes.away > 5 && outcomes.right > 5
    })
    isOver = true
    await Promise.all(asking)
    await withSnapshot(store, async snapshot =>
      expect(await readHistory(snapshot, alice)).toHaveLength(count)
    )
  })

  it.each(['halt', 'crash'] as const)('after a %s the next snapshot works again', async end => {
    const store = await open()
    const early = await store.openSnapshot()
    await postgres[end]()
    await expect(readHistory(early, alice)).rejects.toThrow(StoreUnavailableError)
    for (let i = 0; i < 3; i++) await expect(store.openSnapshot()).rejects.toThrow(StoreUnavailableError)
    await postgres.start()
    await withSnapshot(store, async snapshot =>
      expect(await readHistory(snapshot, alice)).toHaveLength(count)
    )
    await expect(early.pending(alice)).rejects.toThrow(StoreUnavailableError)
  })

  it('a reader may be opened while the server is away', async () => {
    await postgres.halt()
    const store = await open().finally(postgres.start)
    await withSnapshot(store, async snapshot =>
      expect(await readHistory(snapshot, alice)).toHaveLength(count)
    )
  })

  it('a connection that falls silent is given up after a bounded wait, and another one is used', async () => {
    const store = await open({ answerMs: 300 })
    const snapshot = await store.openSnapshot()
    const frozen = await queriesOf(url)
    for (const pid of frozen) process.kill(pid, 'SIGSTOP')
    try {
      await expect(snapshot.pending(alice)).rejects.toThrow(/did not answer within 300 ms/)
      await snapshot.close()
      await withSnapshot(store, async next => expect(await next.countHistory(alice, 10)).toBe(10))
    } finally {
      for (const pid of frozen) process.kill(pid, 'SIGCONT')
    }
  })

  it('a server that was never there is told without its URL', async () => {
    const nowhere = await openOwnPostgresReader(['postgres://user:secret@127.0.0.1:1/db'], chainId)
    const failure = nowhere.openSnapshot()
    await expect(failure).rejects.toBeInstanceOf(StoreUnavailableError)
    await expect(failure).rejects.not.toThrow(/secret|127\.0\.0\.1/)
    await nowhere.close()
    await expect(nowhere.openSnapshot()).rejects.toBeInstanceOf(StoreError)
  })
})

async function* idsOf(chunks: AsyncIterable<{ readonly ids: readonly number[] }>) {
  for await (const { ids } of chunks) yield ids
}

/** Counts the round trips of all connections: what is asked before an answer is there belongs to the same one. */
function countTrips() {
  const underWay = new Map<ReadConnection, number>()
  let count = 0
  const spies = (['ask', 'run'] as const).map(name => {
    const call = ReadConnection.prototype[name] as (...values: unknown[]) => Promise<never>
    return vi.spyOn(ReadConnection.prototype, name).mockImplementation(async function (
      this: ReadConnection,
      ...values: unknown[]
    ) {
      const others = underWay.get(this) ?? 0
      if (others === 0) count++
      underWay.set(this, others + 1)
      try {
        return await call.apply(this, values)
      } finally {
        underWay.set(this, (underWay.get(this) ?? 1) - 1)
      }
    })
  })
  return {
    count: () => count,
    stop: () => {
      for (const spy of spies) spy.mockRestore()
    }
  }
}
