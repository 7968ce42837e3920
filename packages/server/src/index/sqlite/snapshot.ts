import { setImmediate as breathe } from 'node:timers/promises'
import type { Address, BlockRef, Hash, HoldingCandidate, PendingTransaction } from '../../model/evm.ts'
import type { AuditedChunk, BlockEvents, Recount } from '../port/audit.ts'
import type { HashLookup, HistoryPart } from '../port/history.ts'
import type { ChainIdentity, IndexCoverage, IndexedRange, IndexMarks, WriterReport } from '../port/status.ts'
import type { Snapshot } from '../port/store.ts'
import { decodeAccountEvents } from '../record/accountEvents.ts'
import { addressBytes, hashBytes } from '../record/hexBytes.ts'
import type { RecordChunk } from '../record/record.ts'
import { maxTransactionsPerBlock, toPosition, toTransactionId } from '../record/transactionId.ts'
import {
  type ChainMeta,
  missingRecord,
  nextChunkSize,
  toPending,
  toRef,
  toWriterReport
} from '../shared/rows.ts'
import type { SnapshotLease } from '../shared/SnapshotLeases.ts'
import { mergeHoldings } from './holdings.ts'
import type { ReadConnection } from './read.ts'
import { recountPart } from './recount.ts'

/**
 * A page of the usual size is one chunk. More at a time would be no quicker, but everything made of a chunk is then garbage of
 * a size that is collected late, and others wait longer for their turn.
 */
const chunkRecords = 128
/** So many rows are counted before other work of the thread gets its turn. */
const countedAtOnce = 20_000
const candidatesAtOnce = 500
const eventsAtOnce = 500
/** What a recount takes on by itself: a few seconds. */
const recountedRows = 5_000_000

/**
 * One open read transaction. Each SQLite call blocks the thread, so long reads are cut into short calls with a pause
 * for the event loop in between.
 */
export class SqliteSnapshot implements Snapshot {
  readonly #reads: ReadConnection
  readonly #meta: ChainMeta
  readonly #lease: SnapshotLease

  constructor(reads: ReadConnection, lease: SnapshotLease) {
    this.#reads = reads
    this.#lease = lease
    this.#meta = reads.begin()
  }

  async indexedRange(): Promise<IndexedRange | undefined> {
    return this.#open().cursor.range()
  }

  async marks(): Promise<IndexMarks> {
    this.#open()
    return this.#meta.marks
  }

  async rollbacks(): Promise<number> {
    this.#open()
    return this.#meta.rollbacks
  }

  async identity(): Promise<ChainIdentity> {
    this.#open()
    return this.#meta.identity
  }

  async writerReport(): Promise<WriterReport | undefined> {
    const row = this.#open().report.get([])
    return row && toWriterReport(row)
  }

