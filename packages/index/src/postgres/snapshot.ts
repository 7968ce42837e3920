import { isDeepStrictEqual } from 'node:util'
import type { Address, Hash } from '../model/evm.ts'
import { type Damage, IndexDamagedError, StoreUnavailableError } from '../platform/errors.ts'
import type { AuditedChunk } from '../port/audit.ts'
import type { HashLookup, HistoryPart } from '../port/history.ts'
import type { IndexedRange, StoredBlock } from '../port/status.ts'
import { decodeAccountEvents } from '../record/accountEvents.ts'
import { addressLength } from '../record/encodeBlock.ts'
import { addressBytes, hashBytes, toHex } from '../record/hexBytes.ts'
import { hashOfRecord, type RecordChunk } from '../record/record.ts'
import { checkRecord } from '../record/recordSums.ts'
import {
  afterAllAddresses,
  compareChecksums,
  findChecksum,
  firstOfPart,
  type PartChecksum,
  partBounds,
  partCount,
  RowChecksums,
  readPartChecksum
} from '../record/rowChecksums.ts'
import { firstTransactionId, toPosition, toTransactionId } from '../record/transactionId.ts'
import type { LogRow } from '../shared/ChangeLog.ts'
import type { BlockRowsFound } from '../shared/findBlockDamage.ts'
import {
  type CountedRows,
  type EventColumns,
  IndexSnapshot,
  type RowBudget
} from '../shared/IndexSnapshot.ts'
import type { ReplayedRows } from '../shared/replayChanges.ts'
import {
  type BlockColumns,
  checkChecksumPage,
  type HoldingColumns,
  type LogColumns,
  type LogFactColumns,
  nextChunkSize,
  type PendingColumns,
  type RefColumns,
  type ReportColumns,
  toLogFacts,
  toLogRow,
  toRef,
  toStoredBlock
} from '../shared/rows.ts'
import type { SnapshotLease } from '../shared/SnapshotLeases.ts'
import type { ReadConnection, Row } from './connection.ts'
import { directoryBucket, directoryPrint } from './directory.ts'
import {
  HistoryCursor,
  type IdWindow,
  mayBeParty,
  type NamedRecord,
  type Partitions,
  ReadWindows,
  type Stretch,
  toAuditedStretch,
  toPartitions,
  toStretch
} from './history.ts'
import { type Judged, requireBlock, requireSound } from './judged.ts'
import {
  type CountedRead,
  type DamagedPart,
  partDamage,
  poolAddresses,
  reorgedHashes,
  requireWhole
} from './keyParts.ts'
import { hashKeyNumber, withLiterals } from './literals.ts'
import type { ReadStatements, Statement } from './read.ts'
import { endOfNewest, type ViewFacts } from './view.ts'

/** A page of the usual size is one chunk. */
const firstRecords = 128
/** Longer histories are read so many at a time: each statement is planned anew, and chunks that others wait for are bounded. */
const chunkRecords = 768
const candidatesAtOnce = 500
/** Records that are checked at once. */
const checkedAtOnce = 1_000
/** Rows of the address index that one statement of a recount reads, and bytes of each: the address and the id. */
const recountedAtOnce = 8_192
const partRowBytes = addressLength + 8

/** A transaction in which all reads see the same state, on one server. */
export interface ReadView {
  readonly connection: ReadConnection
  readonly facts: ViewFacts
  /** No other server can know more. */
  readonly isFinalWord: boolean
  /** Gives the connection back, in its own time. */
  release(): Promise<void>
}

/** First key of a part of the address index, and the first one after it; absent: it is the last part. */
interface PartBounds {
  readonly first: Uint8Array
  readonly end?: Uint8Array | undefined
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
export class PostgresSnapshot extends IndexSnapshot {
  readonly #source: ViewSource
  readonly #lease: SnapshotLease
  /** Absent once it has been released. */
  #view: ReadView | undefined
  protected meta: ViewFacts
  #hasShownRows = false

  /** @param view - its own from now on: released when the lease ends. */
  constructor(view: ReadView, source: ViewSource, lease: SnapshotLease) {
    super(lease)
    this.#view = view
    this.meta = view.facts
    this.#source = source
    this.#lease = lease
  }

