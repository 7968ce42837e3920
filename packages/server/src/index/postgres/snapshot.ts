import { isDeepStrictEqual } from 'node:util'
import type { Address, BlockRef, Hash, HoldingCandidate, PendingTransaction } from '../../model/evm.ts'
import { StoreUnavailableError } from '../../platform/errors.ts'
import type { AuditedChunk, BlockEvents, Recount } from '../port/audit.ts'
import type { HashLookup, HistoryPart } from '../port/history.ts'
import type { ChainIdentity, IndexCoverage, IndexedRange, IndexMarks, WriterReport } from '../port/status.ts'
import type { Snapshot } from '../port/store.ts'
import { decodeAccountEvents } from '../record/accountEvents.ts'
import { addressBytes, hashBytes, toHex } from '../record/hexBytes.ts'
import { decodePending, hashOfRecord, type RecordChunk, recordHeadLength } from '../record/record.ts'
import { readPartTally, tallyPlace } from '../record/tally.ts'
import { standardOf, tokenIdsOf } from '../record/tokenKey.ts'
import { firstTransactionId, toPosition, toTransactionId } from '../record/transactionId.ts'
import { inPoolOrder } from '../shared/inPoolOrder.ts'
import { SnapshotLife } from '../shared/SnapshotLife.ts'
import { type ReportColumns, toWriterReport } from '../shared/toWriterReport.ts'
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
import { type RefColumns, toRef } from './meta.ts'
import type { ReadStatements, Statement } from './read.ts'
import { recountPart } from './recount.ts'
import { endOfNewest, type ViewFacts } from './view.ts'

/** A page of the usual size is one chunk. */
const firstRecords = 128
/** Longer histories are read so many at a time: each statement is planned anew, and chunks that others wait for are bounded. */
const chunkRecords = 768
/** Records may hold 128 KiB of calldata each: chunks aim at so many stored bytes at most. */
const chunkBytes = 256 * 1024
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
export interface SnapshotSource {
  readonly statements: ReadStatements
  /** How the large tables are cut, up to the one that holds the newest block of `view` at least. */
  partitions(view: ReadView): Promise<Partitions>
  /**
   * A view of the server that is written to.
   * @throws {StoreUnavailableError} it does not answer, or there is no index.
   */
  openPrimary(): Promise<ReadView>
}

/**
 * One view of the index. It may begin on a replica and go over to the primary as long as nobody can tell: until rows have
 * been handed out, and only where what has been said of the index as a whole still holds.
 */
export class PostgresSnapshot implements Snapshot {
  readonly #source: SnapshotSource
  readonly #life: SnapshotLife
  /** Absent once it has been released. */
  #view: ReadView | undefined
  #facts: ViewFacts
  readonly #shownFacts = new Set<keyof ViewFacts>()
  #hasShownRows = false

  /**
   * @param view - its own from now on.
   * @param onEnd - called once, with the promise of its connection being back.
   */
  constructor(
    view: ReadView,
    source: SnapshotSource,
    maxAgeMs: number,
    onEnd: (returned: Promise<void>) => void
  ) {
    this.#view = view
    this.#facts = view.facts
    this.#source = source
    this.#life = new SnapshotLife(maxAgeMs, () => onEnd(this.#release()))
  }

  async indexedRange(): Promise<IndexedRange | undefined> {
    return this.#show('range')
  }

  async marks(): Promise<IndexMarks> {
    return this.#show('marks')
  }

  async rollbacks(): Promise<number> {
    return this.#show('rollbacks')
  }

  async identity(): Promise<ChainIdentity> {
    return this.#show('identity')
  }

  async writerReport(): Promise<WriterReport | undefined> {
    const [row] = await this.#rows('report', [])
    return row === undefined ? undefined : toWriterReport(row as unknown as ReportColumns)
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
    const rows = await this.#rows('pending', [addressBytes(address)])
    return rows
      .map(row => {
        const { status, seconds, rec } = row as unknown as PendingColumns
        return { ...decodePending(rec), status, firstSeenSeconds: seconds }
      })
      .sort(inPoolOrder)
  }

