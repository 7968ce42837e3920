import { basename, join } from 'node:path'
import { StoreError } from '../platform/errors.ts'
import { chainStore, type NamedStore } from '../store/format.ts'
import type { SqliteConnection, SqliteDriver } from './driver.ts'

/** The files of one chain inside the store's folder. */
export interface ChainFiles {
  /** The index. Appears under this name only once it is complete. */
  readonly database: string
  /** The index while it is being created. */
  readonly unfinished: string
  /** An index that was kept when another one took its place. */
  readonly aside: string
  /** Damage that readers met, a line each, until the writer takes them. */
  readonly damage: string
  /** Held by the writer for its whole life. */
  readonly lock: string
  /** The index, for messages. */
  readonly store: NamedStore
}

/** Names every file that one chain has in `folder`. SQLite adds `-wal` and `-shm` beside the database. */
export function chainFiles(folder: string, chainId: number): ChainFiles {
  const base = join(folder, `evm-${chainId}`)
  const database = `${base}.sqlite`
  return {
    database,
    unfinished: `${base}.sqlite.new`,
    aside: `${base}.kept-aside.sqlite`,
    damage: `${base}.damage`,
    lock: `${base}.lock`,
    store: chainStore(chainId, basename(database))
  }
}

/**
 * Opens a chain's file for its writer, creating it when missing.
 *
 * Write-ahead log with `synchronous = NORMAL`: a killed process loses nothing it has committed, a lost machine at most
 * the newest commits, and since rows and cursor share a commit the index then simply continues from an earlier block.
 */
export function openForWriting(driver: SqliteDriver, path: string): SqliteConnection {
  return open(driver, path, connection => {
    const [row] = connection.prepare<{ journal_mode: string }>('PRAGMA journal_mode = WAL').all([])
    if (row?.journal_mode !== 'wal') {
      throw new StoreError(
        `the folder's file system does not support SQLite's write-ahead log (got "${row?.journal_mode}"): use a local disk`
      )
    }
    connection.exec(`
      PRAGMA synchronous = NORMAL;
      PRAGMA cache_size = -65536;
      PRAGMA wal_autocheckpoint = 4000;
      PRAGMA journal_size_limit = 67108864;
      PRAGMA temp_store = MEMORY;
    `)
  })
}

/** Opens an existing file for reading. Not the read-only mode: the first reader after a crash replays the log. */
export function openForReading(driver: SqliteDriver, path: string): SqliteConnection {
  return open(driver, path, connection =>
    connection.exec('PRAGMA query_only = ON; PRAGMA cache_size = -8192')
  )
}

function open(
  driver: SqliteDriver,
  path: string,
  prepare: (connection: SqliteConnection) => void
): SqliteConnection {
  // Checkpoints and recoveries of other connections are short.
  const connection = driver.open(path, { busyTimeoutMs: 5_000 })
  try {
    prepare(connection)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/** Writes the write-ahead log into the file, and closes the connection. */
export function takeInLog(connection: SqliteConnection): void {
  try {
    connection.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get([])
  } finally {
    connection.close()
  }
}