  protected readonly logged: Omit<ReplayedRows, 'blockRef'> = {
    rowsFrom: entry => this.#entries('logFrom', [entry]),
    factsFrom: async entry => (await this.#rows<LogFactColumns>('logFacts', [entry])).map(toLogFacts),
    appended: async (...bounds) => {
      const rows = await this.#entries('logAppended', bounds)
      return rows.toSorted((a, b) => b.entry - a.entry)
    },
    removal: async (after, block) => (await this.#entries('logRemoval', [after, block]))[0],
    recordsOf: async ids => {
      const bounds = [Math.min(...ids), Math.max(...ids)]
      const rows = await this.#rows<{ id: number; rec: Buffer }>('recordsById', [ids, ...bounds])
      for (const { id, rec } of rows) checkRecord(this.#chainId, id, rec)
      return new Map(rows.map(({ id, rec }) => [id, rec]))
    }
  }

  async indexedRange(): Promise<IndexedRange | undefined> {
    this.#lease.check()
    return this.meta.range
  }

  async storedBlock(number: number): Promise<StoredBlock | undefined> {
    const { range } = this.meta
    if (range === undefined || number < range.from || number > range.to.number) return undefined
    const [row] = await this.#rows<BlockColumns & Judged>('block', [number])
    return toStoredBlock(requireBlock(row, number))
  }

  async *records(address: Address, { olderThan, limit }: HistoryPart = {}): AsyncGenerator<RecordChunk> {
    const key = addressBytes(address)
    const windows = await this.#windows(olderThan === undefined ? undefined : toTransactionId(olderThan))
    const bucket = directoryBucket(key)
    const place = [bucket, directoryPrint(key)]
    const cursor = new HistoryCursor(windows, async ({ from, end, ranges, isWide }, count) => {
      const [row] = isWide
        ? await this.#aside(({ recordsIn }) => recordsIn(ranges, key, count))
        : await this.#rows('records', [key, from, end, count, ...place])
      const stretch = toStretch(this.#chainId, key, row)
      if (stretch !== undefined) await this.#requireParty(key, stretch.doubtful)
      return { stretch, ...(!isWide && { partitions: toPartitions(row, count, bucket) }) }
    })
    for await (const { chunk } of this.#pullAll(cursor, limit)) {
      yield { ids: chunk.ids, bytes: chunk.bytes }
    }
  }

  /**
   * Requires that an account is a party of transactions whose records do not have it byte for byte. The authority of an
   * authorization has a row of events; any other row has to agree with the row checksums.
   * @throws {IndexDamagedError} a row of the address index leads to a transaction of others.
   */
  async #requireParty(key: Buffer, doubtful: readonly NamedRecord[]): Promise<void> {
    const account = toHex(key)
    const foreign = doubtful.filter(each => !mayBeParty(account, each)).map(({ id }) => toPosition(id))
    if (foreign.length === 0) return
    const blocks = foreign.map(({ blockNumber }) => blockNumber)
    const rows = await this.#rows<EventColumns & Judged>('eventsIn', [key, blocks])
    const authorized = rows.filter(row =>
      decodeAccountEvents(this.#soundEvent(row).rec).some(({ kind }) => kind === 'authorization')
    )
    const { countedFrom = Number.MAX_SAFE_INTEGER } = this.meta.coverage
    const block = blocks.find(
      number => number >= countedFrom && !authorized.some(each => each.block === number)
    )
    if (block === undefined) return
    const { isComplete, missing, ofOther, unresolved } = await this.recount(account)
    if (isComplete && missing.length + unresolved === 0 && ofOther === undefined) return
    throw new IndexDamagedError(
      { part: 'addressRow', block, key: key.toString('hex') },
      'it leads to a transaction of other accounts'
    )
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

  async lookUpHash(hash: Hash): Promise<HashLookup> {
    const found = await this.#lookUp(hash)
    if (found.kind === 'confirmed' || this.#view?.isFinalWord) return found
    await this.#lease.during(() => this.#goToPrimary())
    return this.#lookUp(hash)
  }

  async *auditedRecords(address: Address): AsyncGenerator<AuditedChunk> {
    const key = addressBytes(address)
    const cursor = new HistoryCursor(await this.#windows(), async ({ from, end, isWide }, count) => {
      const [row] = await this.#rows('audited', [key, from, end, count], isWide)
      return { stretch: toAuditedStretch(this.#chainId, row) }
    })
    for await (const { chunk } of this.#pullAll(cursor)) yield chunk
  }

  protected async readReport() {
    const [row] = await this.#rows<ReportColumns & Judged>('report', [])
    return row && requireSound(row, { part: 'report' })
  }

  protected async readPending(address: Uint8Array) {
    const rows = await this.#rows<PendingColumns & Judged & CountedRead>('pending', [address])
    return requireWhole(poolAddresses, rows).map(row => requireSound(row, { part: 'poolEntry' }))
  }

  protected async readBlockRows(from: number, to: number): Promise<BlockRowsFound> {
    const damage: Damage[] = []
    const note = (check: () => unknown) => {
      try {
        check()
      } catch (error) {
        if (!(error instanceof IndexDamagedError)) throw error
        damage.push(error.damage)
      }
    }
    const blocks = await this.#rows<BlockRowsFound['blocks'][number] & Judged>('blocksBetween', [from, to])
    for (const block of blocks) {
      note(() => requireSound(block, { part: 'block', block: block.number }))
    }
    for (const [name, part] of [
      ['eventsBetween', 'event'],
      ['undoBetween', 'undo']
    ] as const) {
      for (const row of await this.#rows<{ block: number } & Judged>(name, [from, to])) {
        note(() => requireSound(row, { part, block: row.block }))
      }
    }
    const ids: number[] = []
    const end = firstTransactionId(to + 1)
    for (let after = firstTransactionId(from) - 1; ; ) {
      const rows = await this.#rows<{ id: number; rec: Buffer }>('recordsBetween', [
        after + 1,
        end,
        checkedAtOnce
      ])
      for (const { id, rec } of rows) {
        ids.push(id)
        note(() => checkRecord(this.#chainId, id, rec))
      }
      if (rows.length < checkedAtOnce) break
      after = rows.at(-1)?.id ?? end
    }
    return { blocks, ids, damage }
  }

  protected async readEvents(address: Uint8Array, after: number, limit: number) {
    const rows = await this.#rows<EventColumns & Judged>('events', [address, after, limit])
    return rows.map(row => this.#soundEvent(row))
  }

  #soundEvent(row: EventColumns & Judged) {
    return requireSound(row, { part: 'event', block: row.block })
  }

  protected async *readHoldings(owner: Uint8Array): AsyncGenerator<readonly HoldingColumns[]> {
    const none = Buffer.alloc(0)
    let last: HoldingColumns = { contract: none, tokenId: none, standard: -1 }
    for (let isFull = true; isFull; ) {
      const { contract, tokenId, standard } = last
      const values = [owner, contract, tokenId, standard, candidatesAtOnce]
      const rows = await this.#rows<HoldingColumns>('holdings', values)
      isFull = rows.length === candidatesAtOnce
      last = rows.at(-1) ?? last
      if (rows.length > 0) yield rows
    }
  }

  protected async hasAllHoldings(owner: Uint8Array): Promise<boolean> {
    const [row] = await this.#rows<CountedRead>('candidatesWhole', [owner])
    return row?.isWhole === true
  }

  protected async countRows(address: Address, budget: RowBudget): Promise<CountedRows | undefined> {
    const found = await this.#sumRows(partBounds(address), budget)
    return found && { written: await this.#writtenSums(address, new Map()), found: found.part(address) }
  }

  async findRowDamage(firstPart: number, endPart: number): Promise<readonly Damage[]> {
    const parts = await this.#rows<DamagedPart>('damagedParts', [firstPart, endPart])
    const damage = parts.map(partDamage)
    if (this.meta.coverage.countedFrom === undefined) return damage
    const end = endPart < partCount ? firstOfPart(endPart) : undefined
    const found = await this.#sumRows({ first: firstOfPart(firstPart), end }, { take: () => true })
    const pages = new Map<number, Buffer>()
    for (let part = firstPart; found !== undefined && part < endPart; part++) {
      const address = toHex(firstOfPart(part))
      const written = await this.#writtenSums(address, pages)
      const { missing, ofOther, unresolved } = compareChecksums(written, found.part(address), address)
      for (const { blockNumber } of [...missing, ...(ofOther === undefined ? [] : [ofOther.position])]) {
        damage.push({ part: 'addressRow', block: blockNumber })
      }
      if (unresolved > 0) damage.push({ part: 'addressRow', key: address.slice(2) })
    }
    return damage
  }

  /** Sums up the counted rows of parts. Absent: the budget does not suffice. */
  async #sumRows(bounds: PartBounds, budget: RowBudget): Promise<RowChecksums | undefined> {
    const { countedFrom = 0 } = this.meta.coverage
    const found = new RowChecksums()
    for await (const rows of this.#readPart(bounds, firstTransactionId(countedFrom))) {
      if (!budget.take(rows.length / partRowBytes)) return undefined
      for (let at = 0; at < rows.length; at += partRowBytes) {
        found.add(rows, at, Number(rows.readBigInt64BE(at + addressLength)))
      }
    }
    return found
  }

  /**
   * Reads the sums that were written of the part that an address is in.
   * @param pages - those that were read before.
   * @throws {IndexDamagedError} their page is missing, or not whole.
   */
  async #writtenSums(address: Address, pages: Map<number, Buffer>): Promise<PartChecksum> {
    const { page, offset } = findChecksum(address)
    const rec =
      pages.get(page) ??
      (await this.#rows<{ rec: Buffer }>('checksumPage', [page]))[0]?.rec ??
      Buffer.alloc(0)
    pages.set(page, rec)
    return readPartChecksum(checkChecksumPage(rec), offset)
  }

  /** Reads the rows of a part, from an id on. */
  async *#readPart({ first, end = afterAllAddresses }: PartBounds, firstId: number): AsyncGenerator<Buffer> {
    for await (const window of this.#eachWindow()) {
      if (window.end <= firstId) return
      let after: readonly [Uint8Array, number] = [first, -1]
      for (let isFull = true; isFull; ) {
        const values = [...after, end, Math.max(window.from, firstId), window.end, recountedAtOnce]
        const [row] = await this.#rows<{ rows: Buffer | null }>('rowsBetween', values, window.isWide)
        const rows = row?.rows ?? Buffer.alloc(0)
        yield rows
        isFull = rows.length === recountedAtOnce * partRowBytes
        after = [rows.subarray(-partRowBytes, -8), isFull ? Number(rows.readBigInt64BE(rows.length - 8)) : 0]
      }
    }
  }

  /** Gives the connection back. */
  async release(): Promise<void> {
    const view = this.#view
    this.#view = undefined
    await view?.release()
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
        // A failure is thrown when the chunk is awaited.
        const size = nextChunkSize(stretch.rows, stretch.chunk.bytes.length, chunkRecords)
        wanted = Math.min(size, left)
        coming = cursor.pull(wanted)
        coming.catch(() => {})
      }
      if (left + stretch.rows < limit) await this.#lease.pause()
      yield stretch
      if (isLast) return
    }
  }

  async #lookUp(hash: Hash): Promise<HashLookup> {
    const wanted = hash.toLowerCase()
    const key = hashKeyNumber(hash)
    for await (const { from, end, isWide } of this.#eachWindow()) {
      const rows = await this.#ask<{ id: number; rec: Buffer }>('hash', [key, from, end], isWide)
      // A record that is not what was written may have lost this hash.
      for (const { id, rec } of rows) checkRecord(this.#chainId, id, rec)
      const ids = rows.filter(({ rec }) => hashOfRecord(rec) === wanted).map(({ id }) => id)
      // Of a hash that a broken chain lists twice, the later place is found.
      if (ids.length > 0) return { kind: 'confirmed', position: toPosition(Math.max(...ids)) }
    }
    const rows = await this.#ask<RefColumns & Judged & CountedRead>('reorged', [hashBytes(hash)])
    const [ancestor] = requireWhole(reorgedHashes, rows)
    if (ancestor === undefined) return { kind: 'unknown' }
    return { kind: 'reorged', commonAncestor: toRef(requireSound(ancestor, { part: 'undo' })) }
  }

  get #chainId(): number {
    return this.meta.identity.chainId
  }

  /** From `before` down; everything where it is absent. */
  async #windows(before = Number.MAX_SAFE_INTEGER): Promise<ReadWindows> {
    const partitions = await this.#lease.during(() => this.#source.partitions(this.#openView()))
    return new ReadWindows(partitions, before, endOfNewest(this.meta), this.meta.listed)
  }

  async *#eachWindow(): AsyncGenerator<IdWindow> {
    const windows = await this.#windows()
    for (let { window } = windows; window !== undefined; { window } = windows) {
      yield window
      windows.advance(0)
    }
  }

  async #entries(
    name: 'logFrom' | 'logAppended' | 'logRemoval',
    values: readonly number[]
  ): Promise<readonly LogRow[]> {
    const rows = await this.#rows<LogColumns & Judged>(name, values)
    return rows.map(row => toLogRow(requireSound(row, { part: 'change' })))
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
      const rows = isWide
        ? connection.runAside(withLiterals(statement.text, values))
        : connection.ask(statement, values)
      return (await rows) as readonly object[] as readonly R[]
    })
  }

  async #aside(textOf: (statements: ReadStatements) => string): Promise<readonly Row[]> {
    const rows = await this.#lease.during(() =>
      this.#openView().connection.runAside(textOf(this.#source.statements))
    )
    this.#hasShownRows = true
    return rows
  }

  /** @throws {StoreUnavailableError} the primary does not answer, or something was shown that is different there. */
  async #goToPrimary(): Promise<void> {
    const moved = 'the snapshot cannot be read on: its replica may be behind, and the index has moved'
    if (this.#hasShownRows) throw new StoreUnavailableError(moved)
    await this.release()
    const view = await this.#source.openPrimary()
    try {
      this.#lease.check()
      const isSame = lastingFacts.every(key => isDeepStrictEqual(view.facts[key], this.meta[key]))
      if (!isSame) throw new StoreUnavailableError(moved)
    } catch (error) {
      await view.release()
      throw error
    }
    this.#view = view
    this.meta = view.facts
  }

  #openView(): ReadView {
    if (this.#view === undefined) throw new StoreUnavailableError('the view of the snapshot is lost')
    return this.#view
  }
}

type PreparedName = {
  [Name in keyof ReadStatements]: ReadStatements[Name] extends Statement ? Name : never
}[keyof ReadStatements]
