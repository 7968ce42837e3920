import type { BlockRef, Hash } from '../model/evm.ts'
import { type Damage, IndexDamagedError } from '../platform/errors.ts'
import type { IndexCoverage, WriterReport } from '../port/status.ts'
import { hashLength } from '../record/encodeBlock.ts'
import { hashBytes, toHex } from '../record/hexBytes.ts'
import type { PackedBlocks } from '../record/packBlocks.ts'
import { hashOfRecord } from '../record/record.ts'
import { checkRecord } from '../record/recordSums.ts'
import { firstTransactionId } from '../record/transactionId.ts'
import { RunReader } from '../runs/RunReader.ts'
import { type ManifestRepair, type RunLayout, RunWriter } from '../runs/RunWriter.ts'
import type { WritableStore, WriteOptions, WriteTransaction } from '../runs/Transaction.ts'
import { deleteAllBlocks, deleteBlocks, insertBlocks, readBlock } from './blocks.ts'
import type { LogRows, LogWrite } from './ChangeLog.ts'
import { createLogRows, writeLog } from './changes.ts'
import { deleteCounted, reorgedHashes } from './keyParts.ts'
import { MetaEdit, readMeta } from './meta.ts'
import type { PoolRows, PoolWrite } from './Pool.ts'
import { createPoolRows, deletePool, writePool } from './poolTables.ts'
import { forgetDamagedReorged, forgetReorged, hasReorged, rememberReorged } from './reorged.ts'
import { writeReport } from './report.ts'
import type { ChainMeta } from './rows.ts'
import { createStoredRows } from './storedRows.ts'

/** Blocks in which a transaction of the pool is looked for: one in an older block has left every pool. */
const recentBlocks = 1_024

export interface AppendChange extends PoolChange {
  /** Coverage afterwards; absent: unchanged. */
  readonly coverage?: IndexCoverage
  /** Newest of the blocks up to `last` that is final; absent: says nothing new. */
  readonly finalized: number | undefined
  /** Hashes that a reorg removed may be among the blocks': they are confirmed again. */
  readonly mayHaveReorged: boolean
}

/** Changes of the stored pool, and the entry of the log that tells of them. */
export interface PoolChange {
  readonly pool: PoolWrite
  readonly log: LogWrite
}

/** Blocks that are stored below the first one. */
export interface PrependChange extends Pick<AppendChange, 'coverage' | 'mayHaveReorged'> {
  /** Absent: the pool has none of their transactions, as nearly always. */
  readonly ended?: PoolChange
}

export interface Rollback {
  readonly head: number
  readonly coverage: IndexCoverage
  readonly log: LogWrite
}

/** A column of `meta` that becomes true, or the newest stored block that is final. */
export type Mark = 'backfilled' | 'settled' | { readonly finalized: number }

/** How the writer spreads merging over the time. */
export interface RunEngineLayout extends RunLayout {
  /** While blocks arrive without a pause, runs are merged only as far as there are more than so many. */
  readonly maxRuns: number
}

/** Writes the index of one chain, over any store. */
export class RunEngine {
  readonly pool: PoolRows
  readonly log: LogRows
  readonly #store: WritableStore
  readonly #chainId: number
  readonly #layout: RunEngineLayout
  readonly #runs: RunWriter
  readonly #takeDamage: () => readonly Damage[]
  /** Damage that merging or resealing met. Nothing is merged until a block is replaced. */
  #met: Damage[] = []
  #isMergeable = true

