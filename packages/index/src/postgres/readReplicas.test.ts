import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { buildChain, hashOf, people } from '../../test/buildChain.ts'
import { commitChain } from '../../test/commitChain.ts'
import { expectedEvents } from '../../test/expectedHistory.ts'
import { openOwnPostgresReader } from '../../test/openOwnPostgresReader.ts'
import { gather, readHistory, withSnapshot } from '../../test/readAll.ts'
import { testIdentity } from '../../test/store.contract.ts'
import { eventually } from '../../test/support/eventually.ts'
import { type Postgres, replicaRole, startPostgres } from '../../test/support/startPostgres.ts'
import type { Hash } from '../model/evm.ts'
import { StoreUnavailableError } from '../platform/errors.ts'
import type { StoreReader } from '../port/store.ts'
import type { StoreWriter } from '../port/writer.ts'
import { connect } from './driver.ts'
import { openPostgresWriter } from './openWriter.ts'

const { chainId } = testIdentity
const alice = people[3] ?? '0x'
const nameOf = (number: number) => `tx ${number}`
/** One transaction of alice in each. */
const blocks = buildChain(Array.from({ length: 40 }, (_, i) => [{ name: nameOf(i), parties: [alice] }]))
const refOf = (number: number) => blocks[number]?.ref ?? { number: -1, hash: '0x' as Hash }

let primary: Postgres
let replica: Postgres
let url: string
let replicaUrl: string
let writer: StoreWriter
let reader: StoreReader

