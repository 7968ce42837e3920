import { isDeepStrictEqual } from 'node:util'
import type { Address, BlockRef, Hash, HoldingCandidate, PendingTransaction } from '../../model/evm.ts'
import { StoreUnavailableError } from '../../platform/errors.ts'
import type { AuditedChunk, BlockEvents, Recount } from '../port/audit.ts'
import type { HashLookup, HistoryPart } from '../port/history.ts'
import type { ChainIdentity, IndexCoverage, IndexedRange, IndexMarks, WriterReport } from '../port/status.ts'
import type { Snapshot } from '../port/store.ts'
import { decodeAccountEvents } from '../record/accountEvents.ts'
import { addressBytes, hashBytes } from '../record/hexBytes.ts'
import { hashOfRecord, type RecordChunk, recordHeadLength } from '../record/record.ts'
import { readPartTally, tallyPlace } from '../record/tally.ts'
import { firstTransactionId, toPosition, toTransactionId } from '../record/transactionId.ts'
import {
  type HoldingColumns,
  nextChunkSize,
  type PendingColumns,
  type RefColumns,
  type ReportColumns,
  toCandidate,
  toPending,
  toRef,
  toWriterReport
} from '../shared/rows.ts'
import type { SnapshotLease } from '../shared/SnapshotLeases.ts'
import type { ReadConnection, Row } from './connection.ts'
import {
  HistoryCursor,
  type IdWindow,
  type Partitions,
  ReadWindows,
  type Stretch,
  toAuditedStretch,
  toStretch
} from './history.ts'
import { hashKeyNumber } from './literals.ts'
import type { ReadStatements, Statement } from './read.ts'
import { recountPart } from './recount.ts'
import { endOfNewest, type ViewFacts } from './view.ts'

/** A page of the usual size is one chunk. */
const firstRecords = 128
/** Longer histories are read so many at a time: each statement is planned anew, and chunks that others wait for are bounded. */
const chunkRecords = 768
const candidatesAtOnce = 500
const blocksAtOnce = 500
/** Rows of the address index that a recount takes on, unless it is told. */
const mostCounted = 5_000_000

/** A transaction in which all reads see the same state, on one server. */
export interface ReadView {
  readonly connection: ReadConnection
  readonly facts: ViewFacts
  /** No other server can know more. */
  readonly isFinalWord: boolean
  /** Gives the connection back, in its own time. */
  release(): Promise<void>
}

/** What a snapshot needs of its reader. */
export interface ViewSource {
  readonly statements: ReadStatements
  /** How the large tables are cut, up to the one that holds the newest block of `view` at least. */
  partitions(view: ReadView): Promise<Partitions>
  /**
   * A view of the server that is written to.
   * @throws {StoreUnavailableError} it does not answer, or there is no index.
   */
  openPrimary(): Promise<ReadView>
}

/** Facts that a primary's view must share with a replica's to take its place. */
const lastingFacts = ['identity', 'marks', 'coverage', 'rollbacks'] as const

/**
 * One view of the index on one server: when that server fails, the snapshot fails. Only a hash that a replica does not know is
 * looked up on the primary, whose view then takes the place of the replica's.
 */
export class PostgresSnapshot implements Snapshot {
  readonly #source: ViewSource
  readonly #lease: SnapshotLease
  /** Absent once it has been released. */
  #view: ReadView | undefined
  #facts: ViewFacts
  #hasShownRows = false

  /** @param view - its own from now on: released when the lease ends. */
  constructor(view: ReadView, source: ViewSource, lease: SnapshotLease) {
    this.#view = view
    this.#facts = view.facts
    this.#source = source
    this.#lease = lease
  }

  async indexedRange(): Promise<IndexedRange | undefined> {
    return this.#fact('range')
  }

  async marks(): Promise<IndexMarks> {
    return this.#fact('marks')
  }

  async rollbacks(): Promise<number> {
    return this.#fact('rollbacks')
  }

  async identity(): Promise<ChainIdentity> {
    return this.#fact('identity')
  }

  async writerReport(): Promise<WriterReport | undefined> {
    const [row] = await this.#rows<ReportColumns>('report', [])
    return row && toWriterReport(row)
  }

