import {
  type BlockRef,
  type Hash,
  StoreUnavailableError,
  type StoreReader,
  type StoreWriter,
  walkIndex
} from '@chain-data/index'
import {
  commitChain,
  eventually,
  expectedEvents,
  gather,
  hashOf,
  openOwnPostgresReader,
  openPostgresWriter,
  openSqliteWriter,
  type Postgres,
  people,
  queryOnce,
  readHistory,
  replicaRole,
  startPostgres,
  temporaryFolder,
  withSnapshot
} from '@chain-data/index/test'
import { afterAll, expect, it } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { createRandom, type Random } from '../../../devnet/src/platform/createRandom.ts'
import { dumpIndex } from '../support/testStores.ts'
import { report, seed, sizes } from './chaosSizes.ts'
import { candidateText, createSeededChain } from './createSeededChain.ts'
import { questionOfAccounts, questionOfChanges, questionOfHashes, readThroughout } from './readThroughout.ts'

const identity = { chainId: 31_337, genesisHash: hashOf('genesis') }
const { chainId } = identity
const { rounds } = sizes.promotions
/** Many small runs, which are merged all the time. */
const layout = { mergeFactor: 2, unmergedBlocks: 2, pieceRows: 50, mergeAfterMs: 0 }
/** Blocks so far below the newest one are final. */
const finalDepth = 10
/** So many of all hashes, of the newest and of the removed ones are looked up on each server after each round. */
const hashesLookedUp = 60

const cleanUps: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** State of the index, as its writer knows it. */
interface State {
  readonly head: BlockRef | undefined
  /** Length of `removed` at that state. */
  readonly removed: number
  /** Newest entry of its log of changes, which no other state has; absent: not read. */
  entry?: number
}

const chain = createSeededChain(createRandom(seed))
/** Transactions that reorgs removed from the index, oldest first. */
const removed: Hash[] = []
/** States of the index in this round whose commits were acknowledged. */
let stored: State[] = []
/** State after the last commit while that is not acknowledged: PostgreSQL may have it or not. */
let inDoubt: State | undefined

const counts = { answers: 0, refusals: 0, 'states lost': 0, 'kept in doubt': 0, 'logs expired': 0 }
/** Reads the log of changes on from where it was, on whichever server. */
const changes = questionOfChanges(createRandom(seed), () => counts['logs expired']++)
let primary: Postgres
let standby: Postgres
let url: string
const at = (server: Postgres) => server.urlOfSame(url)
const openWriter = (server: Postgres) =>
  openPostgresWriter(at(server), identity, { ...layout, lockWaitMs: patient(10_000) })

it(
  `a standby that is promoted under load gives no wrong answer, and lacks no commit that waited for it (SEED=${seed})`,
  async () => {
    const settings = { synchronous_commit: 'on', max_standby_streaming_delay: '1s' }
    primary = await startPostgres({ settings })
    cleanUps.push(() => primary.stop())
    url = await primary.createDatabase()
    const writer = await openWriter(primary)
    chain.grow(40)
    await index(primary, writer, createRandom(seed))
    await writer.close()
    standby = await primary.startReplica()
    cleanUps.push(() => standby.stop())
    for (let round = 0; round < rounds; round++) {
      const roundSeed = seed * 1_000 + round
      const isSynchronous = round % 2 === 0
      const name = `round ${round}, ${isSynchronous ? 'synchronous' : 'asynchronous'}, its seed ${roundSeed}`
      await loseAndPromote(createRandom(roundSeed), isSynchronous, name)
      process.stdout.write(`chaos promotions.test.ts: ${name}: ${JSON.stringify(counts)}\n`)
    }
    report('promotions.test.ts', {
      rounds,
      blocks: chain.blocks.length,
      transactions: chain.everHashes.length,
      ...counts
    })
    const { path: folder, remove } = await temporaryFolder()
    cleanUps.push(remove)
    const straight = await openSqliteWriter(folder, identity)
    await commitChain(straight, chain.blocks)
    await straight.close()
    const promoted = await dumpIndex({ kind: 'postgres', url: at(primary), replicaUrls: [] }, chainId)
    expect(promoted.sha256).toBe((await dumpIndex({ kind: 'sqlite', folder }, chainId)).sha256)
  },
  60_000 + rounds * 60_000
)

