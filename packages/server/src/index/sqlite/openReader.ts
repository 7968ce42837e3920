import { existsSync } from 'node:fs'
import { StoreError } from '../../platform/errors.ts'
import type { Snapshot, StoreReader } from '../port/store.ts'
import { IndexReader, type SnapshotSource } from '../shared/IndexReader.ts'
import { type SnapshotLease, SnapshotLeases } from '../shared/SnapshotLeases.ts'
import type { SqliteDriver } from './driver.ts'
import { loadSqliteDriver } from './loadDriver.ts'
import { schemaVersion } from './migrate.ts'
import { type ChainFiles, chainFiles, openForReading } from './open.ts'
import { openReadConnection, type ReadConnection } from './read.ts'
import { migrations } from './schema.ts'
import { SqliteSnapshot } from './snapshot.ts'

export interface SqliteReaderOptions {
  readonly driver?: SqliteDriver
  /** So many snapshots may be open at once; more wait until one closes. Default 64. */
  readonly maxSnapshots?: number
  /** So many connections stay open between snapshots. Default 8. */
  readonly maxIdle?: number
  /**
   * A snapshot that nothing was read from for so long is ended when another caller waits for one. Default 2 s: whoever
   * takes a long answer slowly must not keep the others from theirs.
   */
  readonly idleMs?: number
  /**
   * A snapshot that is older is ended by its next read. Default 15 min: as long as one is open, the write-ahead log cannot
   * begin anew and grows with every commit.
   */
  readonly maxAgeMs?: number
}

/**
 * Opens the index of one chain for reading, next to its writer in whatever thread or process that runs. The file need
 * not exist yet: snapshots are empty until it does.
 * @throws {StoreError} there is no SQLite driver, or the file was made by a newer program.
 */
export async function openSqliteReader(
  folder: string,
  chainId: number,
  options: SqliteReaderOptions = {}
): Promise<StoreReader> {
  const { driver = loadSqliteDriver(), maxSnapshots = 64, maxIdle = 8 } = options
  const { idleMs = 2_000, maxAgeMs = 15 * 60_000 } = options
  const files = chainFiles(folder, chainId)
  refuseNewerSchema(driver, files, chainId)
  // Opening would create the file, which is the writer's to do.
  const connect = () => (existsSync(files.database) ? openReadConnection(driver, files, chainId) : undefined)
  const leases = new SnapshotLeases({ max: maxSnapshots, idleMs })
  return new IndexReader(leases, new SqliteSnapshots(connect, { maxIdle, maxAgeMs }))
}

/**
 * Found here and not by the first query or the indexer's thread: a server must not start over an index that it cannot
 * read. Anything else that is wrong with a file is told by whoever reads or writes it, and may pass.
 */
function refuseNewerSchema(driver: SqliteDriver, files: ChainFiles, chainId: number): void {
  const stored = storedVersion(driver, files)
  if (stored === undefined || stored <= migrations.length) return
  throw new StoreError(
    `chain ${chainId}: the store has schema version ${stored}, this program knows versions up to ${migrations.length}: run the newer program, or index into another folder`,
    { chainId, storedVersion: stored, knownVersion: migrations.length }
  )
}

function storedVersion(driver: SqliteDriver, files: ChainFiles): number | undefined {
  if (!existsSync(files.database)) return undefined
  try {
    const connection = openForReading(driver, files.database)
    try {
      return schemaVersion(connection)
    } finally {
      connection.close()
    }
  } catch {
    return undefined
  }
}

interface Kept {
  readonly maxIdle: number
  readonly maxAgeMs: number
}

/** Opens snapshots, each over a connection of its own; some connections stay open between snapshots. */
class SqliteSnapshots implements SnapshotSource {
  readonly #options: Kept
  readonly #connect: () => ReadConnection | undefined
  readonly #idle: ReadConnection[] = []
  #isClosed = false

  constructor(connect: () => ReadConnection | undefined, options: Kept) {
    this.#connect = connect
    this.#options = options
  }

  async open(lease: SnapshotLease): Promise<Snapshot | undefined> {
    const reads = this.#idle.pop() ?? this.#connect()
    if (reads === undefined) return undefined
    try {
      const snapshot = new SqliteSnapshot(reads, lease)
      lease.begin(this.#options.maxAgeMs, async () => this.#putBack(reads))
      return snapshot
    } catch (error) {
      reads.connection.close()
      throw error
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const { connection } of this.#idle.splice(0)) connection.close()
  }

  #putBack(reads: ReadConnection): void {
    try {
      reads.end()
    } catch {
      // Whatever is wrong with it, the next snapshot gets another one.
      reads.connection.close()
      return
    }
    if (this.#isClosed || this.#idle.length >= this.#options.maxIdle) reads.connection.close()
    else this.#idle.push(reads)
  }
}
