import { setImmediate as breathe } from 'node:timers/promises'
import type { BlockRef, Hash } from '../../model/evm.ts'
import { StoreError } from '../../platform/errors.ts'
import type { PoolUpdate } from '../port/pool.ts'
import type { WriterReport } from '../port/status.ts'
import type { StoreWriter, WriterState } from '../port/writer.ts'
import { hashLength } from '../record/encodeBlock.ts'
import { toHex } from '../record/hexBytes.ts'
import { inStoreOrder } from '../record/inStoreOrder.ts'
import type { PackedBlocks } from '../record/packBlocks.ts'
import { checkBlocks, coverageUpTo, coverageWith } from '../shared/blocks.ts'
import { isUnchanged } from '../shared/poolMirror.ts'
import { replaceReport, reportValues } from '../shared/rows.ts'
import { createBlockAppender } from './commit.ts'
import type { SqliteConnection } from './driver.ts'
import { inTransaction, type SqliteStatement } from './driver.ts'
import type { Layout } from './layout.ts'
import type { WriterLock } from './lock.ts'
import { createIdleWork, EpochMerger, type IdleWork } from './merge.ts'
import { type Cursor, createCursor, createMarkWriter } from './meta.ts'
import { PoolTable } from './pool.ts'
import { rollbackAll, rollbackTo } from './rollback.ts'
import { TallyTable } from './tally.ts'

/**
 * Each row is copied once a level and removed once, and there are few levels: with so many rows merged for each that is
 * appended, merging never falls behind.
 */
const mergedPerAppended = 8

/**
 * The writer over an open, migrated file. Every call blocks its thread until it is done, so that calls never overlap;
 * the promises are the port's.
 */
export class SqliteWriter implements StoreWriter {
  readonly #connection: SqliteConnection
  readonly #lock: WriterLock
  readonly #cursor: Cursor
  readonly #append: ReturnType<typeof createBlockAppender>
  readonly #pool: PoolTable
  readonly #tally: TallyTable
  readonly #marks: ReturnType<typeof createMarkWriter>
  readonly #report: SqliteStatement
  readonly #layout: Layout
  readonly #merger: EpochMerger
  readonly #idleWork: IdleWork
  /** Why merging in a pause failed; told by the next commit. */
  #failure: unknown
  #closed = false