async function loseAndPromote(random: Random, isSynchronous: boolean, name: string): Promise<void> {
  await waitForStandby()
  await setSynchronous(primary, isSynchronous)
  const readers = readThroughout(
    await openOwnPostgresReader([at(primary), at(standby)], chainId, { replicaRetryMs: 50 }),
    [questionOfAccounts(chain, random), questionOfHashes(chain, random)]
  )
  const before = readThroughout(await openOwnPostgresReader([at(primary)], chainId), [changes])
  const writer = await openWriter(primary)
  stored = [{ head: (await writer.state()).head, removed: removed.length }]
  const steps = 4 + random.below(8)
  for (let step = 0; step < steps; step++) {
    // Commits from here on are lost with the primary.
    if (!isSynchronous && step === steps - 2 && random.below(2) === 0) await cutOff()
    change(random)
    await index(primary, writer, random)
  }
  change(random)
  const last = index(primary, writer, random).catch((error: unknown) => error)
  await new Promise(resolve => setTimeout(resolve, random.below(30)))
  await primary.kill()
  const failure = await last
  if (failure !== undefined) expect(failure, name).toBeInstanceOf(StoreUnavailableError)
  await before.stop()
  await writer.close().catch(() => {})
  const newest = [stored.at(-1), inDoubt].map(state => state?.head?.hash)

  await promote(standby)
  await queryOnce(at(standby), `ALTER ROLE ${replicaRole} LOGIN`)
  await setSynchronous(standby, false)
  const next = await openWriter(standby)
  const { head } = await next.state()
  if (isSynchronous) expect(newest, `${name}, promoted at block ${head?.number}`).toContain(head?.hash)
  const promoted = await openOwnPostgresReader([at(standby)], chainId)
  goOnFrom(head, await newestEntry(promoted), name)
  const after = readThroughout(promoted, [changes])
  const answersBefore = readers.answers()
  for (let step = 0; step < 3; step++) {
    change(random)
    await index(standby, next, random)
  }
  const all = [readers, before, after]
  const faults = () => all.flatMap(each => each.faults)
  const isAnswered = () =>
    (readers.answers() > answersBefore + 3 && after.answers() > 0) || faults().length > 0
  await eventually(`answers after the promotion in ${name}`, isAnswered)
  for (const each of all) {
    await each.stop()
    counts.answers += each.answers()
    counts.refusals += each.refusals()
  }
  expect(faults(), name).toEqual([])

  // It fails to start until its last process has ended.
  const startOld = () =>
    primary.start().then(
      () => true,
      () => false
    )
  await eventually('the old primary has recovered', startOld)
  const recovered = await openOwnPostgresReader([at(primary)], chainId)
  const range = await withSnapshot(recovered, snapshot => snapshot.indexedRange())
  await recovered.close()
  expect(newest, `${name}, recovered at block ${range?.to.number}`).toContain(range?.to.hash)
  await primary.halt()
  await next.close()
  await primary.startAsReplicaOf(standby)
  ;[primary, standby] = [standby, primary]
  await waitForStandby()
  for (const server of [primary, standby]) {
    // What a standby replays may end its readers.
    const isCompared = () =>
      compare(server, name).then(
        () => true,
        error => {
          if (!(error instanceof StoreUnavailableError)) throw error
          return false
        }
      )
    await eventually(`the comparison in ${name}`, isCompared)
  }
}

/** Grows the chain; now and then its newest blocks are replaced first. */
function change(random: Random): void {
  const depth = 1 + random.below(finalDepth - 1)
  if (random.below(4) === 0) chain.replace(depth)
  chain.grow(1 + random.below(5))
}

/** Indexes up to the head of the chain, as the indexer does. */
async function index(server: Postgres, writer: StoreWriter, random: Random): Promise<void> {
  const reader = await openOwnPostgresReader([at(server)], chainId)
  try {
    await indexAll(writer, () => newestEntry(reader), random)
  } finally {
    await reader.close()
  }
}

async function indexAll(
  writer: StoreWriter,
  readEntry: () => Promise<number>,
  random: Random
): Promise<void> {
  const store = async (head: BlockRef, write: () => Promise<void>) => {
    const state: State = { head, removed: removed.length }
    inDoubt = state
    await write()
    inDoubt = undefined
    stored.push(state)
    state.entry = await readEntry()
  }
  const { head } = await writer.state()
  const ancestor = head && chain.ancestorOf(head.hash)
  if (head !== undefined && ancestor !== undefined && ancestor.hash !== head.hash) {
    removed.push(...chain.hashesBetween(ancestor.hash, head.hash))
    await store(ancestor, () => writer.rollbackTo(ancestor))
  }
  for (let next = (ancestor?.number ?? -1) + 1; next < chain.blocks.length; ) {
    const blocks = chain.blocks.slice(next, next + 1 + random.below(4))
    next += blocks.length
    await store(blocks.at(-1)!.ref, () => commitChain(writer, blocks, { finalized: next - finalDepth }))
  }
  await store(chain.blocks.at(-1)!.ref, () => writer.markSettled())
  await writer.report({ phase: 'following', head: chain.blocks.length - 1, poolCovered: true })
}

