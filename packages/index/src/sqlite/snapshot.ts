import type { Address, Hash } from '../model/evm.ts'
import { type Damage, IndexDamagedError } from '../platform/errors.ts'
import type { AuditedChunk, MissingPart } from '../port/audit.ts'
import type { HashLookup, HistoryPart } from '../port/history.ts'
import type { IndexedRange, StoredBlock } from '../port/status.ts'
import { addressLength } from '../record/encodeBlock.ts'
import { addressBytes, hashKey } from '../record/hexBytes.ts'
import type { RecordChunk } from '../record/record.ts'
import { checkRecords, splitAltered } from '../record/recordSums.ts'
import { partOf, placeOfPart, RowSums, readPartChecksum } from '../record/rowChecksums.ts'
import { maxTransactionsPerBlock, toPosition, toTransactionId } from '../record/transactionId.ts'
import type { BlockRowsFound } from '../shared/findBlockDamage.ts'
import { type CountedRows, IndexSnapshot, type RowBudget } from '../shared/IndexSnapshot.ts'
import type { ReplayedRows } from '../shared/replayChanges.ts'
import { checkRow } from '../shared/rowSums.ts'
import {
  type ChainMeta,
  checkChecksumPage,
  type HoldingColumns,
  missingRecord,
  nextChunkSize
} from '../shared/rows.ts'
import type { SnapshotLease } from '../shared/SnapshotLeases.ts'
import type { CountedParts } from './countedParts.ts'
import type { EpochList, HoldingEpoch } from './epochList.ts'
import { proofs } from './epochSums.ts'
import type { Epoch } from './epochs.ts'
import { nameRows, startOfPart } from './partSums.ts'
import { checkPoolRow } from './poolRow.ts'
import type { EpochView } from './provenIds.ts'
import type { ReadConnection, SnapshotFacts } from './read.ts'
import { addressTable, type RowKey } from './tableShapes.ts'

/**
 * A page of the usual size is one chunk. Larger chunks would be no quicker, but would be collected late as garbage, and make
 * other requests wait longer.
 */
const chunkRecords = 128
/** Rows that are counted before other work of the thread runs. */
const countedAtOnce = 20_000
const recountedAtOnce = 5_000
/** Candidates that are read of one epoch at a time. */
const holdingsAtOnce = 128
const candidatesAtOnce = 500

/**
 * One open read transaction. Each SQLite call blocks the thread, so long reads are cut into short calls with a pause
 * for the event loop in between.
 */
export class SqliteSnapshot extends IndexSnapshot {
  readonly #reads: ReadConnection
  readonly #lease: SnapshotLease
  readonly #counted: CountedParts
  readonly #facts: SnapshotFacts
  readonly #list: EpochList
  protected readonly meta: ChainMeta
  override readonly version: number | undefined

  /**
   * @param reads - with a transaction begun.
   * @param facts - of that transaction.
   */
  constructor(
    reads: ReadConnection,
    lease: SnapshotLease,
    counted: CountedParts,
    facts: SnapshotFacts,
    version: number | undefined
  ) {
    super(lease)
    this.#reads = reads
    this.#lease = lease
    this.#counted = counted
    this.#facts = facts
    this.meta = facts.meta
    this.#list = facts.list
    this.version = version
  }

  protected get logged() {
    const read = () => this.#open().replay(this.#chainId)
    return {
      rowsFrom: async (entry: number) => read().rowsFrom(entry),
      factsFrom: async (entry: number) => read().factsFrom(entry),
      appended: async (...bounds: Parameters<ReplayedRows['appended']>) => read().appended(...bounds),
      removal: async (after: number, block: number) => read().removal(after, block),
      recordsOf: async (ids: readonly number[]) => read().recordsOf(ids)
    }
  }

  async indexedRange(): Promise<IndexedRange | undefined> {
    const { cursor } = this.#open()
    this.#facts.range ??= { found: cursor.range() }
    return this.#facts.range.found
  }

  async storedBlock(number: number): Promise<StoredBlock | undefined> {
    return this.#open().cursor.block(number)
  }

