import { type Damage, StoreError, StoreLostError } from '../platform/errors.ts'
import type { IndexState, Snapshot, StoreReader } from '../port/store.ts'
import { FactsReader } from '../store/FactsReader.ts'
import { IndexReader, type SnapshotSource } from '../store/IndexReader.ts'
import { type IndexFacts, IndexSnapshot, toBounds } from '../store/IndexSnapshot.ts'
import { type SnapshotLease, SnapshotLeases } from '../store/SnapshotLeases.ts'
import type { SqliteDriver } from './driver.ts'
import { loadSqliteDriver } from './loadDriver.ts'
import { appendDamage, type CommitWatch, watchCommits } from './notices.ts'
import { type ChainFiles, chainFiles, openForReading } from './open.ts'
import { fileId, hasContent, lostIndex } from './openFiles.ts'
import { openReadConnection, type ReadConnection } from './read.ts'

export interface SqliteReaderOptions {
  readonly driver?: SqliteDriver
  /** Maximum of snapshots that are open at once; more wait until one closes. Default 64. */
  readonly maxSnapshots?: number
  /** Maximum of connections that stay open between snapshots. Default 8. */
  readonly maxIdle?: number
  /**
   * A snapshot that was not read for so long is ended when another caller waits for one. Default 2 s: a caller that takes a
   * long answer slowly must not block the others.
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
 * not exist yet: snapshots are empty until it does. Once it was there, a missing one is a {@link StoreLostError}; where another
 * file takes its place, the first snapshot is one too, unless the old index was kept aside.
 * @throws {StoreError} there is no SQLite driver, or the file was made by another build.
 */
export async function openSqliteReader(
  folder: string,
  chainId: number,
  options: SqliteReaderOptions = {}
): Promise<StoreReader> {
  const { driver = loadSqliteDriver(), maxSnapshots = 64, maxIdle = 8 } = options
  const { idleMs = 2_000, maxAgeMs = 15 * 60_000 } = options
  const source = new SqliteSnapshots(driver, folder, chainId, { maxIdle, maxAgeMs })
  const reader = new IndexReader(new SnapshotLeases({ max: maxSnapshots, idleMs }), source)
  try {
    await (await reader.openSnapshot()).close()
  } catch (error) {
    // A server must not start over an index that it cannot read. Other failures are left to the first read: they may pass.
    if (error instanceof StoreError && error.context.expectedFormat !== undefined) throw error
  }
  return reader
}

/** Often enough for a chain that begins anew, and no part of the time that snapshots take. */
const checkEveryMs = 100
/** Interval of the check for commits while somebody listens: each reads one number from memory that processes share. */
const pollMs = 20
/** Listeners are called as often in any case: whether the file is still the same, snapshots find out. */
const callEveryMs = 1_000

/** What is known of the newest version. */
interface Newest {
  readonly version: number
  facts?: IndexFacts
  state?: IndexState
  /** It still was the newest one then, as `performance.now()` has it. */
  heldMs: number
}

/**
 * Opens snapshots, each over a connection of its own; some connections stay open between snapshots, as long as the index is
 * the same file: it is renamed when another one takes its place.
 */
class SqliteSnapshots implements SnapshotSource {
  readonly #files: ChainFiles
  readonly #options: { readonly maxIdle: number; readonly maxAgeMs: number }
  readonly #connect: () => ReadConnection
  readonly #commits: CommitWatch
  readonly #idle: ReadConnection[] = []
  /** The file that idle connections have open, as the file system numbers it; absent: there has been none. */
  #file: string | undefined
  /** The files that snapshots were opened of. One of them may be put back. */
  readonly #own = new Set<string>()
  /** Absent until a snapshot has shown it. */
  #newest: Newest | undefined
  #checkedMs = Number.NEGATIVE_INFINITY

  constructor(
    driver: SqliteDriver,
    folder: string,
    chainId: number,
    options: { readonly maxIdle: number; readonly maxAgeMs: number }
  ) {
    const files = chainFiles(folder, chainId)
    const facts = new FactsReader(chainId)
    this.#files = files
    this.#options = options
    this.#connect = () => openReadConnection(driver, files, facts)
    this.#commits = watchCommits(() => openForReading(driver, files.database))
  }

