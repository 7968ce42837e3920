import type { Address, BlockRef, Hash, HoldingCandidate, PendingTransaction } from '../model/evm.ts'
import { type Damage, IndexDamagedError } from '../platform/errors.ts'
import type { AuditedChunk, BlockEvents, Recount } from '../port/audit.ts'
import type { ChangeBounds, ChangePage, ChangePosition, ChangesOptions } from '../port/changes.ts'
import type { HashLookup, HistoryPart } from '../port/history.ts'
import type {
  ChainIdentity,
  IndexCoverage,
  IndexedRange,
  IndexMarks,
  StoredBlock,
  WriterReport
} from '../port/status.ts'
import type { Snapshot } from '../port/store.ts'
import { decodeAccountEvents } from '../record/accountEvents.ts'
import { addressBytes, toHex } from '../record/hexBytes.ts'
import type { RecordChunk } from '../record/record.ts'
import { compareChecksums, type PartChecksum } from '../record/rowChecksums.ts'
import { type BlockRowsFound, findBlockDamage } from './findBlockDamage.ts'
import { namedBy } from './Pool.ts'
import { afterEntry, type ReplayedRows, replayChanges, requireKept } from './replayChanges.ts'
import {
  type ChainMeta,
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

/** How many more rows a recount may read. */
export interface RowBudget {
  /** @returns false: they are too many, or the time is over. */
  take(rows: number): boolean
}

/** The sums of the rows of a part of the address index, as they were written and as they are. */
export interface CountedRows {
  readonly written: PartChecksum
  readonly found: PartChecksum
  /** Places at which rows of the address are lost or altered, and it is unknown which. */
  readonly unresolved?: number
}

/** A snapshot of both engines, which add how rows are read. Every read checks the lease first. */
export abstract class IndexSnapshot implements Snapshot {
  readonly #lease: SnapshotLease

  constructor(lease: SnapshotLease) {
    this.#lease = lease
  }

  readonly version: number | undefined = undefined
  abstract indexedRange(): Promise<IndexedRange | undefined>
  abstract records(address: Address, part?: HistoryPart): AsyncIterable<RecordChunk>
  abstract countHistory(address: Address, atMost: number): Promise<number>
  abstract lookUpHash(hash: Hash): Promise<HashLookup>
  abstract auditedRecords(address: Address): AsyncIterable<AuditedChunk>
  abstract findRowDamage(firstPart: number, endPart: number): Promise<readonly Damage[]>
  abstract storedBlock(number: number): Promise<StoredBlock | undefined>

  protected abstract readonly meta: ChainMeta
  protected abstract readReport(): Promise<ReportColumns | undefined>
  protected abstract readPending(address: Uint8Array): Promise<readonly PendingColumns[]>
  /** Reads each candidate once, in the order of the port, in chunks that are not empty. */
  protected abstract readHoldings(
    owner: Uint8Array,
    isAudit: boolean
  ): AsyncIterable<readonly HoldingColumns[]>
  /** Whether all candidates of an owner are there, and as they were written. */
  protected abstract hasAllHoldings(owner: Uint8Array): Promise<boolean>
  /** Reads the rows of the blocks `from` to `to`, and which of them differ from their checksums. */
  protected abstract readBlockRows(from: number, to: number): Promise<BlockRowsFound>
  /** Reads the next events of an account after a block. */
  protected abstract readEvents(
    address: Uint8Array,
    after: number,
    limit: number
  ): Promise<readonly EventColumns[]>
  /**
   * Sums up the counted rows of the part that an address is in.
   * @returns nothing when the budget does not suffice.
   */
  protected abstract countRows(address: Address, budget: RowBudget): Promise<CountedRows | undefined>

  /** Reads the log of changes, and the records that it names. */
  protected abstract readonly logged: Omit<ReplayedRows, 'blockRef'>

  async blockRef(number: number): Promise<BlockRef | undefined> {
    return (await this.storedBlock(number))?.ref
  }

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
    const key = addressBytes(address)
    const pending = toPending(await this.readPending(key))
    if (pending.every(each => namedBy(each).has(toHex(key)))) return pending
    throw new IndexDamagedError({ part: 'poolEntry' }, 'an address leads to an entry of others')
  }

  async *holdingCandidates(
    address: Address,
    { isAudit = false }: { readonly isAudit?: boolean } = {}
  ): AsyncGenerator<readonly HoldingCandidate[]> {
    for await (const rows of this.readHoldings(addressBytes(address), isAudit)) {
      yield rows.map(row => toCandidate(address, row))
    }
  }

  async *accountEvents(address: Address, fromBlock = 0): AsyncGenerator<readonly BlockEvents[]> {
    const key = addressBytes(address)
    let after = fromBlock - 1
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
    // Nothing was counted: nothing can differ from it.
    if (this.#checkedMeta().coverage.countedFrom === undefined) {
      return { isComplete: true, missing: [], unresolved: 0 }
    }
    let left = maxRows
    const budget = {
      take: (rows: number) => {
        left -= rows
        return left >= 0 && !signal?.aborted
      }
    }
    const counted = await this.countRows(address, budget)
    if (counted === undefined) return { isComplete: false, missing: [], unresolved: 0 }
    const difference = compareChecksums(counted.written, counted.found, address)
    const lacksHoldings = !(await this.hasAllHoldings(addressBytes(address)))
    return {
      isComplete: true,
      ...difference,
      unresolved: difference.unresolved + (counted.unresolved ?? 0) + Number(lacksHoldings)
    }
  }

  async changeBounds(): Promise<ChangeBounds> {
    return toBounds(this.#checkedMeta())
  }

  async requireKept(after: ChangePosition): Promise<void> {
    await requireKept(this.logged, toBounds(this.#checkedMeta()), after)
  }

  async *changes(after: ChangePosition, options?: ChangesOptions): AsyncGenerator<ChangePage> {
    const rows = { ...this.logged, blockRef: (number: number) => this.blockRef(number) }
    yield* replayChanges(rows, toBounds(this.#checkedMeta()), after, options)
  }

  async findDamage(from: number, to: number): Promise<readonly Damage[]> {
    this.#checkedMeta()
    return findBlockDamage(await this.readBlockRows(from, to), from, to)
  }

  async close(): Promise<void> {
    this.#lease.end('closed')
  }

  #checkedMeta(): ChainMeta {
    this.#lease.check()
    return this.meta
  }
}

/** Returns the part of the log that can be replayed. */
export function toBounds({ changes: { log, from, to } }: ChainMeta): ChangeBounds {
  return { log, oldest: afterEntry(from), newest: afterEntry(to) }
}

/** View of a chain that has no index yet. */
export const emptySnapshot: Snapshot = {
  version: undefined,
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
  findDamage: async () => [],
  findRowDamage: async () => [],
  recount: async () => ({ isComplete: true, missing: [], unresolved: 0 }),
  async *accountEvents() {},
  changeBounds: async () => ({ log: '', oldest: afterEntry(0), newest: afterEntry(0) }),
  requireKept: async () => {},
  async *changes() {},
  blockRef: async () => undefined,
  storedBlock: async () => undefined,
  close: async () => {}
}
