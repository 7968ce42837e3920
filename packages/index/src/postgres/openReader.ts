import type { Address } from '../model/evm.ts'
import { type Damage, IndexDamagedError, StoreUnavailableError } from '../platform/errors.ts'
import type { Snapshot, StoreReader } from '../port/store.ts'
import { addressBytes } from '../record/hexBytes.ts'
import { RunReader } from '../runs/RunReader.ts'
import type { ReadTransaction } from '../runs/Transaction.ts'
import { FactsReader } from '../store/FactsReader.ts'
import { IndexReader, type SnapshotSource } from '../store/IndexReader.ts'
import type { ChainMeta } from '../store/rows.ts'
import type { SnapshotLease } from '../store/SnapshotLeases.ts'
import { commitChannel, notifyDamage } from './notices.ts'
import { type AskedChunks, PostgresSnapshot, type ReadView } from './PostgresSnapshot.ts'
import { chainSchema } from './schema.ts'
import type { PostgresPool, ReadServer } from './servers.ts'
import { createReadTransaction } from './transaction.ts'
import { type BeginView, createBeginView } from './view.ts'

export interface PostgresReaderOptions {
  /**
   * A snapshot that is older is ended by its next read. Default 15 min: as long as one is open, the database keeps what has
   * been deleted since, on its replicas too.
   */
  readonly maxAgeMs?: number
  /** A replica that is further behind is not asked as long as the primary answers. Default 5 s. */
  readonly maxLagMs?: number
}

/** A replica that was found behind is not asked for so long. */
const behindMs = 250

/**
 * Opens the index of one chain for reading, next to its writer wherever that runs. It need not exist yet: snapshots are
 * empty until it does.
 *
 * Snapshots are on the replicas in turn, where there are any. One that does not answer, is late, or is behind what this reader
 * has shown already, is passed over for the primary; what a replica does not know is asked of the primary.
 *
 * @param pool - connections that are shared with other chains; the caller closes it after its readers.
 * @throws {StoreError} the index was made by another build, or the database refuses. That it is away for the moment is
 *   reported by the reads.
 */
export async function openPostgresReader(
  pool: PostgresPool,
  chainId: number,
  options: PostgresReaderOptions = {}
): Promise<StoreReader> {
  const { maxAgeMs = 15 * 60_000, maxLagMs = 5_000 } = options
  const reader = new IndexReader(pool.leases, new PostgresSnapshots(pool, chainId, maxAgeMs, maxLagMs))
  try {
    await (await reader.openSnapshot()).close()
  } catch (error) {
    // Damage is left to the first read, too: it is healed while a server runs.
    if (error instanceof StoreUnavailableError || error instanceof IndexDamagedError) return reader
    await reader.close()
    throw error
  }
  return reader
}

class PostgresSnapshots implements SnapshotSource {
  readonly #pool: PostgresPool
  readonly #chainId: number
  readonly #maxAgeMs: number
  readonly #maxLagMs: number
  readonly #facts: FactsReader
  readonly #beginView: BeginView
  /** Until when a replica counts as behind. */
  readonly #behind = new Map<ReadServer, number>()
  /** How far the index was that this reader has shown last, and when. */
  #shown: { readonly progress: readonly number[]; readonly atMs: number } | undefined

  constructor(pool: PostgresPool, chainId: number, maxAgeMs: number, maxLagMs: number) {
    this.#pool = pool
    this.#chainId = chainId
    this.#maxAgeMs = maxAgeMs
    this.#maxLagMs = maxLagMs
    this.#facts = new FactsReader(chainId)
    // The limit of a process that does nothing any more: others end their snapshots earlier.
    const idleMs = Math.max(1, maxAgeMs) + pool.answerMs
    this.#beginView = createBeginView(chainId, { answerMs: pool.answerMs, idleMs })
  }