  async *records(address: Address, { olderThan, limit }: HistoryPart = {}): AsyncGenerator<RecordChunk> {
    const key = addressBytes(address)
    let before = olderThan === undefined ? Number.MAX_SAFE_INTEGER : toTransactionId(olderThan)
    let left = limit ?? Number.MAX_SAFE_INTEGER
    let wanted = chunkRecords
    while (left > 0) {
      const asked = Math.min(wanted, left)
      const chunk = toChunk(this.#open().history.get([...newestBefore(before, key), asked]))
      if (chunk === undefined) return
      yield chunk
      if (chunk.ids.length < asked) return
      left -= asked
      before = chunk.ids.at(-1) ?? 0
      wanted = nextChunkSize(chunk.ids.length, chunk.bytes.length, chunkRecords)
      if (left > 0) await breathe()
    }
  }

  async countHistory(address: Address, atMost: number): Promise<number> {
    const key = addressBytes(address)
    let count = 0
    for (let before = Number.MAX_SAFE_INTEGER; count < atMost; await breathe()) {
      const asked = Math.min(countedAtOnce, atMost - count)
      const { n = 0, last } = this.#open().count.get([...newestBefore(before, key), asked]) ?? {}
      count += n
      if (n < asked || last == null) break
      before = last
    }
    return count
  }

  async pending(address: Address): Promise<readonly PendingTransaction[]> {
    return toPending(this.#open().pending.all([addressBytes(address)]))
  }

  async lookUpHash(hash: Hash): Promise<HashLookup> {
    const id = this.#open().lookUp(hash)
    if (id !== undefined) return { kind: 'confirmed', position: toPosition(id) }
    const reorged = this.#open().reorged.get([hashBytes(hash)])
    if (reorged === undefined) return { kind: 'unknown' }
    return { kind: 'reorged', commonAncestor: toRef(reorged) }
  }

  async *holdingCandidates(address: Address): AsyncGenerator<readonly HoldingCandidate[]> {
    let chunk: HoldingCandidate[] = []
    for (const candidate of mergeHoldings(() => this.#open(), address)) {
      chunk.push(candidate)
      if (chunk.length < candidatesAtOnce) continue
      yield chunk
      await breathe()
      chunk = []
    }
    if (chunk.length > 0) yield chunk
  }

  async coverage(): Promise<IndexCoverage> {
    this.#open()
    return this.#meta.coverage
  }

  async *auditedRecords(address: Address): AsyncGenerator<AuditedChunk> {
    const key = addressBytes(address)
    let before = Number.MAX_SAFE_INTEGER
    for (let wanted = chunkRecords; ; await breathe()) {
      const row = this.#open().audited.get([...newestBefore(before, key), wanted])
      if (row?.last == null) return
      const chunk = toAuditedChunk(row)
      yield chunk
      if (row.n < wanted) return
      before = row.last
      wanted = nextChunkSize(chunk.ids.length, chunk.bytes.length, chunkRecords)
    }
  }

  async recount(
    address: Address,
    { maxRows = recountedRows, signal }: { readonly maxRows?: number; readonly signal?: AbortSignal } = {}
  ): Promise<Recount> {
    this.#open()
    const { talliedFrom } = this.#meta.coverage
    // Nothing was counted: nothing can differ from it.
    if (talliedFrom === undefined) return { isComplete: true, missing: [], unresolved: 0 }
    return recountPart(() => this.#open(), address, { talliedFrom, maxRows, signal })
  }

  async *accountEvents(address: Address): AsyncGenerator<readonly BlockEvents[]> {
    const key = addressBytes(address)
    for (let after = -1; ; await breathe()) {
      const rows = this.#open().accountEvents.all([key, after, eventsAtOnce])
      const last = rows.at(-1)
      if (last === undefined) return
      yield rows.map(({ block, rec }) => ({ blockNumber: block, events: decodeAccountEvents(rec) }))
      if (rows.length < eventsAtOnce) return
      after = last.block
    }
  }

  async blockRef(number: number): Promise<BlockRef | undefined> {
    return this.#open().cursor.block(number)
  }

  async close(): Promise<void> {
    this.#lease.end('closed')
  }

  #open(): ReadConnection {
    this.#lease.check()
    return this.#reads
  }
}

/** What the statements about one address begin with. */
function newestBefore(before: number, address: Uint8Array): readonly [number, Uint8Array, number] {
  return [Math.floor(before / maxTransactionsPerBlock), address, before]
}

/** @returns nothing when the stretch is empty. */
function toChunk(row: ReturnType<ReadConnection['history']['get']>): RecordChunk | undefined {
  if (row === undefined || row.ids === null) return undefined
  if (row.missing !== null || row.bytes === null) {
    throw missingRecord(row.missing ?? 0)
  }
  return { ids: toIds(row.ids), bytes: row.bytes }
}

function toAuditedChunk(row: NonNullable<ReturnType<ReadConnection['audited']['get']>>): AuditedChunk {
  const missing = (['record', 'hash', 'block'] as const).flatMap(part =>
    toIds(row[part]).map(id => ({ id, part }))
  )
  return {
    ids: toIds(row.ids),
    bytes: row.bytes ?? new Uint8Array(0),
    missing: missing.sort((a, b) => b.id - a.id).map(({ id, part }) => ({ position: toPosition(id), part }))
  }
}

function toIds(text: string | null): readonly number[] {
  return text === null ? [] : text.split(',').map(Number)
}
