import { basename } from 'node:path'
import { setImmediate as nextLoop } from 'node:timers/promises'
import type { CacheDatabase, Statement, Steps } from '../caches/cacheDatabase.ts'
import { StoreError, StoreUnavailableError } from '../platform/errors.ts'
import { cacheStore } from '../store/format.ts'
import { inTransaction, isBusy, type SqliteStatement } from './driver.ts'
import { loadSqliteDriver } from './loadDriver.ts'
import { makeTables } from './makeTables.ts'
import { fileId } from './openFiles.ts'

/** Tables of a cache's file, and how patient its calls are. */
export interface CacheSchema {
  /** Makes its tables. */
  readonly tables: string
  /** How long a call waits for another server's transaction, which blocks the thread. */
  readonly busyMs: number
}

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
  { tables, busyMs }: CacheSchema,
  driver = loadSqliteDriver()
): CacheDatabase {
  const connection = driver.open(path, { busyTimeoutMs: openBusyMs })
  try {
    // NORMAL: a lost machine may cost the newest rows, which are read again from where they came.
    connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -8192')
    makeTables(connection, tables, cacheStore(basename(path)))
    connection.exec(`PRAGMA journal_size_limit = 16777216; PRAGMA busy_timeout = ${busyMs}`)
  } catch (error) {
    connection.close()
    throw error
  }
  const prepared = new Map<string, SqliteStatement<object>>()
  let breathedMs = performance.now()
  let isOpen = true

  function execute({ text, values }: Statement): readonly object[] {
    const statement = prepared.get(text) ?? connection.prepare<object>(text.replaceAll('$', '?'))
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
    prefix: '',
    maxRows: 16,
    skipLocked: '',
    async run(steps) {
      await breathe()
      return passing(() => execAll(steps))
    },
    async transaction(_lock, steps) {
      await nextLoop()
      return passing(() => inTransaction(connection, () => execAll(steps)))
    },
    async close() {
      if (!isOpen) return
      isOpen = false
      connection.close()
    }
  }
}

/** Metadata of all chains. Answers wait for a lock as long, so hardly at all. */
export const metadataSchema: CacheSchema = {
  busyMs: 20,
  tables: `
    -- key: SHA-256 of the address. kind: 1 content address, 2 URL. Times in milliseconds. The body is last, so that
    -- the rest can be read without it.
    CREATE TABLE document (
      id INTEGER PRIMARY KEY,
      key BLOB NOT NULL UNIQUE,
      kind INTEGER NOT NULL,
      used_at INTEGER NOT NULL,
      weight INTEGER NOT NULL,
      fetched_at INTEGER,
      is_proven INTEGER NOT NULL,
      failures INTEGER NOT NULL,
      failed_at INTEGER,
      -- CRC-32 of the document and of its failures, each with the key
      document_sum INTEGER,
      failure_sum INTEGER,
      body BLOB
    ) STRICT;
    CREATE INDEX document_used ON document (kind, used_at);

    -- Kept by the triggers, so that nobody has to add up a large table
    CREATE TABLE usage (kind INTEGER PRIMARY KEY, weight INTEGER NOT NULL) STRICT;
    INSERT INTO usage VALUES (1, 0), (2, 0);
    CREATE TRIGGER document_added AFTER INSERT ON document BEGIN
      UPDATE usage SET weight = weight + new.weight WHERE kind = new.kind;
    END;
    CREATE TRIGGER document_changed AFTER UPDATE OF weight ON document BEGIN
      UPDATE usage SET weight = weight + new.weight - old.weight WHERE kind = new.kind;
    END;
    CREATE TRIGGER document_removed AFTER DELETE ON document BEGIN
      UPDATE usage SET weight = weight - old.weight WHERE kind = old.kind;
    END;
  `
}

/** History older than the index of one chain. Another server may be writing; its transactions are short. */
export const deepHistorySchema: CacheSchema = {
  busyMs: 1_000,
  tables: `
    -- Everything from records_from and candidates_from up to the anchor, the first block of the index, is known.
    -- Ids are never used again, so that a reader notices when its account has left and come back.
    -- from_state: the gaps of its records, as bits. oldest_tx: lowest transaction that is known, NULL: none. held_sum: CRC-32 of
    -- all candidates, added up. sum: CRC-32 of the row; that of a record also names the next newer one, so that a lost one shows.
    CREATE TABLE account (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      address BLOB NOT NULL UNIQUE,
      anchor_number INTEGER NOT NULL,
      anchor_hash BLOB NOT NULL,
      records_from INTEGER NOT NULL,
      candidates_from INTEGER NOT NULL,
      used_at INTEGER NOT NULL,
      weight INTEGER NOT NULL,
      from_state INTEGER NOT NULL DEFAULT 0,
      oldest_tx INTEGER,
      held_sum INTEGER NOT NULL DEFAULT 0,
      sum INTEGER
    ) STRICT;
    CREATE INDEX account_used ON account (used_at);
    CREATE TABLE record (
      account INTEGER NOT NULL, tx INTEGER NOT NULL, hash BLOB NOT NULL, rec BLOB NOT NULL, sum INTEGER,
      PRIMARY KEY (account, tx)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX record_hash ON record (hash);
    CREATE TABLE candidate (
      account INTEGER NOT NULL, held BLOB NOT NULL, PRIMARY KEY (account, held)
    ) STRICT, WITHOUT ROWID;

    -- Accounts that have left; their rows are removed some at a time.
    CREATE TABLE dropped (account INTEGER PRIMARY KEY) STRICT;
    CREATE TRIGGER account_dropped AFTER DELETE ON account BEGIN
      INSERT INTO dropped VALUES (old.id);
    END;

    -- Kept by the triggers, so that nobody has to add up a large table.
    CREATE TABLE usage (weight INTEGER NOT NULL) STRICT;
    INSERT INTO usage VALUES (0);
    CREATE TRIGGER account_added AFTER INSERT ON account BEGIN
      UPDATE usage SET weight = weight + new.weight;
    END;
    CREATE TRIGGER account_changed AFTER UPDATE OF weight ON account BEGIN
      UPDATE usage SET weight = weight + new.weight - old.weight;
    END;
    CREATE TRIGGER account_removed AFTER DELETE ON account BEGIN
      UPDATE usage SET weight = weight - old.weight;
    END;
  `
}
