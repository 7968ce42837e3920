import type { BlockRef, Hash, IndexedBlock } from '../../model/evm.ts'
import { StoreError } from '../../platform/errors.ts'
import type { PoolUpdate, StoreWriter, WriterReport, WriterState } from '../store.ts'
import type { WriterLock } from './acquireWriterLock.ts'
import { checkBlocks } from './checkBlocks.ts'
import { createBlockAppender, type Layout } from './commitBlocks.ts'
import { type Cursor, createCursor } from './cursor.ts'
import type { SqliteConnection } from './driver.ts'
import { inTransaction } from './inTransaction.ts'
import { createMarkWriter } from './markWriter.ts'
import { isUnchanged, PoolTable } from './poolTable.ts'
import { createReportWriter } from './reportTable.ts'
import { rollbackAll, rollbackTo } from './rollback.ts'

/**
 * The writer over an open, migrated file. Every call blocks its thread until it is done, so that calls never overlap;
 * the promises are the port's.
 */
export class SqliteWriter implements StoreWriter {
  readonly #connection: SqliteConnection
  readonly #lock: WriterLock
  readonly #cursor: Cursor
  readonly #blocks: ReturnType<typeof createBlockAppender>
  readonly #pool: PoolTable
  readonly #marks: ReturnType<typeof createMarkWriter>
  readonly #writeReport: ReturnType<typeof createReportWriter>
  #closed = false

  /** Owns both from now on: `close` ends the connection first, then the lock. */
  constructor(connection: SqliteConnection, lock: WriterLock, layout: Layout) {
    this.#connection = connection
    this.#lock = lock
    this.#cursor = createCursor(connection)
    this.#blocks = createBlockAppender(connection, layout)
    this.#pool = new PoolTable(connection, layout.minUndoBlocks)
    this.#marks = createMarkWriter(connection)
    this.#writeReport = createReportWriter(connection)
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

  async commitBlocks(
    blocks: readonly IndexedBlock[],
    options: { readonly finalized?: number } = {}
  ): Promise<void> {
    this.#checkOpen()
    const last = blocks.at(-1)
    if (last === undefined) return
    checkBlocks(blocks, this.#cursor.head())
    // All encoding happens before the transaction: a value that cannot be stored never opens one.
    const rows = this.#blocks.collect(blocks)
    this.#write(() => {
      this.#blocks.append(rows, options.finalized)
      if (options.finalized !== undefined) this.#marks.setFinal(Math.min(options.finalized, last.ref.number))
      this.#pool.settle(hashesOf(blocks), last.ref.number)
    })
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
      rollbackTo(this.#connection, ancestor)
    })
  }

  async rollbackAll(): Promise<void> {
    this.#checkOpen()
    const head = this.#cursor.head()
    this.#write(() => {
      if (head !== undefined) this.#marks.leave(undefined, head.number)
      rollbackAll(this.#connection)
    })
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
    this.#writeReport(report)
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    try {
      this.#connection.close()
    } finally {
      this.#lock.release()
    }
  }

  #write(work: () => void): void {
    try {
      inTransaction(this.#connection, work)
    } catch (error) {
      this.#pool.forget()
      throw error
    }
  }

  #checkOpen(): void {
    if (this.#closed) throw new StoreError('the store is closed')
  }
}

function* hashesOf(blocks: readonly IndexedBlock[]): Generator<Hash> {
  for (const { transactions } of blocks) {
    for (const { transaction } of transactions) yield transaction.hash
  }
}