async function query(database: string, sql: string) {
  const client = await connect(database, 'check')
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

const conflictWithRecovery = '40001'

/** What is replayed at once may break off the very statement that let it go on. */
async function letReplicaGoOn(): Promise<void> {
  try {
    await query(replicaUrl, 'SELECT pg_wal_replay_resume()')
  } catch (error) {
    if ((error as { code?: unknown }).code !== conflictWithRecovery) throw error
  }
  const [row] = await query(replicaUrl, 'SELECT pg_is_wal_replay_paused() AS is_paused')
  expect(row?.is_paused).toBe(false)
}

const heightOn = async (reads: StoreReader) =>
  withSnapshot(reads, async snapshot => (await snapshot.indexedRange())?.to.number)
/** Whether connections for queries are open to this server, and how many of them within a snapshot. */
const queriesAt = async (database: string) => {
  const rows = await query(
    database,
    `SELECT pid, state FROM pg_stat_activity
     WHERE application_name = 'chain-data queries' AND datname = current_database()`
  )
  return rows.map(({ pid, state }) => ({ pid: Number(pid), isInSnapshot: state === 'idle in transaction' }))
}
const snapshotsAt = async (database: string) =>
  (await queriesAt(database)).filter(({ isInSnapshot }) => isInSnapshot).length
/** All that is written is on the replica, too. */
async function caughtUp(askedOf = replicaUrl): Promise<void> {
  const [at] = await query(url, 'SELECT pg_current_wal_flush_lsn()::text AS lsn')
  await eventually('the replica has caught up', async () => {
    const [row] = await query(askedOf, `SELECT pg_last_wal_replay_lsn() >= '${at.lsn}' AS is`)
    return row.is
  })
}
/** From now on nothing that is written shows on the replica. */
const holdReplica = async () => {
  await caughtUp()
  await query(replicaUrl, 'SELECT pg_wal_replay_pause()')
  await eventually('the replay is held', async () => {
    const [row] = await query(replicaUrl, 'SELECT pg_get_wal_replay_pause_state() AS state')
    return row.state === 'paused'
  })
}

beforeAll(async () => {
  primary = await startPostgres({ settings: { synchronous_commit: 'on' } })
  replica = await primary.startReplica({ max_standby_streaming_delay: '0' })
  return async () => {
    await replica.stop()
    await primary.stop()
  }
})
beforeEach(async () => {
  url = await primary.createDatabase()
  replicaUrl = replica.urlOfSame(url)
  writer = await openPostgresWriter(url, testIdentity)
  await commitChain(writer, blocks.slice(0, 5))
  await writer.markSettled()
  await caughtUp(replica.urlOfSame('postgres://host/postgres'))
  reader = await openOwnPostgresReader([url, replicaUrl], chainId, {
    replicaRetryMs: 50,
    maxLagMs: 3_600_000
  })
})
afterEach(async () => {
  await reader.close()
  await writer.close().catch(() => {})
})

it('queries are asked of the replica, and none of the primary', async () => {
  await withSnapshot(reader, async snapshot => {
    expect(await readHistory(snapshot, alice)).toHaveLength(5)
    for await (const { ids, missing } of snapshot.auditedRecords(alice)) {
      expect({ count: ids.length, missing }).toEqual({ count: 5, missing: [] })
    }
    expect(await gather(snapshot.accountEvents(alice))).toEqual(expectedEvents(blocks.slice(0, 5), alice))
    expect(await snapshot.blockRef(4)).toEqual(refOf(4))
    expect(await snapshotsAt(replicaUrl)).toBe(1)
  })
  expect(await queriesAt(url)).toEqual([])
})

it('a replica that is behind what has been shown is passed over, until it has caught up', async () => {
  await holdReplica()
  await commitChain(writer, blocks.slice(5, 7))
  // It has shown no more than the replica has.
  expect(await heightOn(reader)).toBe(4)
  await withSnapshot(reader, async snapshot => {
    const position = { blockNumber: 6, index: 0 }
    // Only the primary knows this one, and the whole snapshot is there from now on.
    expect(await snapshot.lookUpHash(hashOf(nameOf(6)))).toEqual({ kind: 'confirmed', position })
    expect(await readHistory(snapshot, alice, { olderThan: position })).toHaveLength(6)
    expect(await readHistory(snapshot, alice)).toHaveLength(7)
  })
  for (let i = 0; i < 5; i++) expect(await heightOn(reader)).toBe(6)
  // A rollback counts more than a height.
  await writer.rollbackTo(refOf(2))
  await eventually('the rollback shows', async () => (await heightOn(reader)) === 2)
  for (let i = 0; i < 5; i++) expect(await heightOn(reader)).toBe(2)
  await letReplicaGoOn()
  await eventually('the replica is asked again', () =>
    withSnapshot(reader, async snapshot => {
      expect((await snapshot.indexedRange())?.to.number).toBe(2)
      return (await snapshotsAt(replicaUrl)) === 1
    })
  )
})

it('a replica that is late is passed over although nothing newer has been shown', async () => {
  const current = await openOwnPostgresReader([url, replicaUrl], chainId, { maxLagMs: 300 })
  await eventually('the replica is asked while it is current', async () => {
    await writer.report({ phase: 'following', poolCovered: true })
    return withSnapshot(current, async () => (await snapshotsAt(replicaUrl)) === 1)
  })
  await holdReplica()
  await commitChain(writer, blocks.slice(5, 7))
  await eventually('the primary is asked', async () => (await heightOn(current)) === 6)
  await current.close()
  await letReplicaGoOn()
})

it('what a replica calls removed or unknown is asked of the primary', async () => {
  await writer.rollbackTo(refOf(2))
  await writer.markSettled()
  await holdReplica()
  const parent = refOf(2)
  await commitChain(writer, buildChain([[], [{ name: nameOf(4), parties: [alice] }]], { parent, fork: 'b' }))
  expect(await withSnapshot(reader, snapshot => snapshot.lookUpHash(hashOf(nameOf(4))))).toEqual({
    kind: 'confirmed',
    position: { blockNumber: 4, index: 0 }
  })
  await withSnapshot(reader, async snapshot => {
    const found = await Promise.all([nameOf(4), nameOf(3)].map(name => snapshot.lookUpHash(hashOf(name))))
    expect(found.map(({ kind }) => kind)).toEqual(['confirmed', 'reorged'])
  })
  const lookUp = (name: string) => withSnapshot(reader, snapshot => snapshot.lookUpHash(hashOf(name)))
  expect(await lookUp(nameOf(3))).toEqual({ kind: 'reorged', commonAncestor: parent })
  expect(await lookUp('never')).toEqual({ kind: 'unknown' })
  await letReplicaGoOn()
})

it('a snapshot does not go over to a primary that says something else than it has said', async () => {
  const snapshot = await reader.openSnapshot()
  expect((await snapshot.marks()).settled).toBe(true)
  await holdReplica()
  await writer.rollbackTo(refOf(2))
  const found = snapshot.lookUpHash(hashOf(nameOf(20)))
  await expect(found).rejects.toThrow(StoreUnavailableError)
  await expect(found).rejects.toThrow(/the index has moved/)
  await snapshot.close()
  await letReplicaGoOn()
})

it('a snapshot goes over to the primary only where what it has said to be known of the blocks is known there', async () => {
  const snapshots = [await reader.openSnapshot(), await reader.openSnapshot()] as const
  for (const snapshot of snapshots) expect(await snapshot.coverage()).toEqual({})
  await holdReplica()
  await commitChain(writer, blocks.slice(5, 6))
  expect((await snapshots[0].lookUpHash(hashOf(nameOf(5)))).kind).toBe('confirmed')
  expect(await snapshots[0].blockRef(5)).toEqual(refOf(5))
  await commitChain(
    writer,
    blocks.slice(6, 7).map(block => ({ ...block, isTraced: true }))
  )
  await expect(snapshots[1].lookUpHash(hashOf(nameOf(6)))).rejects.toThrow(/the index has moved/)
  for (const snapshot of snapshots) await snapshot.close()
  await letReplicaGoOn()
})

it('a snapshot that has handed out rows does not go over to the primary', async () => {
  await withSnapshot(reader, async snapshot => {
    expect(await readHistory(snapshot, alice)).toHaveLength(5)
    await expect(snapshot.lookUpHash(hashOf('never'))).rejects.toThrow(/the index has moved/)
  })
  await withSnapshot(reader, async snapshot => {
    expect(await readHistory(snapshot, alice)).toHaveLength(5)
    for (const { pid } of await queriesAt(replicaUrl)) {
      await query(replicaUrl, `SELECT pg_terminate_backend(${pid})`)
    }
    await expect(snapshot.pending(alice)).rejects.toThrow(StoreUnavailableError)
  })
})

it('a query that conflicts with what the replica has to replay fails, and the next snapshot is read', async () => {
  await withSnapshot(reader, async snapshot => {
    expect((await snapshot.marks()).backfilled).toBe(false)
    // Versions of a row that the snapshot still sees are removed.
    await writer.report({ phase: 'following', poolCovered: true })
    await writer.report({ phase: 'following', poolCovered: true })
    await query(url, `VACUUM chain_data_${chainId}.writer_report`)
    await eventually('the replica has ended the snapshot', async () => (await snapshotsAt(replicaUrl)) === 0)
    await expect(readHistory(snapshot, alice)).rejects.toMatchObject({ retryable: true })
  })
  expect(await withSnapshot(reader, snapshot => readHistory(snapshot, alice))).toHaveLength(5)
})

it('while a replica is away the primary answers, and the replica again once it is back', async () => {
  await replica.crash()
  for (let i = 0; i < 5; i++) expect(await heightOn(reader)).toBe(4)
  await replica.start()
  await eventually('the replica is asked again', () =>
    withSnapshot(reader, async () => (await snapshotsAt(replicaUrl)) === 1)
  )
})

it('while the primary is away the replica answers what it knows, and nothing is called unknown', async () => {
  await writer.close()
  await primary.halt()
  await withSnapshot(reader, async snapshot => expect(await readHistory(snapshot, alice)).toHaveLength(5))
  const lookUp = (name: string) => withSnapshot(reader, snapshot => snapshot.lookUpHash(hashOf(name)))
  expect(await lookUp(nameOf(3))).toMatchObject({ kind: 'confirmed' })
  await expect(lookUp('never')).rejects.toThrow(StoreUnavailableError)
  await primary.start()
})

// The last one: afterwards there is no replica any more.
it('a replica that is promoted has the last word while its primary is away, also where it has less than was shown', async () => {
  // What the replica does not receive is lost with the primary.
  await caughtUp()
  await query(url, `ALTER ROLE ${replicaRole} NOLOGIN`)
  await query(url, 'SELECT pg_terminate_backend(pid) FROM pg_stat_replication')
  await commitChain(writer, blocks.slice(5, 7))
  await withSnapshot(reader, snapshot => snapshot.lookUpHash(hashOf(nameOf(6))))
  expect(await heightOn(reader)).toBe(6)
  await primary.crash()
  await query(replicaUrl, 'SELECT pg_promote()')
  const height = await eventually('the promoted one answers', () =>
    heightOn(reader).catch(() => false as const)
  )
  expect(height).toBe(4)
  const next = await openPostgresWriter(replicaUrl, testIdentity, { lockWaitMs: 10_000 })
  await commitChain(next, blocks.slice(height + 1, 9))
  await withSnapshot(reader, async snapshot => {
    expect((await snapshot.indexedRange())?.to.number).toBe(8)
    expect(await snapshot.lookUpHash(hashOf('never'))).toEqual({ kind: 'unknown' })
    expect(await readHistory(snapshot, alice)).toHaveLength(9)
  })
  await next.close()
  // Two that take writes: nobody keeps the promoted one up to date from now on.
  await primary.start()
  const both = await openOwnPostgresReader([url, replicaUrl], chainId, { maxLagMs: 3_600_000 })
  for (let i = 0; i < 4; i++) expect(await heightOn(both)).toBe(6)
  await both.close()
})