const newestEntry = (reader: StoreReader) =>
  withSnapshot(reader, async snapshot => (await snapshot.changeBounds()).newest.entry)

/** Finds the state that the promoted index is in, and forgets what came after it. */
function goOnFrom(head: BlockRef | undefined, entry: number, name: string): void {
  const states = inDoubt === undefined ? stored : [...stored, inDoubt]
  const isUnread = (state: State) => state.entry === undefined && state.head?.hash === head?.hash
  const known = states.findLastIndex(state => state.entry === entry)
  const kept = known < 0 ? states.findLastIndex(isUnread) : known
  expect(states[kept]?.head, `${name}: block ${head?.number} with entry ${entry} of the log`).toEqual(head)
  removed.length = states[kept]?.removed ?? 0
  if (kept === stored.length) counts['kept in doubt']++
  else counts['states lost'] += stored.length - 1 - kept
  inDoubt = undefined
}

/** Compares the whole index of a server with the chain. */
async function compare(server: Postgres, name: string): Promise<void> {
  const reader = await openOwnPostgresReader([at(server)], chainId)
  try {
    await compareThrough(reader, name)
  } finally {
    await reader.close()
  }
}

async function compareThrough(reader: StoreReader, name: string): Promise<void> {
  for await (const { damage } of walkIndex(reader)) expect(damage, name).toEqual([])
  const { ref } = chain.blocks.at(-1)!
  await withSnapshot(reader, async snapshot => {
    expect((await snapshot.indexedRange())?.to, name).toEqual(ref)
    expect(await snapshot.marks(), name).toMatchObject({ settled: true, degraded: false })
    for (const address of people) {
      expect(await readHistory(snapshot, address), name).toEqual(chain.historyAt(ref.hash, address))
      expect(await gather(snapshot.accountEvents(address)), name).toEqual(
        expectedEvents(chain.blocks, address)
      )
      const candidates = await gather(snapshot.holdingCandidates(address))
      expect(candidates.map(candidateText).sort(), name).toEqual(
        [...chain.candidatesAt(ref.hash, address)].sort()
      )
    }
    const every = chain.everHashes.length / hashesLookedUp
    const spread = chain.everHashes.filter((_, i) => i % Math.ceil(every) === 0)
    const newest = chain.everHashes.slice(-hashesLookedUp)
    for (const hash of [...spread, ...newest, ...removed.slice(-hashesLookedUp)]) {
      const found = await snapshot.lookUpHash(hash)
      const position = chain.positionAt(ref.hash, hash)
      if (position !== undefined) expect(found, name).toEqual({ kind: 'confirmed', position })
      else if (removed.includes(hash)) expect(found.kind, name).toBe('reorged')
      else expect(found.kind, name).toBe('unknown')
    }
  })
}

/** Waits until the standby has replayed all that was written. */
async function waitForStandby(): Promise<void> {
  const [row] = await queryOnce(at(primary), 'SELECT pg_current_wal_flush_lsn()::text AS lsn')
  await eventually('the standby has caught up', async () => {
    const [standing] = await queryOnce(at(standby), `SELECT pg_last_wal_replay_lsn() >= '${row?.lsn}' AS is`)
    return standing?.is === true
  })
}

/** Sets whether commits wait until the standby has them. */
async function setSynchronous(server: Postgres, isSynchronous: boolean): Promise<void> {
  const names = isSynchronous ? '*' : ''
  await queryOnce(at(server), `ALTER SYSTEM SET synchronous_standby_names = '${names}'`)
  await queryOnce(at(server), 'SELECT pg_reload_conf()')
  await eventually('the settings are read', async () => {
    const [row] = await queryOnce(at(server), 'SHOW synchronous_standby_names')
    return row?.synchronous_standby_names === names
  })
  // The checkpointer makes commits wait: it reads the settings anew before each checkpoint.
  await queryOnce(at(server), 'CHECKPOINT')
  if (!isSynchronous) return
  await eventually('the standby is synchronous', async () => {
    const rows = await queryOnce(at(server), 'SELECT sync_state FROM pg_stat_replication')
    return rows.length === 1 && rows[0]?.sync_state === 'sync'
  })
}

async function promote(server: Postgres): Promise<void> {
  // A statement that waits for the promotion conflicts with the log that the standby still has to replay, and is canceled.
  await queryOnce(at(server), 'SELECT pg_promote(false)')
  await eventually('the standby is promoted', async () => {
    const [row] = await queryOnce(at(server), 'SELECT pg_is_in_recovery() AS is')
    return row?.is === false
  })
}

/** Ends the replication to the standby, which keeps what it has. */
async function cutOff(): Promise<void> {
  await queryOnce(
    at(primary),
    `ALTER ROLE ${replicaRole} NOLOGIN`,
    'SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_replication'
  )
}