  async *records(address: Address, { olderThan, limit }: HistoryPart = {}): AsyncGenerator<RecordChunk> {
    const before = olderThan === undefined ? undefined : toTransactionId(olderThan)
    const cursor = this.#open().idsOfAddress(this.#view(), addressBytes(address), before)
    let left = limit ?? Number.MAX_SAFE_INTEGER
    let wanted = chunkRecords
    while (left > 0) {
      this.#open()
      const asked = Math.min(wanted, left)
      const ids = cursor.next(asked)
      if (ids.length === 0) return
      const chunk = toChunk(this.#chainId, ids, this.#open().recordsOf.get([JSON.stringify(ids)]))
      yield chunk
      if (ids.length < asked) return
      left -= asked
      wanted = nextChunkSize(ids.length, chunk.bytes.length, chunkRecords)
      if (left > 0) await this.#lease.pause()
    }
  }

  async countHistory(address: Address, atMost: number): Promise<number> {
    const cursor = this.#open().idsOfAddress(this.#view(), addressBytes(address))
    let count = 0
    for (; count < atMost; await this.#lease.pause()) {
      this.#open()
      const asked = Math.min(countedAtOnce, atMost - count)
      const found = cursor.next(asked).length
      count += found
      if (found < asked) break
    }
    return count
  }

  async lookUpHash(hash: Hash): Promise<HashLookup> {
    const id = this.#open().lookUp(this.#chainId, hash)
    if (id !== undefined) return { kind: 'confirmed', position: toPosition(id) }
    this.#proveUnknown(hash)
    const commonAncestor = this.#open().findReorged(hash, this.#chainId)
    return commonAncestor === undefined ? { kind: 'unknown' } : { kind: 'reorged', commonAncestor }
  }

  async *auditedRecords(address: Address): AsyncGenerator<AuditedChunk> {
    const key = addressBytes(address)
    let before = Number.MAX_SAFE_INTEGER
    for (let wanted = chunkRecords; ; await this.#lease.pause()) {
      const row = this.#open().audited.get([...newestBefore(before, key), wanted])
      if (row?.last == null) return
      const chunk = toAuditedChunk(this.#chainId, row, number => this.#isBlockAltered(number))
      yield chunk
      if (row.n < wanted) return
      before = row.last
      wanted = nextChunkSize(chunk.ids.length, chunk.bytes.length, chunkRecords)
    }
  }

  #isBlockAltered(number: number): boolean {
    try {
      this.#open().cursor.block(number)
      return false
    } catch (error) {
      if (error instanceof IndexDamagedError) return true
      throw error
    }
  }

  protected async readReport() {
    const row = this.#open().report.get([])
    return row && checkRow(this.#chainId, 'writer_report', row, { part: 'report' })
  }

  protected async readPending(address: Uint8Array) {
    this.#open().poolAddresses.prove(address)
    return this.#open()
      .pending.all([address])
      .map(row => checkPoolRow(this.#chainId, row, address))
  }

  async findRowDamage(firstPart: number, endPart: number): Promise<readonly Damage[]> {
    const found: Damage[] = []
    for (const damage of this.#open().rowDamage(this.#list, firstPart, endPart)) {
      if (damage === undefined) await this.#lease.pause()
      else found.push(damage)
      this.#open()
    }
    return found
  }

  protected async readBlockRows(from: number, to: number): Promise<BlockRowsFound> {
    return this.#open().blockRows(this.#list.epochs, this.#chainId, from, to)
  }

  protected async readEvents(address: Uint8Array, after: number, limit: number) {
    await this.#lease.pause()
    const rows = this.#open().accountEvents.all([address, after, limit])
    const { chainId } = this.meta.identity
    return rows.map(row => checkRow(chainId, 'account_event', row, { part: 'event', block: row.block }))
  }

  protected async hasAllHoldings(owner: Uint8Array): Promise<boolean> {
    const isRead = await unlessDamaged(async () => {
      for await (const _ of this.readHoldings(owner, false));
      return true
    })
    return isRead === true
  }

  protected async countRows(address: Address, budget: RowBudget): Promise<CountedRows | undefined> {
    const written = new RowSums()
    const found = new RowSums()
    let unresolved = 0
    const part = partOf(addressBytes(address), 0)
    const { page, offset } = placeOfPart(part, addressTable.rows)
    for (const epoch of this.#list.epochs) {
      const isLinked = epoch.proof === proofs.rows
      const isCounted = await unlessDamaged(() =>
        isLinked ? this.#countLinked(epoch, address, budget) : this.#countPart(epoch.id, part, found, budget)
      )
      if (isCounted === false) return undefined
      if (isCounted === undefined) unresolved++
      const rec = isLinked ? undefined : this.#open().addressSums.read(epoch.id, page)
      if (rec) written.addAll(readPartChecksum(checkChecksumPage(rec), offset))
    }
    return { written: written.sums, found: found.sums, unresolved }
  }

  /**
   * Reads all rows of an address in an epoch whose rows have sums.
   * @returns false: the budget does not suffice.
   * @throws {IndexDamagedError} they are not what was written.
   */
  async #countLinked(epoch: Epoch, address: Address, budget: RowBudget): Promise<boolean> {
    const key = addressBytes(address)
    let before = Number.MAX_SAFE_INTEGER
    for (let isFull = true; isFull; await this.#lease.pause()) {
      const [rows] = this.#open().linkedRows([epoch], key, before, recountedAtOnce)
      const ids = rows?.ids ?? []
      if (!budget.take(ids.length)) return false
      isFull = ids.length === recountedAtOnce
      before = ids.at(-1) ?? before
    }
    return true
  }

  /** Adds up the rows of a part of an epoch that is added to. @returns false: the budget does not suffice. */
  async #countPart(epoch: number, part: number, found: RowSums, budget: RowBudget): Promise<boolean> {
    let after: RowKey = [startOfPart(part), -1]
    for (let isFull = true; isFull; await this.#lease.pause()) {
      const rows = this.#open().addressRows([epoch, ...after, startOfPart(part + 1), recountedAtOnce])
      if (!budget.take(rows.count)) return false
      nameRows(rows, found)
      isFull = rows.count === recountedAtOnce
      after = [rows.fixed.slice(-addressLength), rows.numbers.at(-1) ?? 0]
    }
    return true
  }

  /** @throws {IndexDamagedError} the index of hashes is not what was written where this one would be. */
  #proveUnknown(hash: Hash): void {
    const cursor = this.#open().idsOfHash(this.#view(), hashKey(hash))
    for (const id of cursor.next(Number.MAX_SAFE_INTEGER)) {
      const { missing = null } = this.#open().recordsOf.get([JSON.stringify([id])]) ?? {}
      if (missing !== null) throw missingRecord(missing)
    }
  }

  /**
   * Every epoch has its own ordered list, in which a candidate may appear again. All lists are read side by side; what lies
   * at or below the last row of every list that goes on is complete.
   */
  protected async *readHoldings(
    owner: Uint8Array,
    isAudit: boolean
  ): AsyncGenerator<readonly HoldingColumns[]> {
    const readList = (epoch: HoldingEpoch, after: HoldingColumns): CandidateList => {
      const rows = this.#open().holdings(epoch, this.#counted, owner, after, holdingsAtOnce)
      return { epoch, rows, goesOn: rows.length === holdingsAtOnce }
    }
    let lists = this.#list.holdings.map(({ id, proof }) =>
      readList({ id, proof: isAudit ? proofs.none : proof }, beforeHoldings)
    )
    let complete: HoldingColumns[] = []
    while (lists.length > 0) {
      const ends = lists.flatMap(({ rows, goesOn }) => (goesOn ? rows.slice(-1) : []))
      const end = ends.sort(compareHoldings)[0]
      lists = lists.flatMap(({ epoch, rows, goesOn }) => {
        const count = end === undefined ? rows.length : countUpTo(rows, end)
        complete.push(...(count === rows.length ? rows : rows.slice(0, count)))
        if (count < rows.length) return { epoch, rows: rows.slice(count), goesOn }
        return goesOn && end !== undefined ? readList(epoch, end) : []
      })
      if (lists.length > 0 && complete.length < candidatesAtOnce) continue
      const rows = withoutRepeats(complete)
      complete = []
      if (rows.length > 0) yield rows
      if (lists.length > 0) await this.#lease.pause()
    }
  }

