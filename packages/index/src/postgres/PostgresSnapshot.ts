import { isDeepStrictEqual } from 'node:util'
import type { Hash } from '../model/evm.ts'
import { StoreUnavailableError } from '../platform/errors.ts'
import type { HashLookup } from '../port/history.ts'
import type { ReadTransaction } from '../runs/Transaction.ts'
import { type IndexFacts, IndexSnapshot } from '../store/IndexSnapshot.ts'
import type { SnapshotLease } from '../store/SnapshotLeases.ts'
import type { ReadConnection } from './connection.ts'
import { createReadTransaction } from './transaction.ts'

/** Chunks that were asked for when the transaction began. */
export interface AskedChunks {
  readonly searches: Parameters<ReadTransaction['find']>[0]
  readonly found: ReturnType<ReadTransaction['find']>
}

/** A transaction in which all reads see the same state, on one server. */
export interface ReadView {
  readonly schema: string
  readonly connection: ReadConnection
  readonly facts: IndexFacts
  /** No other server can know more. */
  readonly isFinalWord: boolean
  readonly asked?: AskedChunks
  /** Gives the connection back, in its own time. */
  release(): Promise<void>
}

/** Facts that a primary's view must share with a replica's to take its place. */
const lastingFacts = ['identity', 'marks', 'coverage', 'rollbacks'] as const

/** What a snapshot has done with its view. */
interface Use {
  /** Something was read besides hashes: from then on this view is the only one. */
  hasShownRows: boolean
  isOver: boolean
}

/**
 * One view of the index on one server: when that server fails, the snapshot fails. Only a hash that a replica does not know is
 * looked up on the primary, whose view then takes the place of the replica's.
 */
export class PostgresSnapshot extends IndexSnapshot {
  readonly #lease: SnapshotLease
  readonly #openPrimary: () => Promise<ReadView>
  #view: ReadView
  #use: Use
  /** Begins once. */
  #goingToPrimary: Promise<void> | undefined

  /**
   * @param view - its own from now on: released when the lease ends.
   * @param openPrimary - opens a view of the server that is written to.
   */
  constructor(view: ReadView, lease: SnapshotLease, openPrimary: () => Promise<ReadView>) {
    const use = { hasShownRows: false, isOver: false }
    super(createReads(view, lease, use), lease, view.facts, undefined)
    this.#view = view
    this.#use = use
    this.#lease = lease
    this.#openPrimary = openPrimary
  }

  override async lookUpHash(hash: Hash): Promise<HashLookup> {
    const { isFinalWord } = this.#view
    const found = await this.#lookUp(hash)
    if (found.kind === 'confirmed' || isFinalWord) return found
    await this.#lease.during(() => (this.#goingToPrimary ??= this.#goToPrimary()))
    return this.#lookUp(hash)
  }

  /** Gives the connection back. */
  async release(): Promise<void> {
    if (this.#use.isOver) return
    this.#use.isOver = true
    await this.#view.release()
  }

  /** Shows no rows. */
  #lookUp(hash: Hash): Promise<HashLookup> {
    const reads = createReads(this.#view, this.#lease, this.#use, false)
    return new IndexSnapshot(reads, this.#lease, this.#view.facts, undefined).lookUpHash(hash)
  }

  /** @throws {StoreUnavailableError} the primary does not answer, or something was shown that is different there. */
  async #goToPrimary(): Promise<void> {
    const moved = 'the snapshot cannot be read on: its replica may be behind, and the index has moved'
    if (this.#use.hasShownRows) throw new StoreUnavailableError(moved)
    await this.release()
    const view = await this.#openPrimary()
    try {
      this.#lease.check()
      const [before, after] = [this.#view.facts.meta, view.facts.meta]
      const isSame = lastingFacts.every(key => isDeepStrictEqual(after[key], before[key]))
      if (!isSame) throw new StoreUnavailableError(moved)
    } catch (error) {
      await view.release()
      throw error
    }
    this.#view = view
    this.#use = { hasShownRows: false, isOver: false }
    this.goOn(createReads(view, this.#lease, this.#use), view.facts)
  }
}

/**
 * Creates the reads of a snapshot, as long as the view is its own: a connection that was given back is another snapshot's.
 * @param isShown - what is read is shown.
 */
function createReads(
  { schema, connection, asked }: ReadView,
  lease: SnapshotLease,
  use: Use,
  isShown = true
): ReadTransaction {
  const during = <T>(read: () => Promise<T>) =>
    lease.during(async () => {
      if (use.isOver) throw new StoreUnavailableError('the view of the snapshot is lost')
      use.hasShownRows ||= isShown
      return read()
    })
  const reads = createReadTransaction(
    { ask: (statement, values) => during(() => connection.ask(statement, values)) },
    schema
  )
  if (asked === undefined) return reads
  const find: ReadTransaction['find'] = searches =>
    isDeepStrictEqual(searches, asked.searches) ? during(() => asked.found) : reads.find(searches)
  return { ...reads, find }
}
