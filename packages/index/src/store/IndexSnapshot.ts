import type { Address, BlockRef, Hash, HoldingCandidate, PendingTransaction } from '../model/evm.ts'
import { type Damage, unlessDamaged } from '../platform/errors.ts'
import type { AuditedChunk, BlockEvents, MissingPart } from '../port/audit.ts'
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
import { findAccountEvents } from '../record/extra.ts'
import { addressBytes } from '../record/hexBytes.ts'
import type { RecordChunk } from '../record/record.ts'
import { isSound } from '../record/recordSums.ts'
import { toPosition, toTransactionId } from '../record/transactionId.ts'
import type { FilteredRun } from '../runs/filters.ts'
import { findChunkDamage } from '../runs/findChunkDamage.ts'
import { Manifest } from '../runs/Manifest.ts'
import { RunReader } from '../runs/RunReader.ts'
import type { ReadTransaction } from '../runs/Transaction.ts'
import { findBlockDamage, findDamagedRows, readBlock, readBlocks, readRange } from './blocks.ts'
import { createReplay } from './changes.ts'
import { readPending } from './poolTables.ts'
import { findByHash, nextChunkSize, readChunk, type StoredRecord } from './records.ts'
import { findReorged } from './reorged.ts'
import { afterEntry, type ReplayedRows, replayChanges, requireKept } from './replayChanges.ts'
import { readReport } from './report.ts'
import { type ChainMeta, toCandidate, toPending, toWriterReport } from './rows.ts'
import type { SnapshotLease } from './SnapshotLeases.ts'
import { selectIn } from './sets.ts'

/** Rows that are counted before other work of the thread runs. */
const countedAtOnce = 20_000
const eventBlocksAtOnce = 500
const noRecord = new Uint8Array(0)

/** The state of an index as a whole, as one transaction sees it. */
export interface IndexFacts {
  readonly meta: ChainMeta
  /** All runs. */
  readonly newestFirst: readonly FilteredRun[]
  /** Absent until it is read for the first time. */
  range?: { readonly found: IndexedRange | undefined }
}

/** One open transaction of a reader, over any store. Long reads are cut into short ones with a pause in between. */
export class IndexSnapshot implements Snapshot {
  readonly #lease: SnapshotLease
  #reads: ReadTransaction
  #facts: IndexFacts
  readonly version: number | undefined

  /** @param facts - as of the transaction. */
  constructor(reads: ReadTransaction, lease: SnapshotLease, facts: IndexFacts, version: number | undefined) {
    this.#reads = reads
    this.#lease = lease
    this.#facts = facts
    this.version = version
  }

  /** Reads on in another transaction. */
  protected goOn(reads: ReadTransaction, facts: IndexFacts): void {
    this.#reads = reads
    this.#facts = facts
  }

  #logged(): ReplayedRows {
    const replay = createReplay(() => this.#open(), this.#chainId)
    return { ...replay, blockRef: number => this.blockRef(number) }
  }

  async indexedRange(): Promise<IndexedRange | undefined> {
    const reads = this.#open()
    this.#facts.range ??= { found: await readRange(reads, this.#facts.meta) }
    return this.#facts.range.found
  }

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