  async open(lease: SnapshotLease, historyOf?: Address): Promise<Snapshot | undefined> {
    const view = await this.#openView(historyOf)
    if (view === undefined) return undefined
    const snapshot = new PostgresSnapshot(view, lease, () => this.#openPrimary())
    lease.begin(this.#maxAgeMs, () => snapshot.release())
    return snapshot
  }

  async reportDamage(damage: Damage): Promise<void> {
    const { primary } = this.#pool
    const { connection } = await primary.begin(each => notifyDamage(each, this.#chainId, damage))
    await primary.putBack(connection)
  }

  onCommit(listener: () => void): () => void {
    return this.#pool.commits.listen(commitChannel(this.#chainId), listener)
  }

  async #openView(historyOf: Address | undefined): Promise<ReadView | undefined> {
    const now = performance.now()
    const replica = this.#pool.nextReplica(each => now >= (this.#behind.get(each) ?? 0))
    const view = await this.#tryReplica(replica, historyOf, this.#maxLagMs)
    if (view !== undefined) return view
    try {
      return await this.#openOn(this.#pool.primary, historyOf)
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error
      // No newer view can be had; the lag of the index behind its chain is judged elsewhere.
      const late = await this.#tryReplica(
        this.#pool.nextReplica(() => true),
        historyOf
      )
      if (late === undefined) throw error
      return late
    }
  }

  async #openPrimary(): Promise<ReadView> {
    const view = await this.#openOn(this.#pool.primary)
    if (view !== undefined) return view
    throw new StoreUnavailableError('the primary has no index of this chain, its replica has')
  }

  /** @returns nothing when the primary is to be asked. */
  async #tryReplica(
    replica: ReadServer | undefined,
    historyOf: Address | undefined,
    maxLagMs?: number
  ): Promise<ReadView | undefined> {
    if (replica === undefined) return undefined
    try {
      const view = await this.#openOn(replica, historyOf, maxLagMs)
      if (view === undefined) this.#behind.set(replica, performance.now() + behindMs)
      return view
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error
      this.#pool.passOver(replica)
      return undefined
    }
  }

  /** @returns nothing when there is no index on this server yet, or it is late or behind what has been shown. */
  async #openOn(
    server: ReadServer,
    historyOf?: Address,
    maxLagMs = Number.POSITIVE_INFINITY
  ): Promise<ReadView | undefined> {
    const startedMs = performance.now()
    const schema = chainSchema(this.#chainId)
    let asked: AskedChunks | undefined
    const { connection, begun } = await server.begin(each => {
      asked = undefined
      return this.#beginView(each, () => {
        asked = historyOf && this.#askAhead(createReadTransaction(each, schema), historyOf)
      })
    })
    const release = () => server.putBack(connection)
    const isPrimary = server === this.#pool.primary
    const isFinalWord = isPrimary || begun?.isReplica === false
    const isLate = !isPrimary && begun !== undefined && begun.lagMs > maxLagMs
    if (begun === undefined || isLate || !this.#mayShow(begun.meta, isFinalWord, startedMs)) {
      await release()
      return undefined
    }
    try {
      const facts = await this.#facts.read(createReadTransaction(connection, schema), begun.meta)
      const { range } = begun
      return {
        ...{ schema, connection, facts: { ...facts, ...(range && { range }) }, isFinalWord, release },
        ...(asked && { asked })
      }
    } catch (error) {
      await release()
      throw error
    }
  }

  /** Asks for the chunks that a history begins in, of the runs that are known. Others are asked for where these have changed. */
  #askAhead(reads: ReadTransaction, account: Address): AskedChunks | undefined {
    let asked: AskedChunks | undefined
    const find: ReadTransaction['find'] = async searches => {
      if (searches.length === 0) return []
      const found = reads.find(searches)
      // Where it fails, so does the view.
      found.catch(() => {})
      asked = { searches, found }
      // No more than the first question is wanted of this cursor.
      return new Promise<never>(() => {})
    }
    const runs = new RunReader({ ...reads, find }, this.#chainId, this.#facts.newestFirst)
    void runs.history(addressBytes(account)).next(1)
    return asked
  }

  /**
   * Checks whether callers would not see the index go back in time; if so, they will see this. What the primary says is shown
   * whatever was shown before: after a fail-over it may have less than the one that it replaces.
   */
  #mayShow(meta: ChainMeta, isFinalWord: boolean, startedMs: number): boolean {
    const progress = progressOf(meta)
    const shown = this.#shown
    const isBack = shown !== undefined && isBefore(progress, shown.progress)
    // A view opened before the other one was shown does not prove that the index went back.
    if (!isBack || (isFinalWord && startedMs >= shown.atMs)) {
      this.#shown = { progress, atMs: performance.now() }
    }
    return !isBack || isFinalWord
  }
}

/** Rollbacks count first: an index that has removed blocks is later than a higher one that has not. Older blocks are only added. */
function progressOf({ rollbacks, head, indexedFrom = 0, marks }: ChainMeta): readonly number[] {
  return [rollbacks, head?.number ?? -1, -indexedFrom, Number(marks.backfilled)]
}

function isBefore(one: readonly number[], other: readonly number[]): boolean {
  const at = one.findIndex((value, i) => value !== other[i])
  return (one[at] ?? 0) < (other[at] ?? 0)
}