  get #chainId(): number {
    return this.meta.identity.chainId
  }

  #view(): EpochView {
    return { epochs: this.#list.epochs, rollbacks: this.meta.rollbacks, counted: this.#counted }
  }

  #open(): ReadConnection {
    this.#lease.check()
    return this.#reads
  }
}

/** @returns absent where what is read is damaged. */
async function unlessDamaged<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof IndexDamagedError) return undefined
    throw error
  }
}

/** Candidates of one epoch that were read and not given yet. */
interface CandidateList {
  readonly epoch: HoldingEpoch
  readonly rows: readonly HoldingColumns[]
  /** The epoch may have more. */
  readonly goesOn: boolean
}

const beforeHoldings: HoldingColumns = {
  contract: new Uint8Array(0),
  tokenId: new Uint8Array(0),
  standard: -1
}

/** Counts the rows at or below `end`, of rows in order. */
function countUpTo(rows: readonly HoldingColumns[], end: HoldingColumns): number {
  const last = rows.at(-1)
  if (last === undefined || compareHoldings(last, end) <= 0) return rows.length
  return rows.findIndex(row => compareHoldings(row, end) > 0)
}

/** Sorts rows in place. @returns each once. */
function withoutRepeats(rows: HoldingColumns[]): readonly HoldingColumns[] {
  let previous = beforeHoldings
  return rows.sort(compareHoldings).filter(row => {
    const isNew = compareHoldings(previous, row) !== 0
    previous = row
    return isNew
  })
}