  async lookUpHash(hash: Hash): Promise<HashLookup> {
    let found = await this.#lookUpHere(hash)
    if (found === undefined) {
      await this.#life.during(() => this.#goToPrimary('its replica may be behind'))
      found = await this.#lookUp(hash)
    }
    this.#hasShownRows = true
    return found
  }

  async *holdingCandidates(address: Address): AsyncGenerator<readonly HoldingCandidate[]> {
    const owner = addressBytes(address)
    const none = Buffer.alloc(0)
    let last: HoldingColumns = { contract: none, tokenId: none, standard: -1 }
    for (let isFull = true; isFull; ) {
      const { contract, tokenId, standard } = last
      const rows = await this.#rows('holdings', [owner, contract, tokenId, standard, candidatesAtOnce])
      isFull = rows.length === candidatesAtOnce
      const candidates = rows.map(row => {
        last = row as unknown as HoldingColumns
        return toCandidate(address, last)
      })
      if (candidates.length > 0) yield candidates
    }
  }

  async coverage(): Promise<IndexCoverage> {
    return this.#show('coverage')
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
    const { talliedFrom } = this.#show('coverage')
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
      const rows = await this.#rows('events', [key, last, blocksAtOnce])
      isFull = rows.length === blocksAtOnce
      const blocks = rows.map(row => {
        const { blockNumber, rec } = row as unknown as EventColumns
        last = blockNumber
        return { blockNumber, events: decodeAccountEvents(rec) }
      })
      if (blocks.length > 0) yield blocks
    }
  }

  async blockRef(number: number): Promise<BlockRef | undefined> {
    const [row] = await this.#rows('block', [number])
    return toRef(row as unknown as RefColumns | undefined)
  }

  async close(): Promise<void> {
    this.end('closed')
  }

  idleMs(): number {
    return this.#life.idleMs()
  }

  /** Gives the connection back. @param why - told to whoever reads afterwards, as `the snapshot is <why>`. */
  end(why: string): void {
    this.#life.end(why)
  }

  /** Ends it at once, whatever is being read. */
  cut(why: string): void {
    this.#view?.connection.drop()
    this.end(why)
  }

  #show<Key extends keyof ViewFacts>(key: Key): ViewFacts[Key] {
    this.#life.check()
    this.#shownFacts.add(key)
    return this.#facts[key]
  }

  /** Chunk after chunk, each read while the one before it is used. @param limit - at most so many rows. */
  async *#pullAll(cursor: HistoryCursor, limit = Number.MAX_SAFE_INTEGER): AsyncGenerator<Stretch> {
    let left = limit
    let wanted = Math.min(firstRecords, left)
    let coming = cursor.pull(wanted)
    for (;;) {
      const stretch = await coming
      this.#life.check()
      if (stretch === undefined) return
      left -= stretch.rows
      const isLast = stretch.rows < wanted || left === 0
      if (!isLast) {
        // What fails then is told when it is asked for.
        wanted = Math.min(nextChunkSize(stretch), left)
        coming = cursor.pull(wanted)
        coming.catch(() => {})
      }
      yield stretch
      if (isLast) return
    }
  }

  /** @returns nothing where only the primary can tell. */
  async #lookUpHere(hash: Hash): Promise<HashLookup | undefined> {
    if (this.#openView().isFinalWord) return this.#lookUp(hash)
    try {
      const found = await this.#lookUp(hash)
      return found.kind === 'confirmed' ? found : undefined
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error
      return undefined
    }
  }

  /** In one view, whatever happens: it was not found in one window because of what that view holds. */
  async #lookUp(hash: Hash): Promise<HashLookup> {
    const wanted = hash.toLowerCase()
    const key = hashKeyNumber(hash)
    for await (const { from, end, isWide } of this.#eachWindow()) {
      const rows = await this.#askHere('hash', [key, from, end, recordHeadLength], isWide)
      const ids = rows
        .filter(({ head }) => hashOfRecord(head as Buffer) === wanted)
        .map(({ id }) => Number(id))
      // Of a hash that a broken chain lists twice, the later place is found.
      if (ids.length > 0) return { kind: 'confirmed', position: toPosition(Math.max(...ids)) }
    }
    const [row] = await this.#askHere('reorged', [hashBytes(hash)])
    if (row === undefined) return { kind: 'unknown' }
    const ancestor = row as unknown as { readonly number: number; readonly hash: Buffer }
    return { kind: 'reorged', commonAncestor: { number: ancestor.number, hash: toHex(ancestor.hash) } }
  }

  /** From `before` down; everything where it is absent. */
  async #windows(before = Number.MAX_SAFE_INTEGER): Promise<ReadWindows> {
    const partitions = await this.#life.during(() => this.#orAtPrimary(view => this.#source.partitions(view)))
    return new ReadWindows(partitions, before, endOfNewest(this.#facts))
  }

  async *#eachWindow(): AsyncGenerator<IdWindow> {
    const windows = await this.#windows()
    for (let { window } = windows; window !== undefined; { window } = windows) {
      yield window
      windows.advance(0)
    }
  }

  /** Rows that are handed out: from now on this view is the only one. */
  async #rows(statement: PreparedName, values: readonly unknown[], isWide = false): Promise<readonly Row[]> {
    const rows = await this.#life.during(() =>
      this.#orAtPrimary(view => this.#send(view, statement, values, isWide))
    )
    this.#hasShownRows = true
    return rows
  }

  #askHere(statement: PreparedName, values: readonly unknown[], isWide = false): Promise<readonly Row[]> {
    return this.#life.during(() => this.#send(this.#openView(), statement, values, isWide))
  }

  #send({ connection }: ReadView, name: PreparedName, values: readonly unknown[], isWide: boolean) {
    const statement = this.#source.statements[name]
    return isWide ? connection.askAside(statement, values) : connection.ask(statement, values)
  }

  async #orAtPrimary<T>(read: (view: ReadView) => Promise<T>): Promise<T> {
    const view = this.#openView()
    try {
      return await read(view)
    } catch (error) {
      if (view.isFinalWord || !(error instanceof StoreUnavailableError)) throw error
      await this.#goToPrimary('its replica failed')
      return await read(this.#openView())
    }
  }

  /** @throws {StoreUnavailableError} the primary does not answer, or shows another state than has been said. */
  async #goToPrimary(why: string): Promise<void> {
    if (this.#hasShownRows) throw new StoreUnavailableError(`the snapshot cannot be read on: ${why}`)
    await this.#release()
    const view = await this.#source.openPrimary()
    try {
      this.#life.check()
      for (const key of this.#shownFacts) {
        if (isDeepStrictEqual(view.facts[key], this.#facts[key])) continue
        throw new StoreUnavailableError(`the snapshot cannot be read on: ${why}, and the index has moved`)
      }
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

  async #release(): Promise<void> {
    const view = this.#view
    this.#view = undefined
    await view?.release()
  }
}

type PreparedName = {
  [Name in keyof ReadStatements]: ReadStatements[Name] extends Statement ? Name : never
}[keyof ReadStatements]

interface PendingColumns {
  readonly status: 0 | 1
  readonly seconds: number
  readonly rec: Buffer
}

interface EventColumns {
  readonly blockNumber: number
  readonly rec: Buffer
}

interface HoldingColumns {
  readonly contract: Buffer
  /** An id or a range of them; see `tokenIdsKey`. */
  readonly tokenId: Buffer
  readonly standard: number
}

function toCandidate(owner: Address, { contract, tokenId, standard }: HoldingColumns): HoldingCandidate {
  return {
    owner: owner.toLowerCase() as Address,
    contract: toHex(contract),
    standard: standardOf(standard),
    ...tokenIdsOf(tokenId)
  }
}

/** From the size of the records just read, as many as fill a chunk. */
function nextChunkSize({ rows, chunk: { bytes } }: Stretch): number {
  const fitting = Math.floor((rows * chunkBytes) / Math.max(1, bytes.length))
  return Math.max(1, Math.min(fitting, chunkRecords))
}