  /** @param takeDamage - takes the damage that readers have reported. */
  constructor(
    store: WritableStore,
    chainId: number,
    takeDamage: () => readonly Damage[],
    layout: RunEngineLayout
  ) {
    this.#store = store
    this.#chainId = chainId
    this.#layout = layout
    this.#takeDamage = takeDamage
    this.#runs = new RunWriter(chainId, createStoredRows(chainId), layout)
    this.pool = createPoolRows(store.reads, chainId, (hashes, head) => this.#confirmedOf(hashes, head))
    this.log = createLogRows(store.reads, chainId)
  }

  async meta(): Promise<ChainMeta> {
    return readMeta(this.#store.reads)
  }

  async head(): Promise<BlockRef | undefined> {
    const meta = await this.meta()
    return (await readBlock(this.#store.reads, meta, meta.head ?? -1))?.ref
  }

  async block(number: number): Promise<BlockRef | undefined> {
    return (await readBlock(this.#store.reads, await this.meta(), number))?.ref
  }

  async parentHash(number: number): Promise<Hash | undefined> {
    const text = 'SELECT parent_hash AS hash FROM block WHERE number = ?'
    const [row] = await this.#store.reads.all<{ hash: Uint8Array }>(text, [number])
    return row && toHex(row.hash)
  }

  hasReorged(): Promise<boolean> {
    return hasReorged(this.#store.reads)
  }

  takeDamage(): readonly Damage[] {
    const met = this.#met
    this.#met = []
    return [...met, ...this.#takeDamage()]
  }

  append(blocks: PackedBlocks, change: AppendChange): Promise<void> {
    return this.#change(async (transaction, meta) => {
      const [first, last] = [blocks.headers[0], blocks.headers.at(-1)]
      if (first === undefined || last === undefined) return
      if (meta.meta.indexedFrom === undefined) meta.setIndexedFrom(first.ref.number)
      await this.#insert(transaction, meta, blocks)
      meta.setHead(last.ref.number)
      if (change.coverage !== undefined) meta.setCoverage(change.coverage)
      if (change.finalized !== undefined) meta.setFinal(change.finalized)
      if (change.mayHaveReorged) await forgetReorged(transaction, hashesOf(blocks))
      await this.#storePool(transaction, meta, change)
    })
  }

  prepend(blocks: PackedBlocks, { coverage, mayHaveReorged, ended }: PrependChange): Promise<void> {
    return this.#change(async (transaction, meta) => {
      const first = blocks.headers[0]
      if (first === undefined) return
      meta.setIndexedFrom(first.ref.number)
      await this.#insert(transaction, meta, blocks)
      if (coverage !== undefined) meta.setCoverage(coverage)
      if (mayHaveReorged) await forgetReorged(transaction, hashesOf(blocks))
      if (ended !== undefined) await this.#storePool(transaction, meta, ended)
    })
  }

  /** @param log - given where it may be another block than the stored one: the rows of its run are written again with it. */
  async replace(block: PackedBlocks, log: LogWrite | undefined): Promise<void> {
    const number = block.headers[0]?.ref.number ?? 0
    await this.#change(async (transaction, meta) => {
      const isOther = await this.#hasOtherForm(transaction, block, number)
      if (log !== undefined) await this.#rememberOthers(transaction, block)
      await deleteBlocks(transaction, number, number)
      await insertBlocks(transaction, this.#chainId, block, block)
      await transaction.putRecords(block.ids, block.records, block.recordEnds)
      if (log !== undefined) {
        meta.setRuns(await this.#runs.sealAgain(transaction, runsOf(meta.meta), number))
        await writeLog(transaction, this.#chainId, meta, log)
      } else if (isOther) await this.#repair(transaction, meta.meta, number)
    })
    this.#isMergeable = true
  }

  removeAbove(ancestor: BlockRef, rollback: Rollback): Promise<void> {
    return this.#changeAs({ isLong: true }, async (transaction, meta) => {
      meta.leave(ancestor.number, rollback.head)
      const hashes = await this.#hashesBetween(transaction, ancestor.number + 1, rollback.head + 1)
      meta.setRuns(await this.#runs.removeAbove(transaction, runsOf(meta.meta), ancestor.number))
      await deleteBlocks(transaction, ancestor.number + 1)
      await rememberReorged(transaction, this.#chainId, hashes, ancestor)
      meta.setHead(ancestor.number)
      meta.setCoverage(rollback.coverage)
      await writeLog(transaction, this.#chainId, meta, rollback.log)
    })
  }

  removeAll(head: number | undefined, log: LogWrite): Promise<void> {
    return this.#changeAs({ isLong: true }, async (transaction, meta) => {
      if (head !== undefined) meta.leave(undefined, head)
      meta.setRuns(await this.#runs.removeAll(transaction, runsOf(meta.meta)))
      await deleteAllBlocks(transaction)
      await deleteCounted(transaction, reorgedHashes)
      meta.forgetBlocks()
      await writeLog(transaction, this.#chainId, meta, log)
    })
  }

  setMark(mark: Mark, log?: LogWrite): Promise<void> {
    return this.#change(async (transaction, meta) => {
      if (typeof mark === 'string') meta.mark(mark)
      else meta.setFinal(mark.finalized)
      if (log !== undefined) await writeLog(transaction, this.#chainId, meta, log)
    })
  }

  /** As in the port. */
  async repair({ part, run }: Damage): Promise<void> {
    if (part === 'manifest') await this.#repairManifest()
    await this.#change(async (transaction, meta) => {
      if (part === 'undo') await forgetDamagedReorged(transaction, this.#chainId)
      if (part !== 'chunk' || run === undefined) return
      await this.#runs.repair(transaction, runsOf(meta.meta), run)
    })
    while (this.#runs.isRepairing) await this.#workOnce()
    this.#isMergeable = true
  }

  dropPool(log: LogWrite): Promise<void> {
    return this.#change(async (transaction, meta) => {
      await deletePool(transaction)
      meta.unsettle()
      await writeLog(transaction, this.#chainId, meta, log)
    })
  }

  dropLog(log: LogWrite): Promise<void> {
    return this.#change((transaction, meta) => writeLog(transaction, this.#chainId, meta, log))
  }

  writePool(change: PoolChange): Promise<void> {
    return this.#change((transaction, meta) => this.#storePool(transaction, meta, change))
  }

  report(report: Omit<WriterReport, 'beat'>): Promise<void> {
    const write = (transaction: WriteTransaction) => writeReport(transaction, this.#chainId, report)
    return this.#store.write(write, { isQuiet: true })
  }

  /** Reports whether there are so many runs that merging cannot wait for a pause. */
  isBehind(): boolean {
    return this.#isMergeable && this.#runs.knownRuns > this.#layout.maxRuns
  }

  /**
   * Does a piece of the merging. Damage that it meets is reported, and ends it until it is healed: what is copied must be what was
   * written.
   * @returns false: there is nothing to do.
   */
  async work(): Promise<boolean> {
    if (!this.#isMergeable) return false
    try {
      return await this.#workOnce()
    } catch (error) {
      if (!(error instanceof IndexDamagedError)) throw error
      this.#isMergeable = false
      this.#met.push(error.damage)
      return false
    }
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  async #workOnce(): Promise<boolean> {
    let hasWork = false
    await this.#changeAs({ isQuiet: true }, async (transaction, meta) => {
      const { finalized } = meta.meta.marks
      const mark = await this.#runs.work(transaction, runsOf(meta.meta), finalized)
      hasWork = mark !== undefined
      if (mark !== undefined) meta.setRuns(mark)
    })
    return hasWork
  }

  async #repairManifest(): Promise<void> {
    let repair: ManifestRepair | undefined
    for (let isComplete = false; !isComplete; ) {
      await this.#change(async (transaction, meta) => {
        const { indexedFrom = 0, head = -1 } = meta.meta
        repair ??= this.#runs.repairManifest(indexedFrom, head)
        const { mark, isDone } = await repair(transaction, runsOf(meta.meta))
        meta.setRuns(mark)
        isComplete = isDone
      })
    }
  }

  async #insert(transaction: WriteTransaction, meta: MetaEdit, blocks: PackedBlocks): Promise<void> {
    await insertBlocks(transaction, this.#chainId, blocks, blocks)
    await transaction.putRecords(blocks.ids, blocks.records, blocks.recordEnds)
    const { headers } = blocks
    const rows = {
      ...blocks,
      firstBlock: headers[0]?.ref.number ?? 0,
      lastBlock: headers.at(-1)?.ref.number ?? 0
    }
    meta.setRuns(await this.#runs.add(transaction, runsOf(meta.meta), rows))
  }

  async #storePool(transaction: WriteTransaction, meta: MetaEdit, { pool, log }: PoolChange): Promise<void> {
    await writePool(transaction, this.#chainId, pool)
    await writeLog(transaction, this.#chainId, meta, log)
  }

  /** Remembers the stored transactions of a block that is replaced by one without them, as a reorg does. */
  async #rememberOthers(transaction: WriteTransaction, block: PackedBlocks): Promise<void> {
    const [header] = block.headers
    if (header === undefined || header.ref.number === 0) return
    const { number } = header.ref
    const kept = new Set(hashesOf(block).map(toHex))
    const removed = await this.#hashesBetween(transaction, number, number + 1)
    const others = removed.filter(hash => !kept.has(toHex(hash)))
    const ancestor = { number: number - 1, hash: header.parentHash }
    await rememberReorged(transaction, this.#chainId, others, ancestor)
  }

  /** Reads the hashes of stored transactions, from a block up to, but not including, `endBlock`. */
  async #hashesBetween(
    transaction: WriteTransaction,
    fromBlock: number,
    endBlock: number
  ): Promise<readonly Uint8Array[]> {
    // The hash follows the kind at the head of a record.
    const text = `SELECT substr(rec, 2, ${hashLength}) AS hash FROM tx WHERE id >= ? AND id < ?`
    const ids = [firstTransactionId(fromBlock), firstTransactionId(endBlock)]
    return (await transaction.all<{ hash: Uint8Array }>(text, ids)).map(({ hash }) => hash)
  }

  /** Reports whether stored records of a block are of another kind, as with traces and without: its rows are others then. */
  async #hasOtherForm(transaction: WriteTransaction, block: PackedBlocks, number: number): Promise<boolean> {
    const stored = await transaction.all<{ id: number; rec: Uint8Array }>(
      'SELECT id, rec FROM tx WHERE id >= ? AND id < ?',
      [firstTransactionId(number), firstTransactionId(number + 1)]
    )
    const kindOf = new Map<number, number>()
    for (const [row, id] of block.ids.entries()) {
      kindOf.set(id, block.records[block.recordEnds[row - 1] ?? 0] ?? 0)
    }
    return stored.some(({ id, rec }) => {
      try {
        checkRecord(this.#chainId, id, rec)
      } catch {
        return false
      }
      return kindOf.get(id) !== rec[0]
    })
  }

  /** Writes the run of a block again, later. */
  async #repair(transaction: WriteTransaction, meta: ChainMeta, block: number): Promise<void> {
    const { runs } = await this.#runs.manifest(transaction, runsOf(meta))
    const run = runs.find(each => each.firstBlock <= block && block <= each.lastBlock)
    if (run !== undefined) await this.#runs.repair(transaction, runsOf(meta), run.number)
  }

  async #confirmedOf(hashes: readonly Hash[], head: number): Promise<ReadonlySet<Hash>> {
    const { reads } = this.#store
    const manifest = await this.#runs.manifest(reads, runsOf(await this.meta()))
    const newest = manifest.newestFirst.filter(({ lastBlock }) => lastBlock > head - recentBlocks)
    const reader = new RunReader(
      reads,
      this.#chainId,
      newest.map(run => ({ run, filter: undefined }))
    )
    const found = new Set<Hash>()
    for (const hash of hashes) {
      const { ids } = await reader.hash(hashBytes(hash)).next(Number.MAX_SAFE_INTEGER)
      for (const id of ids) {
        const records = await reads.recordsOf([id])
        if ('missing' in records) throw missing(id)
        checkRecord(this.#chainId, id, records.bytes)
        if (hashOfRecord(records.bytes) === hash) found.add(hash)
      }
    }
    return found
  }

  /** Changes the store, and the row of `meta`, in one transaction. */
  #change(work: Change): Promise<void> {
    return this.#changeAs({}, work)
  }

  async #changeAs(options: WriteOptions, work: Change): Promise<void> {
    const write = async (transaction: WriteTransaction) => {
      const meta = await MetaEdit.load(transaction)
      await work(transaction, meta)
      await meta.save()
    }
    try {
      await this.#store.write(write, options)
    } catch (error) {
      this.#runs.forget()
      throw error
    }
  }
}

type Change = (transaction: WriteTransaction, meta: MetaEdit) => Promise<void>

function missing(id: number): IndexDamagedError {
  const block = Math.floor(id / firstTransactionId(1))
  return new IndexDamagedError({ part: 'record', block }, 'it is missing')
}

function runsOf({ runs = { version: 0, sum: 0, next: 1 } }: ChainMeta) {
  return runs
}

function hashesOf({ hashes, ids }: PackedBlocks): readonly Uint8Array[] {
  return Array.from(ids, (_, row) => hashes.subarray(row * hashLength, (row + 1) * hashLength))
}