  async *records(address: Address, { olderThan, limit }: HistoryPart = {}): AsyncGenerator<RecordChunk> {
    const key = addressBytes(address)
    const windows = await this.#windows(olderThan === undefined ? undefined : toTransactionId(olderThan))
    const cursor = new HistoryCursor(windows, async ({ from, end, isWide }, count) =>
      toStretch((await this.#rows('records', [key, from, end, count], isWide))[0])
    )
    for await (const { chunk } of this.#pullAll(cursor, limit)) {
      yield { ids: chunk.ids, bytes: chunk.bytes }
    }
  }

  async countHistory(address: Address, atMost: number): Promise<number> {
    const key = addressBytes(address)
    let count = 0
    for await (const { from, end, isWide } of this.#eachWindow()) {
      if (count >= atMost) break
      const [row] = await this.#rows('count', [key, from, end, atMost - count], isWide)
      count += Number(row?.n ?? 0)
    }
    return count
  }

  async pending(address: Address): Promise<readonly PendingTransaction[]> {
    return toPending(await this.#rows<PendingColumns>('pending', [addressBytes(address)]))
  }

  async lookUpHash(hash: Hash): Promise<HashLookup> {
    const found = await this.#lookUp(hash)
    if (found.kind === 'confirmed' || this.#view?.isFinalWord) return found
    await this.#lease.during(() => this.#goToPrimary())
    return this.#lookUp(hash)
  }

  async *holdingCandidates(address: Address): AsyncGenerator<readonly HoldingCandidate[]> {
    const owner = addressBytes(address)
    const none = Buffer.alloc(0)
    let last: HoldingColumns = { contract: none, tokenId: none, standard: -1 }
    for (let isFull = true; isFull; ) {
      const { contract, tokenId, standard } = last
      const values = [owner, contract, tokenId, standard, candidatesAtOnce]
      const rows = await this.#rows<HoldingColumns>('holdings', values)
      isFull = rows.length === candidatesAtOnce
      last = rows.at(-1) ?? last
      if (rows.length > 0) yield rows.map(row => toCandidate(address, row))
    }
  }

  async coverage(): Promise<IndexCoverage> {
    return this.#fact('coverage')
  }

  async *auditedRecords(address: Address): AsyncGenerator<AuditedChunk> {
    const key = addressBytes(address)
    const cursor = new HistoryCursor(await this.#windows(), async ({ from, end, isWide }, count) =>
      toAuditedStretch((await this.#rows('audited', [key, from, end, count], isWide))[0])
    )
    for await (const { chunk } of this.#pullAll(cursor)) yield chunk
  }

  async recount(
    address: Address,
    { maxRows = mostCounted, signal }: { readonly maxRows?: number; readonly signal?: AbortSignal } = {}
  ): Promise<Recount> {
    const { talliedFrom } = this.#fact('coverage')
    const { page, offset } = tallyPlace(address)
    const [row] = await this.#rows('tally', [page])
    return recountPart(
      {
        address,
        written: row === undefined ? [0, 0, 0, 0] : readPartTally(row.rec as Buffer, offset),
        firstId: talliedFrom === undefined ? Number.POSITIVE_INFINITY : firstTransactionId(talliedFrom),
        windows: this.#eachWindow(),
        ask: async (after, below, { from, end, isWide }, limit) => {
          const values = [after.address, after.id, below, from, end, limit]
          const [found] = await this.#rows('rowsBetween', values, isWide)
          return Buffer.isBuffer(found?.rows) ? found.rows : undefined
        }
      },
      { maxRows, signal }
    )
  }

  async *accountEvents(address: Address): AsyncGenerator<readonly BlockEvents[]> {
    const key = addressBytes(address)
    let last = -1
    for (let isFull = true; isFull; ) {
      const rows = await this.#rows<EventColumns>('events', [key, last, blocksAtOnce])
      isFull = rows.length === blocksAtOnce
      last = rows.at(-1)?.blockNumber ?? last
      if (rows.length > 0)
        yield rows.map(({ blockNumber, rec }) => ({ blockNumber, events: decodeAccountEvents(rec) }))
    }
  }

  async blockRef(number: number): Promise<BlockRef | undefined> {
    const [row] = await this.#rows<RefColumns>('block', [number])
    return row && toRef(row)
  }

  async close(): Promise<void> {
    this.#lease.end('closed')
  }

  /** Gives the connection back. */
  async release(): Promise<void> {
    const view = this.#view
    this.#view = undefined
    await view?.release()
  }

  #fact<Key extends keyof ViewFacts>(key: Key): ViewFacts[Key] {
    this.#lease.check()
    return this.#facts[key]
  }

  /** Chunk after chunk, each read while the one before it is used. @param limit - at most so many rows. */
  async *#pullAll(cursor: HistoryCursor, limit = Number.MAX_SAFE_INTEGER): AsyncGenerator<Stretch> {
    let left = limit
    let wanted = Math.min(firstRecords, left)
    let coming = cursor.pull(wanted)
    for (;;) {
      const stretch = await coming
      this.#lease.check()
      if (stretch === undefined) return
      left -= stretch.rows
      const isLast = stretch.rows < wanted || left === 0
      if (!isLast) {
        // What fails then is told when it is asked for.
        const size = nextChunkSize(stretch.rows, stretch.chunk.bytes.length, chunkRecords)
        wanted = Math.min(size, left)
        coming = cursor.pull(wanted)
        coming.catch(() => {})
      }
      yield stretch
      if (isLast) return
    }
  }

  async #lookUp(hash: Hash): Promise<HashLookup> {
    const wanted = hash.toLowerCase()
    const key = hashKeyNumber(hash)
    for await (const { from, end, isWide } of this.#eachWindow()) {
      const rows = await this.#ask('hash', [key, from, end, recordHeadLength], isWide)
      const ids = rows
        .filter(({ head }) => hashOfRecord(head as Buffer) === wanted)
        .map(({ id }) => Number(id))
      // Of a hash that a broken chain lists twice, the later place is found.
      if (ids.length > 0) return { kind: 'confirmed', position: toPosition(Math.max(...ids)) }
    }
    const [ancestor] = await this.#ask<RefColumns>('reorged', [hashBytes(hash)])
    return ancestor ? { kind: 'reorged', commonAncestor: toRef(ancestor) } : { kind: 'unknown' }
  }

  /** From `before` down; everything where it is absent. */
  async #windows(before = Number.MAX_SAFE_INTEGER): Promise<ReadWindows> {
    const partitions = await this.#lease.during(() => this.#source.partitions(this.#openView()))
    return new ReadWindows(partitions, before, endOfNewest(this.#facts))
  }

  async *#eachWindow(): AsyncGenerator<IdWindow> {
    const windows = await this.#windows()
    for (let { window } = windows; window !== undefined; { window } = windows) {
      yield window
      windows.advance(0)
    }
  }

  /** Rows that are shown: from now on this view is the only one. */
  async #rows<R extends object = Row>(name: PreparedName, values: readonly unknown[], isWide = false) {
    const rows = await this.#ask<R>(name, values, isWide)
    this.#hasShownRows = true
    return rows
  }

  #ask<R extends object = Row>(
    name: PreparedName,
    values: readonly unknown[],
    isWide = false
  ): Promise<readonly R[]> {
    return this.#lease.during(async () => {
      const { connection } = this.#openView()
      const statement = this.#source.statements[name]
      const rows = isWide ? connection.askAside(statement, values) : connection.ask(statement, values)
      return (await rows) as readonly object[] as readonly R[]
    })
  }

  /** @throws {StoreUnavailableError} the primary does not answer, or something was shown that is different there. */
  async #goToPrimary(): Promise<void> {
    const moved = 'the snapshot cannot be read on: its replica may be behind, and the index has moved'
    if (this.#hasShownRows) throw new StoreUnavailableError(moved)
    await this.release()
    const view = await this.#source.openPrimary()
    try {
      this.#lease.check()
      const isSame = lastingFacts.every(key => isDeepStrictEqual(view.facts[key], this.#facts[key]))
      if (!isSame) throw new StoreUnavailableError(moved)
    } catch (error) {
      await view.release()
      throw error
    }
    this.#view = view
    this.#facts = view.facts
  }

  #openView(): ReadView {
    if (this.#view === undefined) throw new StoreUnavailableError('the view of the snapshot is lost')
    return this.#view
  }
}

type PreparedName = {
  [Name in keyof ReadStatements]: ReadStatements[Name] extends Statement ? Name : never
}[keyof ReadStatements]

interface EventColumns {
  readonly blockNumber: number
  readonly rec: Buffer
}