  async storedBlock(number: number): Promise<StoredBlock | undefined> {
    return readBlock(this.#open(), this.#facts.meta, number)
  }

  async *records(address: Address, { olderThan, limit }: HistoryPart = {}): AsyncGenerator<RecordChunk> {
    const before = olderThan === undefined ? undefined : toTransactionId(olderThan)
    const cursor = this.#runs.history(addressBytes(address), before)
    const { recordsAtOnce } = this.#reads
    let left = limit ?? Number.MAX_SAFE_INTEGER
    let wanted = recordsAtOnce
    while (left > 0) {
      this.#open()
      const asked = Math.min(wanted, left)
      const { ids } = await cursor.next(asked)
      if (ids.length === 0) return
      const chunk = await readChunk(this.#open(), this.#chainId, ids)
      yield chunk
      if (ids.length < asked) return
      left -= asked
      wanted = nextChunkSize(ids.length, chunk.bytes.length, recordsAtOnce)
      if (left > 0) await this.#lease.pause()
    }
  }

  async countHistory(address: Address, atMost: number): Promise<number> {
    const cursor = this.#runs.history(addressBytes(address))
    let count = 0
    for (; count < atMost; await this.#lease.pause()) {
      this.#open()
      const asked = Math.min(countedAtOnce, atMost - count)
      const found = (await cursor.next(asked)).ids.length
      count += found
      if (found < asked) break
    }
    return count
  }

  async lookUpHash(hash: Hash): Promise<HashLookup> {
    const id = await findByHash(this.#open(), this.#chainId, this.#runs, hash)
    if (id !== undefined) return { kind: 'confirmed', position: toPosition(id) }
    const commonAncestor = await findReorged(this.#open(), this.#chainId, hash)
    return commonAncestor === undefined ? { kind: 'unknown' } : { kind: 'reorged', commonAncestor }
  }

  async *auditedRecords(address: Address): AsyncGenerator<AuditedChunk> {
    const cursor = this.#runs.history(addressBytes(address))
    for (let isFull = true; isFull; await this.#lease.pause()) {
      const { recordsAtOnce } = this.#reads
      this.#open()
      const { ids } = await cursor.next(recordsAtOnce)
      isFull = ids.length === recordsAtOnce
      if (ids.length > 0) yield await this.#audit(ids)
    }
  }

  async findChunkDamage(firstPart: number, endPart: number): Promise<readonly Damage[]> {
    const found: Damage[] = []
    const runs = this.#facts.newestFirst.map(({ run }) => run)
    const { runs: mark } = this.#facts.meta
    // The manifest itself is in memory: nothing else would ever see that its rows are damaged.
    const manifest = firstPart === 0 ? Manifest.read(this.#open(), this.#chainId, mark) : undefined
    if (manifest && !(await unlessDamaged(manifest))) found.push({ part: 'manifest' })
    for await (const damage of findChunkDamage(this.#open(), this.#chainId, runs, firstPart, endPart)) {
      if (damage === undefined) await this.#lease.pause()
      else found.push(damage)
      this.#open()
    }
    return found
  }

  async *accountEvents(address: Address, fromBlock = 0): AsyncGenerator<readonly BlockEvents[]> {
    const key = addressBytes(address)
    for await (const ids of this.#runs.eventBlocks(key, fromBlock)) {
      const numbers = ids.map(id => toPosition(id).blockNumber).filter(number => number >= fromBlock)
      for (let at = 0; at < numbers.length; at += eventBlocksAtOnce) {
        const events = await this.#eventsOf(key, numbers.slice(at, at + eventBlocksAtOnce))
        yield events
        await this.#lease.pause()
      }
    }
  }

  async writerReport(): Promise<WriterReport | undefined> {
    const row = await readReport(this.#open(), this.#chainId)
    return row && toWriterReport(row)
  }

  async pending(address: Address): Promise<readonly PendingTransaction[]> {
    return toPending(await readPending(this.#open(), this.#chainId, addressBytes(address)))
  }

  async *holdingCandidates(address: Address): AsyncGenerator<readonly HoldingCandidate[]> {
    for await (const tokens of this.#runs.tokens(addressBytes(address))) {
      yield tokens.map(token => toCandidate(address, token))
      await this.#lease.pause()
      this.#open()
    }
  }

  async changeBounds(): Promise<ChangeBounds> {
    return toBounds(this.#checkedMeta())
  }

  async requireKept(after: ChangePosition): Promise<void> {
    await requireKept(this.#logged(), toBounds(this.#checkedMeta()), after)
  }

  async *changes(after: ChangePosition, options?: ChangesOptions): AsyncGenerator<ChangePage> {
    yield* replayChanges(this.#logged(), toBounds(this.#checkedMeta()), after, options)
  }

  async findDamage(from: number, to: number): Promise<readonly Damage[]> {
    return findBlockDamage(this.#open(), this.#facts.meta, from, to)
  }

  async close(): Promise<void> {
    this.#lease.end('closed')
  }

  #checkedMeta(): ChainMeta {
    this.#lease.check()
    return this.#facts.meta
  }

  /** Reads records that may be lost or altered, and looks for their hashes and blocks. */
  async #audit(wanted: readonly number[]): Promise<AuditedChunk> {
    const text = 'SELECT id, rec FROM tx WHERE id IN (?)'
    const rows = await selectIn<StoredRecord>(this.#open(), text, wanted)
    const records = new Map(rows.map(({ id, rec }) => [id, rec]))
    const numbers = new Set(wanted.map(id => toPosition(id).blockNumber))
    const damaged = await findDamagedRows(this.#open(), this.#facts.meta, [...numbers])
    const ids: number[] = []
    const missing: MissingPart[] = []
    for (const id of wanted) {
      const position = toPosition(id)
      const rec = records.get(id)
      if (rec === undefined) missing.push({ position, part: 'record' })
      else if (!isSound(this.#chainId, id, rec)) missing.push({ position, part: 'alteredRecord' })
      else {
        ids.push(id)
        if (!(await this.#isFoundByHash(rec, id))) missing.push({ position, part: 'hash' })
      }
      const part = damaged.get(position.blockNumber)
      if (part !== undefined) missing.push({ position, part })
      // An altered block is named once.
      if (part === 'alteredBlock') damaged.delete(position.blockNumber)
    }
    const bytes = Buffer.concat(ids.map(id => records.get(id) ?? noRecord))
    return { ids, bytes, missing }
  }

  async #isFoundByHash(record: Uint8Array, id: number): Promise<boolean> {
    const { blockNumber } = toPosition(id)
    const rows = this.#runs.hash(record.subarray(1), blockNumber)
    const found = await unlessDamaged(rows.next(Number.MAX_SAFE_INTEGER))
    return found?.ids.includes(id) === true
  }

  async #eventsOf(address: Uint8Array, numbers: readonly number[]): Promise<readonly BlockEvents[]> {
    const events: BlockEvents[] = []
    for (const { number, extra } of await readBlocks(this.#open(), this.#facts.meta, numbers)) {
      const found = extra && findAccountEvents(extra, address)
      if (found !== undefined) events.push({ blockNumber: number, events: found })
    }
    return events
  }

  get #runs(): RunReader {
    return new RunReader(this.#open(), this.#chainId, this.#facts.newestFirst)
  }

  get #chainId(): number {
    return this.#facts.meta.identity.chainId
  }

  #open(): ReadTransaction {
    this.#lease.check()
    return this.#reads
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
  findChunkDamage: async () => [],
  async *accountEvents() {},
  changeBounds: async () => ({ log: '', oldest: afterEntry(0), newest: afterEntry(0) }),
  requireKept: async () => {},
  async *changes() {},
  blockRef: async () => undefined,
  storedBlock: async () => undefined,
  close: async () => {}
}