  /** Owns both from now on: `close` ends the connection first, then the lock. */
  constructor(connection: SqliteConnection, lock: WriterLock, layout: Layout) {
    this.#connection = connection
    this.#lock = lock
    this.#cursor = createCursor(connection)
    this.#append = createBlockAppender(connection, layout)
    this.#pool = new PoolTable(connection, layout.minUndoBlocks)
    this.#tally = new TallyTable(connection)
    this.#marks = createMarkWriter(connection)
    this.#report = connection.prepare(
      `INSERT INTO writer_report VALUES (1, 1, ?, ?, ?, ?, ?, ?, ?, ?) ${replaceReport}`
    )
    this.#layout = layout
    this.#merger = new EpochMerger(connection, layout)
    this.#idleWork = createIdleWork(
      () => this.#merger.step(),
      layout.mergeAfterMs,
      error => {
        this.#failure = error
      }
    )
    this.#idleWork.postpone()
  }

  async state(): Promise<WriterState> {
    this.#checkOpen()
    const { indexedFrom, marks } = this.#cursor.meta()
    const head = this.#cursor.head()
    return {
      ...(head !== undefined && { head }),
      ...(indexedFrom !== undefined && { indexedFrom }),
      ...marks
    }
  }

  async commitBlocks(blocks: PackedBlocks, options: { readonly finalized?: number } = {}): Promise<void> {
    this.#checkOpen()
    this.#tellFailure()
    const last = blocks.headers.at(-1)
    if (last === undefined) return
    this.#idleWork.postpone()
    checkBlocks(blocks.headers, this.#cursor.head())
    const rows = inStoreOrder(blocks)
    this.#write(() => {
      this.#append(rows, options.finalized)
      this.#tally.add(rows)
      this.#tally.save()
      this.#marks.setCoverage(coverageWith(this.#cursor.meta().coverage, blocks.headers))
      if (options.finalized !== undefined) this.#marks.setFinal(Math.min(options.finalized, last.ref.number))
      this.#pool.settle(hashesOf(blocks), last.ref.number)
    })
    await this.#keepFew(blocks.partyIds.length + blocks.ids.length + blocks.candidateEnds.length)
    this.#idleWork.postpone()
  }

  async blockRef(number: number): Promise<BlockRef | undefined> {
    this.#checkOpen()
    return this.#cursor.block(number)
  }

  async rollbackTo(ancestor: BlockRef): Promise<void> {
    this.#checkOpen()
    const stored = this.#cursor.block(ancestor.number)
    if (stored?.hash !== ancestor.hash) {
      throw new StoreError(
        `cannot roll back to block ${ancestor.number} (${ancestor.hash}): the store has ${stored?.hash ?? 'none'} there`,
        { blockNumber: ancestor.number, blockHash: ancestor.hash, storedHash: stored?.hash }
      )
    }
    const head = this.#cursor.head()
    if (head === undefined || head.number === ancestor.number) return
    this.#write(() => {
      this.#marks.leave(ancestor.number, head.number)
      this.#removeAbove(ancestor)
    })
  }

  async rollbackAll(): Promise<void> {
    this.#checkOpen()
    const head = this.#cursor.head()
    this.#write(() => {
      if (head !== undefined) this.#marks.leave(undefined, head.number)
      rollbackAll(this.#connection)
      this.#marks.setCoverage({})
    })
    this.#tally.forget()
  }

  async markBackfilled(): Promise<void> {
    this.#checkOpen()
    this.#connection.exec('UPDATE meta SET backfilled = 1 WHERE backfilled = 0')
  }

  async markSettled(): Promise<void> {
    this.#checkOpen()
    this.#connection.exec('UPDATE meta SET settled = 1 WHERE settled = 0')
  }

  async markFinal(number: number): Promise<void> {
    this.#checkOpen()
    const head = this.#cursor.head()?.number ?? -1
    const reached = Math.min(number, head)
    const { finalized = -1 } = this.#cursor.meta().marks
    if (reached > finalized) this.#write(() => this.#marks.setFinal(reached))
  }

  async updatePool(update: PoolUpdate): Promise<void> {
    this.#checkOpen()
    const head = this.#cursor.head()?.number ?? -1
    const changes = this.#pool.compare(update, head)
    if (isUnchanged(changes)) return
    this.#write(() => this.#pool.apply(changes, head))
  }

  async report(report: Omit<WriterReport, 'beat'>): Promise<void> {
    this.#checkOpen()
    this.#report.run(reportValues(report))
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#idleWork.stop()
    try {
      this.#connection.close()
    } finally {
      this.#lock.release()
    }
  }

  #removeAbove(ancestor: BlockRef): void {
    const { talliedFrom, ...coverage } = coverageUpTo(this.#cursor.meta().coverage, ancestor.number)
    const tally = this.#tally.current()
    const isTallied = rollbackTo(this.#connection, ancestor, tally) && talliedFrom !== undefined
    if (!isTallied) tally.clear()
    this.#tally.save()
    this.#marks.setCoverage({ ...coverage, ...(isTallied && { talliedFrom }) })
  }

  /** Merges epochs as long as there are too many. Reports have their turn in between. */
  async #keepFew(appendedRows: number): Promise<void> {
    const { mostEpochs, mergeRows } = this.#layout
    let pieces = Math.ceil((appendedRows * mergedPerAppended) / mergeRows)
    while (pieces-- > 0 && !this.#closed && this.#merger.countEpochs() > mostEpochs) {
      if (!this.#merger.step()) return
      await breathe()
    }
  }

  #tellFailure(): void {
    const failure = this.#failure
    this.#failure = undefined
    if (failure !== undefined) throw failure
  }

  #write(work: () => void): void {
    try {
      inTransaction(this.#connection, work)
    } catch (error) {
      this.#pool.forget()
      this.#tally.forget()
      throw error
    }
  }

  #checkOpen(): void {
    if (this.#closed) throw new StoreError('the store is closed')
  }
}

function* hashesOf({ hashes }: PackedBlocks): Generator<Hash> {
  for (let at = 0; at < hashes.length; at += hashLength) yield toHex(hashes.subarray(at, at + hashLength))
}
