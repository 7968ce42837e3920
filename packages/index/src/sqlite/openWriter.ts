import { rename } from 'node:fs/promises'
import { StoreError } from '../platform/errors.ts'
import { makeFolder } from '../platform/makeFolder.ts'
import type { ChainIdentity } from '../port/status.ts'
import type { StoreWriter } from '../port/writer.ts'
import { defaultRunLayout } from '../runs/RunWriter.ts'
import { defaultLogLayout } from '../store/ChangeLog.ts'
import { IndexWriter, type WriterLayout } from '../store/IndexWriter.ts'
import { readMeta, writeIdentity } from '../store/meta.ts'
import { RunEngine, type RunEngineLayout } from '../store/RunEngine.ts'
import { checkIdentity } from '../store/rows.ts'
import { createFileCheck } from './checkpointedFile.ts'
import { takeDamageFile } from './damageFile.ts'
import type { SqliteDriver } from './driver.ts'
import { indexTables } from './indexTables.ts'
import { keepAside, removeDatabase } from './keepAside.ts'
import { loadSqliteDriver } from './loadDriver.ts'
import { acquireWriterLock } from './lock.ts'
import { createFormatCheck, makeTables } from './makeTables.ts'
import { type ChainFiles, chainFiles, openForReading, openForWriting } from './open.ts'
import { hasContent, lostIndex, trackFiles } from './openFiles.ts'
import { createReadTransaction, createWritableStore } from './transaction.ts'

/** How the writer lays out what it stores; readers find it in the file. */
interface Layout extends RunEngineLayout, WriterLayout {}

/** Default of a server. */
const defaultLayout: Layout = {
  ...defaultRunLayout,
  maxRuns: 32,
  mergeAfterMs: 250,
  keepFirstSeenBlocks: 256,
  ...defaultLogLayout
}

/** All optional; the defaults are what a server wants. */
export interface SqliteWriterOptions extends Partial<Layout> {
  readonly driver?: SqliteDriver
  /** How long to wait for another writer of the same chain to end. Default 2000. */
  readonly lockWaitMs?: number
  /** Ends that waiting; the reason is thrown. */
  readonly signal?: AbortSignal
  /** An index of another genesis block is kept aside; absent: it is refused. */
  readonly keepsOtherAside?: boolean
  /** The index was there before: a missing one is not made anew. */
  readonly mustExist?: boolean
}

const defaultLockWaitMs = 2000

/**
 * Opens the index of one chain for writing, in the file `evm-<chainId>.sqlite` of `folder`; makes both when missing.
 * @throws {StoreInUseError} another writer has it.
 * @throws {StoreLostError} there is none, and it must exist. Calls of the writer throw it while its files are not at their paths.
 * @throws {StoreError} it holds another chain; its format is that of another build; there is
 *   no SQLite driver; the disk refuses.
 * @remarks Its calls block the calling thread: use it in a worker. Keep it reachable until it is closed: collected as
 *   garbage, it takes its lock along.
 */
export async function openSqliteWriter(
  folder: string,
  identity: ChainIdentity,
  options: SqliteWriterOptions = {}
): Promise<StoreWriter> {
  const { driver = loadSqliteDriver(), lockWaitMs = defaultLockWaitMs, signal, ...rest } = options
  const { keepsOtherAside = false, mustExist = false, ...layout } = rest
  const files = chainFiles(folder, identity.chainId)
  const requireIndex = () => {
    if (mustExist && !hasContent(files.database)) throw lostIndex()
  }
  requireIndex()
  await requireFolder(folder)
  const lock = await acquireWriterLock(driver, files.lock, lockWaitMs, signal).catch((error: unknown) => {
    requireIndex()
    throw error
  })
  try {
    requireIndex()
    if (hasContent(files.database)) requireOwnFormat(driver, files)
    if (keepsOtherAside && (await isOfOtherGenesis(driver, files, identity))) await keepAside(driver, files)
    if (!hasContent(files.database)) await createDatabase(driver, files, identity)
    const connection = openForWriting(driver, files.database)
    try {
      // After the last transaction of a writer whose lock file was deleted: it begins no other one from here on.
      const { identity: stored } = await createWritableStore(connection).write(readMeta)
      checkIdentity(stored, identity, files.aside)
      const whole = { ...defaultLayout, ...layout }
      const isOwn = createFileCheck(driver, connection, files.database)
      const guarded = { ...connection, guard: trackFiles(files, isOwn) }
      const store = createWritableStore(guarded, () => lock.release())
      const takeDamage = () => takeDamageFile(files.damage)
      return new IndexWriter(new RunEngine(store, stored.chainId, takeDamage, whole), whole)
    } catch (error) {
      connection.close()
      throw error
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

/** Over a connection that changes nothing: a file of another build stays as it is. */
function requireOwnFormat(driver: SqliteDriver, files: ChainFiles): void {
  const connection = openForReading(driver, files.database)
  try {
    createFormatCheck(connection, indexTables, files.store)()
  } finally {
    connection.close()
  }
}

async function isOfOtherGenesis(
  driver: SqliteDriver,
  files: ChainFiles,
  wanted: ChainIdentity
): Promise<boolean> {
  if (!hasContent(files.database)) return false
  const connection = openForWriting(driver, files.database)
  try {
    const { chainId, genesisHash } = (await readMeta(createReadTransaction(connection))).identity
    return chainId === wanted.chainId && genesisHash !== wanted.genesisHash
  } finally {
    connection.close()
  }
}

async function requireFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder)
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown reason'
    throw new StoreError(`the store's folder cannot be created: ${reason}`, {}, { cause })
  }
}

/** Under another name first: a reader that finds the file finds it complete, whenever the process dies. */
async function createDatabase(
  driver: SqliteDriver,
  files: ChainFiles,
  identity: ChainIdentity
): Promise<void> {
  await removeDatabase(files.unfinished)
  const connection = openForWriting(driver, files.unfinished)
  try {
    makeTables(connection, indexTables, files.store)
    await createWritableStore(connection).write(transaction => writeIdentity(transaction, identity))
    // Into the file with everything: the log does not move along.
    connection.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get([])
  } finally {
    connection.close()
  }
  // A log that a crash left without its file would be taken for that of the new one.
  await removeDatabase(files.database)
  await rename(files.unfinished, files.database)
  await removeDatabase(files.unfinished)
}
