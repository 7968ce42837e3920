import type { ChainIdentity } from '../port/status.ts'
import type { FencedWriter, StoreWriter } from '../port/writer.ts'
import { defaultRunLayout } from '../runs/RunWriter.ts'
import { defaultLogLayout } from '../store/ChangeLog.ts'
import { chainStore } from '../store/format.ts'
import { IndexWriter, type WriterLayout } from '../store/IndexWriter.ts'
import { checkMeta, readMeta, writeIdentity } from '../store/meta.ts'
import { RunEngine, type RunEngineLayout } from '../store/RunEngine.ts'
import { checkIdentity, type MetaRow } from '../store/rows.ts'
import { distribute } from './citus.ts'
import { listenForDamage } from './damageChannel.ts'
import type { Client } from './driver.ts'
import { connect, drop, noSuchDatabase, sqlStateOf, toStoreError } from './driver.ts'
import { indexTables } from './indexTables.ts'
import { hasSchema, keepAside } from './keepAside.ts'
import { beginTerm, takeLeadership } from './lock.ts'
import { makeTables } from './makeTables.ts'
import { asideSchema, chainSchema } from './schema.ts'
import { lostSchema, WriterSession } from './session.ts'
import { createWritableStore } from './transaction.ts'

/** How the writer lays out what it stores. */
interface Layout extends RunEngineLayout, WriterLayout {}

/** All optional; the defaults are what a server wants. */
export interface PostgresWriterOptions extends Partial<Layout> {
  /** How long to wait for another writer of the same chain to end. Default 2000. */
  readonly lockWaitMs?: number
  /** Ends that waiting; the reason is thrown. */
  readonly signal?: AbortSignal
  /**
   * A writer elsewhere that was silent for so long is fenced by the one that waits for its lock. Default 15 s. Set it alike
   * for all processes: a living writer sends several heartbeats within it.
   */
  readonly silentMs?: number
  /** An index of another genesis block is kept aside; absent: it is refused. */
  readonly keepsOtherAside?: boolean
  /** The index was there before: a missing one is not made anew. */
  readonly mustExist?: boolean
  /** Called when a writer was fenced. */
  onFenced?(fenced: FencedWriter): void
}

const defaultLayout: Layout = {
  ...defaultRunLayout,
  // A read asks 64 runs at once.
  maxRuns: 64,
  mergeAfterMs: 250,
  keepFirstSeenBlocks: 256,
  ...defaultLogLayout
}
const defaultLockWaitMs = 2_000
const defaultSilentMs = 15_000
/** Heartbeats within `silentMs`. */
const heartbeatsInSilence = 5

/**
 * Opens the index of one chain for writing, in the schema `chain_data_<chainId>` of the database; makes it when missing.
 * There is one writer of a chain at a time, among all machines: the next one waits until it has ended or is found dead.
 *
 * @param url - of the primary. It may hold a password and is in no message.
 * @throws {StoreInUseError} another writer has it.
 * @throws {StoreUnavailableError} the server is away.
 * @throws {StoreLostError} there is none, and it must exist. Calls of the writer throw it while its tables are gone.
 * @throws {StoreError} it holds another chain; its format is that of another build; the user may not make it.
 * @remarks A writer that has lost its connection fails from then on with {@link StoreUnavailableError}: open another one.
 */
export async function openPostgresWriter(
  url: string,
  identity: ChainIdentity,
  options: PostgresWriterOptions = {}
): Promise<StoreWriter> {
  const { lockWaitMs = defaultLockWaitMs, silentMs = defaultSilentMs, signal, onFenced, ...rest } = options
  const { keepsOtherAside = false, mustExist = false, ...layout } = rest
  const { chainId } = identity
  const client = await connect(url, 'writer').catch((error: unknown) => {
    throw mustExist && sqlStateOf(error) === noSuchDatabase ? lostSchema(error) : error
  })
  try {
    const report = onFenced === undefined ? {} : { onFenced }
    await takeLeadership(client, chainId, { lockWaitMs, silentMs, signal, ...report })
    if (mustExist && !(await hasSchema(client, chainSchema(chainId)))) throw lostSchema()
    await makeIndex(client, chainId)
    if (keepsOtherAside && (await isOfOtherGenesis(client, identity))) await beginAnew(client, chainId)
    const term = await beginTerm(client)
    const session = new WriterSession(client, term, silentMs / heartbeatsInSilence)
    return await openIndex(client, session, identity, { ...defaultLayout, ...layout })
  } catch (error) {
    drop(client)
    signal?.throwIfAborted()
    throw toStoreError(error)
  }
}

async function openIndex(
  client: Client,
  session: WriterSession,
  identity: ChainIdentity,
  layout: Layout
): Promise<StoreWriter> {
  const { chainId } = identity
  await session.use(() => client.query(prepareSession))
  const store = createWritableStore(session, chainId)
  const stored = await store.write(async transaction => {
    if ((await transaction.all('SELECT id FROM meta')).length === 0)
      await writeIdentity(transaction, identity)
    return readMeta(transaction)
  })
  checkIdentity(stored.identity, identity, asideSchema(chainId))
  const takeDamage = await session.use(() => listenForDamage(client, chainId))
  return new IndexWriter(new RunEngine(store, chainId, takeDamage, layout), layout)
}

async function isOfOtherGenesis(client: Client, { chainId, genesisHash }: ChainIdentity): Promise<boolean> {
  const { rows } = await client.query<MetaRow>('SELECT * FROM meta')
  if (rows.length === 0) return false
  const { identity } = checkMeta(rows[0])
  return identity.chainId === chainId && identity.genesisHash !== genesisHash
}

/** Terms go on from those of the index that is kept aside, so that none of its writers is taken for one of the new index. */
async function beginAnew(client: Client, chainId: number): Promise<void> {
  await keepAside(client, chainId)
  await makeIndex(client, chainId)
  // Two statements: the two schemas may be on different nodes.
  const { rows } = await client.query(`SELECT term FROM ${asideSchema(chainId)}.leader`)
  await client.query('UPDATE leader SET term = $1', [rows[0]?.term])
}

async function makeIndex(client: Client, chainId: number): Promise<void> {
  const schema = chainSchema(chainId)
  await makeTables(client, schema, indexTables, chainStore(chainId, schema))
  await distribute(client, schema)
}

/** A writer that is cut off between two statements must not keep its locks. It hears of warnings, and of nothing less. */
const prepareSession = "SET idle_in_transaction_session_timeout = '60s'; SET client_min_messages = 'warning'"