function compareHoldings(a: HoldingColumns, b: HoldingColumns): number {
  return (
    Buffer.compare(a.contract, b.contract) || Buffer.compare(a.tokenId, b.tokenId) || a.standard - b.standard
  )
}

/** First parameters of the statements about one address. */
function newestBefore(before: number, address: Uint8Array): readonly [number, Uint8Array, number] {
  return [Math.floor(before / maxTransactionsPerBlock), address, before]
}

function toChunk(
  chainId: number,
  ids: readonly number[],
  row: ReturnType<ReadConnection['recordsOf']['get']>
): RecordChunk {
  if (row === undefined || row.missing !== null || row.bytes === null) throw missingRecord(row?.missing ?? 0)
  checkRecords(chainId, ids, row.bytes, toIds(row.lengths))
  return { ids, bytes: row.bytes }
}

function toAuditedChunk(
  chainId: number,
  row: NonNullable<ReturnType<ReadConnection['audited']['get']>>,
  isBlockAltered: (number: number) => boolean
): AuditedChunk {
  const named = (list: readonly number[], part: MissingPart['part']) => list.map(id => ({ id, part }))
  const found = toIds(row.ids)
  const { ids, bytes, altered } = splitAltered(
    chainId,
    found,
    row.bytes ?? new Uint8Array(0),
    toIds(row.lengths)
  )
  const blockless = new Set(toIds(row.block))
  let last = -1
  const inAlteredBlock = found.filter(id => {
    const { blockNumber } = toPosition(id)
    const isFirst = blockNumber !== last
    last = blockNumber
    return isFirst && !blockless.has(id) && isBlockAltered(blockNumber)
  })
  const missing = [
    ...(['record', 'hash', 'block'] as const).flatMap(part => named(toIds(row[part]), part)),
    ...named(altered, 'alteredRecord'),
    ...named(inAlteredBlock, 'alteredBlock')
  ]
  return {
    ...{ ids, bytes },
    missing: missing.sort((a, b) => b.id - a.id).map(({ id, part }) => ({ position: toPosition(id), part }))
  }
}

function toIds(text: string | null): readonly number[] {
  return text === null ? [] : text.split(',').map(Number)
}
