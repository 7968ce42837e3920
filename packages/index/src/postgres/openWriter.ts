import type { ChainIdentity } from '../port/status.ts'
import type { FencedWriter, StoreWriter } from '../port/writer.ts'
import { chainStore } from '../store/format.ts'
import { defaultLockWaitMs, isOfOtherGenesis, openIndex, type WriterOptions } from '../store/openIndex.ts'
import { distribute } from './citus.ts'
import { type Client, connect, drop, noSuchDatabase, sqlStateOf, toStoreError } from './driver.ts'
import { indexTables } from './indexTables.ts'
import { keepAside } from './keepAside.ts'
import { beginTerm, takeLeadership } from './lock.ts'
import { hasSchema, makeTables } from './makeTables.ts'
import { listenForDamage } from './notices.ts'
import { asideSchema, chainSchema } from './schema.ts'
import { lostSchema, WriterSession } from './session.ts'
import { createWritableStore } from './transaction.ts'

export interface PostgresWriterOptions extends WriterOptions {
  /**
   * A writer elsewhere that was silent for so long is fenced by the one that waits for its lock. Default 15 s. Set it alike
   * for all processes: a living writer sends several heartbeats within it.
   */
  readonly silentMs?: number
  /** Called when a writer was fenced. */
  onFenced?(fenced: FencedWriter): void
}

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
  const { lockWaitMs = defaultLockWaitMs, silentMs = 15_000, signal, onFenced, ...rest } = options
  const { keepsOtherAside = false, mustExist = false, ...layout } = rest
  const { chainId } = identity
  const client = await connect(url, 'writer').catch((error: unknown) => {
    throw mustExist && sqlStateOf(error) === noSuchDatabase ? lostSchema(error) : error
  })
  try {
    await takeLeadership(client, chainId, { lockWaitMs, silentMs, signal, onFenced })
    if (mustExist && !(await hasSchema(client, chainSchema(chainId)))) throw lostSchema()
    await makeIndex(client, chainId)
    await client.query(sessionSettings)
    const session = new WriterSession(client, await beginTerm(client), silentMs / heartbeatsInSilence)
    const store = createWritableStore(session, chainId)
    if (keepsOtherAside && (await isOfOtherGenesis(store.reads, identity))) {
      await keepAside(client, chainId)
      await makeIndex(client, chainId)
      // Terms go on, so that no earlier writer is taken for one of the new index.
      await client.query('UPDATE leader SET term = $1', [session.term])
    }
    const takeDamage = await listenForDamage(client, chainId)
    // A read asks 64 runs at once.
    const whole = { maxRuns: 64, ...layout }
    return await openIndex({ store, identity, aside: asideSchema(chainId), takeDamage, layout: whole })
  } catch (error) {
    drop(client)
    signal?.throwIfAborted()
    throw toStoreError(error)
  }
}

async function makeIndex(client: Client, chainId: number): Promise<void> {
  const schema = chainSchema(chainId)
  await makeTables(client, schema, indexTables, chainStore(chainId, schema))
  await distribute(client, schema)
}

/** A writer that is cut off between two statements must not keep its locks. It hears of warnings, and of nothing less. */
const sessionSettings = "SET idle_in_transaction_session_timeout = '60s'; SET client_min_messages = 'warning'"
