import { setImmediate as breathe } from 'node:timers/promises'
import type { BlockRef, Hash } from '../model/evm.ts'
import { type Damage, IndexDamagedError } from '../platform/errors.ts'
import type { WriterReport } from '../port/status.ts'
import type { Suspects } from '../port/writer.ts'
import { toHex } from '../record/hexBytes.ts'
import type { PackedBlocks } from '../record/packBlocks.ts'
import { toPosition } from '../record/transactionId.ts'
import type { UndoLayout } from '../shared/blocks.ts'
import { defaultLogLayout, type LogLayout, type LogRows, type LogWrite } from '../shared/ChangeLog.ts'
import type {
  AppendChange,
  Mark,
  PoolChange,
  PrependChange,
  Rollback,
  WriterEngine
} from '../shared/IndexWriter.ts'
import type { PoolRows } from '../shared/Pool.ts'
import { type ChainMeta, reportColumns, reportValues } from '../shared/rows.ts'
import { createLogRows, createLogWriter } from './changes.ts'
import { createBlockAppender } from './commit.ts'
import { takeDamageFile } from './damageFile.ts'
import { inTransaction, type SqliteConnection, type SqliteStatement } from './driver.ts'
import { createEpochList } from './epochList.ts'
import { EpochSums, proofs } from './epochSums.ts'
import { createIdleWork, type IdleWork } from './idleWork.ts'
import { createKeyParts, poolAddresses } from './keyParts.ts'
import { linkBlock } from './linkedEdits.ts'
import type { WriterLock } from './lock.ts'
import { EpochMerger, type MergerLayout } from './merge.ts'
import { createCursor, createMarkWriter, sealMeta } from './meta.ts'
import type { ChainFiles } from './open.ts'
import { createPoolRows, createPoolWriter } from './pool.ts'
import { removeBlock } from './removeBlock.ts'
import { prepareReorged } from './reorged.ts'
import { hasUndoAbove, rollbackAll, rollbackTo } from './rollback.ts'
import { prepareSealed } from './sealedRows.ts'
import { acceptCandidates, findSuspectCandidates } from './suspectCandidates.ts'
import { acceptRows, checkKey, claimedBlocks, endOfEpoch, findSuspectRows } from './suspectRows.ts'

/** How the writer lays out what it stores; readers find it in the file. */
export interface Layout extends MergerLayout, UndoLayout, LogLayout {
  /** While blocks arrive without a pause, epochs are merged only as far as there are more than so many. */
  readonly maxEpochs: number
  /** After so long without new blocks epochs are merged, bit by bit; null: never. */
  readonly mergeAfterMs: number | null
}

/** Default of a server; docs/decisions/0056-epochs-are-merged.md says how the figures of epochs were found. */
export const defaultLayout: Layout = {
  epochTransactions: 100_000,
  mergeFanOut: 8,
  mergeRows: 4_000,
  maxEpochs: 128,
  mergeAfterMs: 250,
  minUndoBlocks: 256,
  maxUndoBlocks: 8192,
  ...defaultLogLayout
}

/**
 * Each row is copied once a level and removed once, and there are few levels: with so many rows merged for each that is
 * appended, merging never falls behind.
 */
const mergedPerAppended = 8

/** Writes to an open file. Every call blocks its thread until it is done. */
export class SqliteWriter implements WriterEngine {
  readonly pool: PoolRows
  readonly log: LogRows
  readonly #connection: SqliteConnection
  readonly #chainId: number
  readonly #files: ChainFiles
  readonly #lock: WriterLock
  readonly #layout: Layout
  readonly #cursor: ReturnType<typeof createCursor>
  readonly #list: ReturnType<typeof createEpochList>
  readonly #sums: EpochSums
  readonly #appender: ReturnType<typeof createBlockAppender>
  readonly #changePool: ReturnType<typeof createPoolWriter>
  readonly #writeLog: ReturnType<typeof createLogWriter>
  readonly #marks: ReturnType<typeof createMarkWriter>
  readonly #lastBeat: SqliteStatement<{ beat: number }>
  readonly #putReport: ReturnType<typeof prepareSealed>
  readonly #merger: EpochMerger
  readonly #idleWork: IdleWork
  #isMergeable = true
  #metByMerging: Damage[] = []
  /** Why merging in a pause failed; thrown by the next commit. */
  #failure: unknown
  #isClosed = false