  async open(lease: SnapshotLease): Promise<Snapshot | undefined> {
    this.#checkFile(this.#idle.length === 0 ? 0 : checkEveryMs)
    const file = this.#file
    // Opening would create the file, which is the writer's to do.
    if (file === undefined) return undefined
    const reads = this.#idle.pop() ?? this.#connect()
    this.#own.add(file)
    try {
      reads.begin()
      const snapshot = await this.#show(reads, lease)
      lease.begin(this.#options.maxAgeMs, async () => this.#putBack(reads, file))
      return snapshot
    } catch (error) {
      reads.connection.close()
      throw error
    }
  }

  async #show({ reads, facts }: ReadConnection, lease: SnapshotLease): Promise<Snapshot> {
    const version = this.#commits.version()
    const newest = this.#newest
    if (newest?.version !== version) {
      // The commit may have come before this transaction began or after it.
      this.#newest = { version, heldMs: Number.NEGATIVE_INFINITY }
      return new IndexSnapshot(reads, lease, await facts(), undefined)
    }
    newest.facts ??= await facts()
    return new IndexSnapshot(reads, lease, newest.facts, version)
  }

  unchangedState(sinceMs: number): IndexState | undefined {
    this.#checkFile(checkEveryMs)
    const newest = this.#newest
    // No snapshot has read it since the last commit.
    if (newest?.facts?.range === undefined || this.#file === undefined) return undefined
    const { version, facts } = newest
    // A request that arrived before the last check reuses its result.
    if (newest.heldMs < sinceMs) {
      const nowMs = performance.now()
      if (this.#commits.version() !== version) return undefined
      newest.heldMs = nowMs
    }
    const { marks, coverage } = facts.meta
    const range = newest.facts.range.found
    newest.state ??= { version, marks, coverage, range, changes: toBounds(facts.meta) }
    return newest.state
  }

  onCommit(listener: () => void): () => void {
    let last = this.#tryVersion()
    let calledMs = performance.now()
    const timer = setInterval(() => {
      const version = this.#tryVersion()
      if (version === last && performance.now() - calledMs < callEveryMs) return
      last = version
      calledMs = performance.now()
      listener()
    }, pollMs).unref()
    return () => clearInterval(timer)
  }

  /** @returns absent while there is no index, or none that can be read: whoever reads it learns why. */
  #tryVersion(): number | undefined {
    try {
      return this.#file === undefined ? undefined : this.#commits.version()
    } catch {
      return undefined
    }
  }

  reportDamage(damage: Damage): Promise<void> {
    return appendDamage(this.#files.damage, damage)
  }

  close(): void {
    this.#commits.close()
    for (const { connection } of this.#idle.splice(0)) connection.close()
  }

  /**
   * Called before a connection is opened: a file that is renamed in between shows at the next check.
   * @param maxAgeMs - of the last check, which is not repeated then.
   */
  #checkFile(maxAgeMs: number): void {
    const nowMs = performance.now()
    if (nowMs - this.#checkedMs < maxAgeMs) return
    this.#checkedMs = nowMs
    const { database, aside } = this.#files
    const before = this.#file
    const file = hasContent(database) ? fileId(database) : undefined
    if (file === before) return
    this.close()
    // A server did that, for a development chain that began anew, or `chain-data reset`.
    const isKnown = file !== undefined && this.#own.has(file)
    const isExpected = before === undefined || isKnown || fileId(aside) === before
    if (file === undefined && !isExpected) throw lostIndex()
    this.#file = file
    if (!isExpected) {
      throw new StoreLostError(
        "another file is in the place of the chain's index: its writer has not reported there yet"
      )
    }
  }

  #putBack(reads: ReadConnection, file: string): void {
    try {
      reads.end()
    } catch {
      // Whatever is wrong with it, the next snapshot gets another one.
      reads.connection.close()
      return
    }
    if (file === this.#file && this.#idle.length < this.#options.maxIdle) this.#idle.push(reads)
    else reads.connection.close()
  }
}
