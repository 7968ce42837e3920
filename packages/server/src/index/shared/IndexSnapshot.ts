import type { Address, BlockRef, Hash, HoldingCandidate, PendingTransaction } from '../../model/evm.ts'
import type { AuditedChunk, BlockEvents, Recount } from '../port/audit.ts'
import type { HashLookup, HistoryPart } from '../port/history.ts'
import type { ChainIdentity, IndexCoverage, IndexedRange, IndexMarks, WriterReport } from '../port/status.ts'
import type { Snapshot } from '../port/store.ts'
import { decodeAccountEvents } from '../record/accountEvents.ts'
import { addressBytes } from '../record/hexBytes.ts'
import type { RecordChunk } from '../record/record.ts'
import {
  afterAllAddresses,
  compareChecksums,
  findChecksum,
  partBounds,
  RowChecksums,
  readPartChecksum
} from '../record/rowChecksums.ts'
import { firstTransactionId } from '../record/transactionId.ts'
import {
  type ChainMeta,
  checkChecksumPage,
  type HoldingColumns,
  type PendingColumns,
  type ReportColumns,
  toCandidate,
  toPending,
  toWriterReport
} from './rows.ts'
import type { SnapshotLease } from './SnapshotLeases.ts'

const eventsAtOnce = 500
/** Maximum of rows that a recount reads, by default: a few seconds. */
const recountedRows = 5_000_000

/** Effects of one block on an account, as they are stored. */
export interface EventColumns {
  readonly block: number
  readonly rec: Uint8Array
}

/** Rows of a part of the address index. */
export interface PartRows {
  readonly ids: readonly number[]
  /** The 20 bytes of row i's address begin at `i * stride`. */
  readonly addresses: Uint8Array
  readonly stride: number
}

/** Keys of the address index from `first` up to, and without, `end`. */
export interface PartRange {
  readonly first: Uint8Array
  readonly end: Uint8Array
  /** Blocks below this one are not wanted; some of them may come all the same. */
  readonly fromBlock: number
}

/** A snapshot of both engines, which add how rows are read. Every read checks the lease first. */
export abstract class IndexSnapshot implements Snapshot {
  readonly #lease: SnapshotLease

  constructor(lease: SnapshotLease) {
    this.#lease = lease
  }

  abstract indexedRange(): Promise<IndexedRange | undefined>
  abstract records(address: Address, part?: HistoryPart): AsyncIterable<RecordChunk>
  abstract countHistory(address: Address, atMost: number): Promise<number>
  abstract lookUpHash(hash: Hash): Promise<HashLookup>
  abstract auditedRecords(address: Address): AsyncIterable<AuditedChunk>
  abstract blockRef(number: number): Promise<BlockRef | undefined>

  protected abstract readonly meta: ChainMeta
  protected abstract readReport(): Promise<ReportColumns | undefined>
  protected abstract readPending(address: Uint8Array): Promise<readonly PendingColumns[]>
  /** Reads each candidate once, in the order of the port, in chunks that are not empty. */
  protected abstract readHoldings(owner: Uint8Array): AsyncIterable<readonly HoldingColumns[]>
  /** Reads the next events of an account after a block. */
  protected abstract readEvents(
    address: Uint8Array,
    after: number,
    limit: number
  ): Promise<readonly EventColumns[]>
  protected abstract readChecksumPage(page: number): Promise<Uint8Array | undefined>
  protected abstract readPart(range: PartRange): AsyncIterable<PartRows>

  async marks(): Promise<IndexMarks> {
    return this.#checkedMeta().marks
  }

  async rollbacks(): Promise<number> {
    return this.#checkedMeta().rollbacks
  }

  async identity(): Promise<ChainIdentity> {
    return this.#checkedMeta().identity
  }

  async coverage(): Promise<IndexCoverage> {
    return this.#checkedMeta().coverage
  }

  async writerReport(): Promise<WriterReport | undefined> {
    const row = await this.readReport()
    return row && toWriterReport(row)
  }

  async pending(address: Address): Promise<readonly PendingTransaction[]> {
    return toPending(await this.readPending(addressBytes(address)))
  }

  async *holdingCandidates(address: Address): AsyncGenerator<readonly HoldingCandidate[]> {
    for await (const rows of this.readHoldings(addressBytes(address))) {
      yield rows.map(row => toCandidate(address, row))
    }
  }

  async *accountEvents(address: Address): AsyncGenerator<readonly BlockEvents[]> {
    const key = addressBytes(address)
    let after = -1
    for (let isFull = true; isFull; ) {
      const rows = await this.readEvents(key, after, eventsAtOnce)
      isFull = rows.length === eventsAtOnce
      after = rows.at(-1)?.block ?? after
      if (rows.length > 0) {
        yield rows.map(({ block, rec }) => ({ blockNumber: block, events: decodeAccountEvents(rec) }))
      }
    }
  }

  async recount(
    address: Address,
    { maxRows = recountedRows, signal }: { readonly maxRows?: number; readonly signal?: AbortSignal } = {}
  ): Promise<Recount> {
    const { countedFrom } = this.#checkedMeta().coverage
    // Nothing was counted: nothing can differ from it.
    if (countedFrom === undefined) return { isComplete: true, missing: [], unresolved: 0 }
    const { first, end = afterAllAddresses } = partBounds(address)
    const firstId = firstTransactionId(countedFrom)
    const found = new RowChecksums()
    let left = maxRows
    for await (const { ids, addresses, stride } of this.readPart({ first, end, fromBlock: countedFrom })) {
      left -= ids.length
      if (left < 0 || signal?.aborted) return { isComplete: false, missing: [], unresolved: 0 }
      for (const [row, id] of ids.entries()) {
        // Rows of older blocks were not counted when they were written.
        if (id >= firstId) found.add(addresses, row * stride, id)
      }
    }
    const { page, offset } = findChecksum(address)
    const stored = await this.readChecksumPage(page)
    const written =
      stored === undefined
        ? new RowChecksums().part(address)
        : readPartChecksum(checkChecksumPage(stored), offset)
    return { isComplete: true, ...compareChecksums(written, found.part(address), address) }
  }

  async close(): Promise<void> {
    this.#lease.end('closed')
  }

  #checkedMeta(): ChainMeta {
    this.#lease.check()
    return this.meta
  }
}

/** View of a chain that has no index yet. */
export const emptySnapshot: Snapshot = {
  indexedRange: async () => undefined,
  marks: async () => ({ backfilled: false, settled: true, degraded: false }),
  rollbacks: async () => 0,
  identity: async () => undefined,
  writerReport: async () => undefined,
  async *records() {},
  countHistory: async () => 0,
  pending: async () => [],
  lookUpHash: async () => ({ kind: 'unknown' }),
  async *holdingCandidates() {},
  coverage: async () => ({}),
  async *auditedRecords() {},
  recount: async () => ({ isComplete: true, missing: [], unresolved: 0 }),
  async *accountEvents() {},
  blockRef: async () => undefined,
  close: async () => {}
}