  /** Owns connection and lock from now on: `close` ends the connection first, then the lock. */
  constructor(
    connection: SqliteConnection,
    chainId: number,
    files: ChainFiles,
    lock: WriterLock,
    layout: Layout
  ) {
    this.#connection = connection
    this.#chainId = chainId
    this.#files = files
    this.#lock = lock
    this.#layout = layout
    this.#cursor = createCursor(connection)
    this.#list = createEpochList(connection)
    this.#sums = new EpochSums(connection)
    this.#appender = createBlockAppender(connection, chainId, layout, this.#sums)
    this.pool = createPoolRows(connection, chainId)
    this.#changePool = createPoolWriter(connection, chainId)
    this.log = createLogRows(connection, chainId)
    this.#writeLog = createLogWriter(connection, chainId)
    this.#marks = createMarkWriter(connection)
    this.#lastBeat = connection.prepare<{ beat: number }>('SELECT beat FROM writer_report')
    const reported = ['id', 'beat', ...reportColumns]
    this.#putReport = prepareSealed(connection, chainId, 'writer_report', reported, 'INSERT OR REPLACE')
    this.#merger = new EpochMerger(connection, chainId, layout)
    this.#idleWork = createIdleWork(
      () => this.#merge(),
      layout.mergeAfterMs,
      error => {
        this.#failure = error
      }
    )
    this.#idleWork.postpone()
  }

  async meta(): Promise<ChainMeta> {
    this.#connection.guard?.()
    return this.#cursor.meta()
  }

  async head(): Promise<BlockRef | undefined> {
    return this.#cursor.head()
  }

  async block(number: number): Promise<BlockRef | undefined> {
    return this.#cursor.block(number)?.ref
  }

  async parentHash(number: number): Promise<Hash | undefined> {
    const row = this.#connection
      .prepare<{ hash: Uint8Array }>('SELECT parent_hash AS hash FROM block WHERE number = ?')
      .get([number])
    return row && toHex(row.hash)
  }

  async newestStored(): Promise<number> {
    const newest = this.#connection.prepare<{ number: number | null; id: number | null }>(
      'SELECT (SELECT max(number) FROM block) AS number, (SELECT max(id) FROM tx) AS id'
    )
    const { number = null, id = null } = newest.get([]) ?? {}
    return Math.max(number ?? -1, id === null ? -1 : toPosition(id).blockNumber)
  }

  async hasReorged(): Promise<boolean> {
    return this.#connection.prepare('SELECT 1 FROM reorged LIMIT 1').get([]) !== undefined
  }

  async hasUndoAbove(number: number): Promise<boolean> {
    return hasUndoAbove(this.#connection, this.#chainId, number)
  }

  async append(blocks: PackedBlocks, change: AppendChange): Promise<void> {
    this.#throwFailure()
    this.#idleWork.postpone()
    this.#change(() => {
      this.#appender.append(blocks, change)
      this.#marks.setHead(blocks.headers.at(-1)?.ref.number)
      if (change.coverage !== undefined) this.#marks.setCoverage(change.coverage)
      if (change.finalized !== undefined) this.#marks.setFinal(change.finalized)
      this.#storePool(change)
    })
  }

  async prepend(blocks: PackedBlocks, { coverage, mayHaveReorged, ended }: PrependChange): Promise<void> {
    this.#throwFailure()
    this.#idleWork.postpone()
    this.#change(() => {
      this.#appender.prepend(blocks, mayHaveReorged)
      if (coverage !== undefined) this.#marks.setCoverage(coverage)
      if (ended !== undefined) this.#storePool(ended)
    })
  }

  takeDamage(): readonly Damage[] {
    const met = this.#metByMerging
    this.#metByMerging = []
    return [...met, ...takeDamageFile(this.#files.damage)]
  }

  async findSuspects(damage: Damage): Promise<Suspects | undefined> {
    if (damage.part === 'candidate') return findSuspectCandidates(this.#connection, this.#chainId, damage)
    const found = checkKey(this.#connection, damage)
    if (found === undefined) return undefined
    const suspects = findSuspectRows(this.#connection, found)
    if (suspects === undefined) return { damage: found, likely: [] }
    const { firstBlock } = suspects.epoch
    const range = { from: firstBlock, to: endOfEpoch(this.#connection, suspects.epoch) - 1 }
    return { damage: found, likely: claimedBlocks(this.#connection, suspects), range }
  }

  async acceptRows(damage: Damage): Promise<void> {
    const chainId = this.#chainId
    // Other transactions are refused until the list is sound again.
    if (damage.part === 'epochs') inTransaction(this.#connection, () => this.#list.restore())
    this.#change(() => {
      if (damage.part === 'epochs') return this.#sums.forget()
      if (damage.part === 'undo') return prepareReorged(this.#connection, chainId).forgetDamaged()
      this.#sums.forget()
      if (damage.part === 'candidate') return acceptCandidates(this.#connection, damage)
      const suspects = findSuspectRows(this.#connection, damage)
      if (suspects === undefined) return
      acceptRows(this.#connection, chainId, suspects, endOfEpoch(this.#connection, suspects.epoch))
    })
    this.#isMergeable = true
    this.#idleWork.postpone()
  }

  async replace(block: PackedBlocks, damage: Damage): Promise<void> {
    this.#change(() => {
      const { epoch, hadUndo } = removeBlock(this.#connection, block, damage)
      this.#appender.putBack(block, epoch, hadUndo)
      if (epoch.proof === proofs.rows) linkBlock(this.#connection, epoch.id, block)
    })
    this.#isMergeable = true
    this.#idleWork.postpone()
  }

  /** Merges epochs as long as there are too many. Reports have their turn in between. */
  async afterCommit(rows: number): Promise<void> {
    const { maxEpochs, mergeRows } = this.#layout
    let pieces = Math.ceil((rows * mergedPerAppended) / mergeRows)
    while (pieces-- > 0 && !this.#isClosed && this.#merger.countEpochs() > maxEpochs) {
      if (!this.#merge()) break
      await breathe()
    }
    this.#idleWork.postpone()
  }

  async removeAbove(ancestor: BlockRef, rollback: Rollback): Promise<void> {
    this.#change(() => {
      this.#marks.leave(ancestor.number, rollback.head)
      // Sums that are kept may be those of an epoch that is removed.
      this.#sums.forget()
      rollbackTo(this.#connection, this.#chainId, ancestor, rollback, this.#sums)
      this.#marks.setHead(ancestor.number)
      const { coverage } = rollback.known()
      if (coverage !== undefined) this.#marks.setCoverage(coverage)
      this.#writeLog(rollback.log)
    })
  }

  async removeAll(head: number | undefined, log: LogWrite): Promise<void> {
    this.#change(() => {
      this.#sums.forget()
      if (head !== undefined) this.#marks.leave(undefined, head)
      rollbackAll(this.#connection, this.#chainId)
      this.#marks.setHead(undefined)
      this.#marks.setCoverage({})
      this.#writeLog(log)
    })
  }

  async setMark(mark: Mark, log: LogWrite | undefined): Promise<void> {
    this.#change(() => {
      if (typeof mark === 'string') this.#connection.exec(`UPDATE meta SET ${mark} = 1`)
      else this.#marks.setFinal(mark.finalized)
      if (log !== undefined) this.#writeLog(log)
    })
  }

  async dropPool(log: LogWrite): Promise<void> {
    this.#change(() => {
      for (const table of ['pool', 'pool_address', 'first_seen'])
        this.#connection.exec(`DELETE FROM ${table}`)
      createKeyParts(this.#connection, poolAddresses).clear()
      this.#connection.exec('UPDATE meta SET settled = 0')
      this.#writeLog(log)
    })
  }

  async dropLog(log: LogWrite): Promise<void> {
    this.#change(() => this.#writeLog(log))
  }

  async writePool(change: PoolChange): Promise<void> {
    this.#change(() => this.#storePool(change))
  }

  async report(report: Omit<WriterReport, 'beat'>): Promise<void> {
    inTransaction(this.#connection, () => {
      const beat = this.#lastBeat.get([])?.beat ?? 0
      this.#putReport([1, beat + 1, ...reportValues(report)])
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#idleWork.stop()
    try {
      this.#connection.close()
    } finally {
      this.#lock.release()
    }
  }

  #storePool({ pool, log }: PoolChange): void {
    this.#changePool(pool)
    this.#writeLog(log)
  }

  /** Changes rows of epochs, or of `meta`, in one transaction. */
  #change(work: () => void): void {
    try {
      inTransaction(this.#connection, () => {
        // Of a damaged row no sound one is made.
        this.#cursor.meta()
        work()
        sealMeta(this.#connection)
        this.#list.stamp()
      })
    } catch (error) {
      this.#sums.forget()
      throw error
    }
  }

  /**
   * Does a piece of the merging. Damage that it meets is reported, and ends it until a block is replaced: what is copied must be
   * what was written.
   */
  #merge(): boolean {
    try {
      return this.#isMergeable && this.#merger.step()
    } catch (error) {
      if (!(error instanceof IndexDamagedError)) throw error
      this.#isMergeable = false
      this.#metByMerging.push(error.damage)
      return false
    }
  }

  #throwFailure(): void {
    const failure = this.#failure
    this.#failure = undefined
    if (failure !== undefined) throw failure
  }
}
