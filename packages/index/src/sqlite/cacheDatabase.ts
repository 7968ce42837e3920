import { basename } from 'node:path'
import { setImmediate as nextLoop } from 'node:timers/promises'
import type { CacheDatabase, Statement, Steps } from '../caches/cacheDatabase.ts'
import { StoreError, StoreUnavailableError } from '../platform/errors.ts'
import { cacheStore } from '../store/format.ts'
import { inTransaction, isBusy, type SqliteStatement } from './driver.ts'
import { loadSqliteDriver } from './loadDriver.ts'
import { makeTables } from './makeTables.ts'
import { fileId } from './openFiles.ts'

/** How long a call waits for another server's transaction, which blocks the thread. Answers hardly wait for metadata. */
export const busyMs = { metadata: 20, deepHistory: 1_000 } as const

/** Another server may be making the same file right now. */
const openBusyMs = 1_000
/** A cache in memory has no file. */
const inMemory = ':memory:'
const checkEveryMs = 1_000
/** Time until other work runs. */
const sliceMs = 5
/** Texts of statements differ in their number of rows. */
const maxPrepared = 100

/**
 * Opens the file of a cache, and makes it when missing. Any number of servers may share it.
 * @throws {StoreError} it is damaged, locked, or made by another build. Calls throw it once the file is another one, or gone.
 * @remarks Its calls block the calling thread, each for one run or transaction.
 */
export function openCacheDatabase(
  path: string,
  busyTimeoutMs: number,
  driver = loadSqliteDriver()
): CacheDatabase {
  const connection = driver.open(path, { busyTimeoutMs: openBusyMs })
  try {
    // NORMAL: a lost machine may cost the newest rows, which are read again from where they came.
    connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -8192')
    makeTables(connection, tables, cacheStore(basename(path)))
    connection.exec(`PRAGMA journal_size_limit = 16777216; PRAGMA busy_timeout = ${busyTimeoutMs}`)
  } catch (error) {
    connection.close()
    throw error
  }
  const prepared = new Map<string, SqliteStatement<object>>()
  let breathedMs = performance.now()
  let isOpen = true

  function execute({ text, values }: Statement): readonly object[] {
    const statement =
      prepared.get(text) ?? connection.prepare<object>(text.replaceAll('$', '?').replaceAll('cache.', ''))
    if (prepared.size >= maxPrepared) prepared.clear()
    prepared.set(text, statement)
    if (/^\s*SELECT|\bRETURNING\b/.test(text)) return statement.all(values)
    statement.run(values)
    return []
  }

  /** Lets other work run once reads have taken some milliseconds. */
  async function breathe(): Promise<void> {
    if (performance.now() - breathedMs < sliceMs) return
    await nextLoop()
    breathedMs = performance.now()
  }

  function execAll<T>(steps: Steps<T>): T {
    let next = steps.next([])
    while (next.done !== true) next = steps.next(execute(next.value))
    return next.value
  }

  const file = fileId(path)
  let checkedMs = performance.now()

  /** A deleted file stays open and would grow where nobody reads it. */
  function checkFile(): void {
    if (path === inMemory || performance.now() - checkedMs < checkEveryMs) return
    if (fileId(path) !== file) {
      throw new StoreError(
        'the file of the cache was deleted or replaced while in use: a restart makes or uses another'
      )
    }
    checkedMs = performance.now()
  }

  function passing<T>(work: () => T): T {
    if (!isOpen) throw new StoreUnavailableError('the cache is closed')
    checkFile()
    try {
      return work()
    } catch (error) {
      if (!isBusy(error)) throw error
      throw new StoreUnavailableError('the cache is being written by another process', {}, { cause: error })
    }
  }

  return {
    maxRows: 16,
    async run(work) {
      await breathe()
      return passing(() => execAll(work()))
    },
    async transaction(_lock, work) {
      await nextLoop()
      return passing(() => inTransaction(connection, () => execAll(work())))
    },
    async close() {
      if (!isOpen) return
      isOpen = false
      connection.close()
    }
  }
}

/** Tables of every cache; those of PostgreSQL are the same. */
const tables = `
  -- Each space has a bound of its own. Ids are never used again, so that a reader notices when its entry has left and come back.
  -- Times in milliseconds. sum: CRC-32 of space, key and body. The body is last, so that the rest can be read without it.
  CREATE TABLE entry (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    space INTEGER NOT NULL,
    key BLOB NOT NULL,
    used_at INTEGER NOT NULL,
    weight INTEGER NOT NULL,
    sum INTEGER NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (key, space)
  ) STRICT;
  CREATE INDEX entry_used ON entry (space, used_at);

  -- Lists of an account, each in parts that follow each other: what the blocks from low up to above have. marks: the first bytes
  -- of the hashes of its records.
  CREATE TABLE part (
    account INTEGER NOT NULL,
    list INTEGER NOT NULL,
    low INTEGER NOT NULL,
    above INTEGER NOT NULL,
    sum INTEGER NOT NULL,
    marks BLOB NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (account, list, low)
  ) STRICT;

  -- Kept by the triggers, so that nobody has to add up a large table.
  CREATE TABLE usage (space INTEGER PRIMARY KEY, weight INTEGER NOT NULL) STRICT;
  CREATE TRIGGER entry_added AFTER INSERT ON entry BEGIN
    INSERT INTO usage VALUES (new.space, new.weight) ON CONFLICT (space) DO UPDATE SET weight = weight + excluded.weight;
  END;
  CREATE TRIGGER entry_changed AFTER UPDATE OF weight ON entry BEGIN
    UPDATE usage SET weight = weight + new.weight - old.weight WHERE space = new.space;
  END;
  CREATE TRIGGER entry_removed AFTER DELETE ON entry BEGIN
    UPDATE usage SET weight = weight - old.weight WHERE space = old.space;
    DELETE FROM part WHERE account = old.id;
  END;
`
