import type { BlockRef, Hash } from '../model/evm.ts'
import { type Damage, damageOf } from '../platform/errors.ts'
import type { StoredBlock, WriterReport } from '../port/status.ts'
import type { BlocksWithRows } from '../record/deriveRows.ts'
import { hashBytes } from '../record/hexBytes.ts'
import type { PackedBlocks } from '../record/packBlocks.ts'
import { hashLength, hashOffset } from '../record/RecordParts.ts'
import { isSound, sealRecords } from '../record/recordSums.ts'
import type { ManifestMark } from '../runs/Manifest.ts'
import { RunReader } from '../runs/RunReader.ts'
import { type RunLayout, RunWriter } from '../runs/RunWriter.ts'
import type { WritableStore, WriteOptions, WriteTransaction } from '../runs/Transaction.ts'
import { deleteAllBlocks, deleteBlocks, insertBlocks, readBlock, readRef } from './blocks.ts'
import type { LogRows, LogWrite } from './ChangeLog.ts'
import { createLogRows, writeLog } from './changes.ts'
import { coverageUpTo, coverageWith, coverageWithOlder } from './coverage.ts'
import { deleteCounted, reorgedHashes } from './keyParts.ts'
import { MetaEdit, readMeta } from './meta.ts'
import type { PoolRows, PoolWrite } from './Pool.ts'
import { createPoolRows, deletePool, writePool } from './poolTables.ts'
import { findByHash, readRecords } from './records.ts'
import { forgetDamagedReorged, forgetReorged, hasReorged, rememberReorged } from './reorged.ts'
import { writeReport } from './report.ts'
import type { ChainMeta } from './rows.ts'
import { createStoredRows } from './storedRows.ts'

/** Blocks in which a transaction of the pool is looked for: one in an older block has left every pool. */
const recentBlocks = 1_024

/** Changes of the stored pool, and the entry of the log that tells of them. */
export interface PoolChange {
  readonly pool: PoolWrite
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
  /** Absent: to be read. */
  #meta: ChainMeta | undefined
  /** Hashes that a reorg removed may be among those of new blocks; absent: to be read. */
  #hasReorged: boolean | undefined

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

  /** The state that the last transaction left. */
  async meta(): Promise<ChainMeta> {
    this.#meta ??= await readMeta(this.#store.reads)
    return this.#meta
  }

  /** Reads which block is stored at a height. @throws as `readRef`. */
  async blockRef(number: number): Promise<BlockRef | undefined> {
    return readRef(this.#store.reads, await this.meta(), number)
  }

  /** Reads the first stored block. @throws {IndexDamagedError} its row is damaged. */
  async firstBlock(): Promise<StoredBlock | undefined> {
    const meta = await this.meta()
    return readBlock(this.#store.reads, meta, meta.indexedFrom ?? -1)
  }

  takeDamage(): readonly Damage[] {
    const met = this.#met
    this.#met = []
    return [...met, ...this.#takeDamage()]
  }

  /** @param finalized - newest block that is final; absent: says nothing new. */
  append(blocks: BlocksWithRows, change: PoolChange, finalized: number | undefined): Promise<void> {
    return this.#change(async (transaction, meta) => {
      const [first, last] = [blocks.headers[0], blocks.headers.at(-1)]
      if (first === undefined || last === undefined) return
      if (meta.meta.indexedFrom === undefined) meta.setIndexedFrom(first.ref.number)
      await this.#insert(transaction, meta, blocks)
      meta.setHead(last.ref)
      meta.setCoverage(coverageWith(meta.meta.coverage, blocks.headers))
      if (finalized !== undefined) meta.setFinal(Math.min(finalized, last.ref.number))
      await this.#storePool(transaction, meta, change)
    })
  }

  /** Stores blocks below the first one. @param ended - absent: the pool has none of their transactions, as nearly always. */
  prepend(blocks: BlocksWithRows, ended: PoolChange | undefined): Promise<void> {
    return this.#change(async (transaction, meta) => {
      const first = blocks.headers[0]
      if (first === undefined) return
      await this.#insert(transaction, meta, blocks)
      meta.setIndexedFrom(first.ref.number)
      meta.setCoverage(coverageWithOlder(meta.meta.coverage, blocks.headers))
      if (ended !== undefined) await this.#storePool(transaction, meta, ended)
    })
  }

  /** Replaces what is stored of a block by the same block. */
  async replace(block: PackedBlocks): Promise<void> {
    const number = block.headers[0]?.ref.number ?? 0
    await this.#change(async (transaction, meta) => {
      const isOther = await this.#hasOtherForm(transaction, block, number)
      await this.#put(transaction, block)
      if (isOther) await this.#reportRun(transaction, meta.meta, number)
    })
    this.#isMergeable = true
  }

  removeAbove(ancestor: BlockRef, log: LogWrite): Promise<void> {
    return this.#changeAs({ isLong: true }, async (transaction, meta) => {
      const { head = ancestor, runs, coverage } = meta.meta
      meta.leave(ancestor.number, head.number)
      // What is left of a transaction in either is remembered.
      const hashes = [...(await this.#runs.hashesAbove(transaction, runs, ancestor.number))]
      for await (const { rec } of readRecords(transaction, ancestor.number + 1, head.number)) {
        hashes.push(hashBytesOf(rec))
      }
      meta.setRuns(await this.#runs.removeAbove(transaction, runs, ancestor.number))
      await deleteBlocks(transaction, ancestor.number + 1)
      await rememberReorged(transaction, this.#chainId, hashes, ancestor)
      this.#hasReorged = true
      meta.setHead(ancestor)
      meta.setCoverage(coverageUpTo(coverage, ancestor.number))
      await writeLog(transaction, this.#chainId, meta, log)
    })
  }

  removeAll(log: LogWrite): Promise<void> {
    return this.#changeAs({ isLong: true }, async (transaction, meta) => {
      const { head, runs } = meta.meta
      if (head !== undefined) meta.leave(undefined, head.number)
      meta.setRuns(await this.#runs.removeAll(transaction, runs))
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

  /** Does a piece of what the port says. @returns whether it was the last one. */
  async repair({ part, run }: Damage): Promise<boolean> {
    let isDone = true
    if (part === 'undo') await this.#change(each => forgetDamagedReorged(each, this.#chainId))
    if (part === 'manifest') await this.#repairManifest()
    if (part === 'chunk' && run !== undefined) {
      isDone = !(await this.#changeRuns((each, { runs }) => this.#runs.repair(each, runs, run)))
    }
    this.#isMergeable ||= isDone
    return isDone
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
      return await this.#changeRuns((each, { runs, marks }) => this.#runs.work(each, runs, marks.finalized))
    } catch (error) {
      this.#met.push(damageOf(error))
      this.#isMergeable = false
      return false
    }
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  /** Does all pieces: nothing else can be written meanwhile. */
  async #repairManifest(): Promise<void> {
    const { version } = (await this.meta()).runs
    while ((await this.meta()).runs.version === version) {
      await this.#changeRuns((each, { runs, indexedFrom = 0, head }) =>
        this.#runs.repairManifest(each, runs, indexedFrom, head?.number ?? -1)
      )
    }
  }

  /**
   * Writes runs, of which no answer changes.
   * @param work - returns what the meta row says of the manifest then; absent: there is nothing to do.
   * @returns false: there is nothing to do.
   */
  async #changeRuns(
    work: (transaction: WriteTransaction, meta: ChainMeta) => Promise<ManifestMark | undefined>
  ): Promise<boolean> {
    let mark: ManifestMark | undefined
    await this.#changeAs({ isQuiet: true }, async (transaction, meta) => {
      mark = await work(transaction, meta.meta)
      if (mark !== undefined) meta.setRuns(mark)
    })
    return mark !== undefined
  }

  async #insert(transaction: WriteTransaction, meta: MetaEdit, blocks: BlocksWithRows): Promise<void> {
    await this.#put(transaction, blocks)
    const last = blocks.headers.at(-1)?.ref
    if (last === undefined) return
    meta.setRuns(
      await this.#runs.add(transaction, meta.meta.runs, { ...blocks, lastHash: hashBytes(last.hash) })
    )
    this.#hasReorged ??= await hasReorged(transaction)
    if (this.#hasReorged) await forgetReorged(transaction, hashesOf(blocks))
  }

  /** Writes rows and records of blocks, in place of what is there: beside the index, what a disk has given back. */
  async #put(transaction: WriteTransaction, blocks: PackedBlocks): Promise<void> {
    const [first, last] = [blocks.headers[0], blocks.headers.at(-1)]
    if (first === undefined || last === undefined) return
    await deleteBlocks(transaction, first.ref.number, last.ref.number)
    sealRecords(this.#chainId, blocks)
    await insertBlocks(transaction, this.#chainId, blocks)
    await transaction.putRecords(blocks.ids, blocks.records, blocks.recordEnds)
  }

  async #storePool(transaction: WriteTransaction, meta: MetaEdit, { pool, log }: PoolChange): Promise<void> {
    await writePool(transaction, this.#chainId, pool)
    await writeLog(transaction, this.#chainId, meta, log)
  }

  /** Reports whether stored records of a block are of another kind, as with traces and without: its rows are others then. */
  async #hasOtherForm(transaction: WriteTransaction, block: PackedBlocks, number: number): Promise<boolean> {
    const kindOf = new Map<number, number>()
    for (const [row, id] of block.ids.entries()) {
      kindOf.set(id, block.records[block.recordEnds[row - 1] ?? 0] ?? 0)
    }
    for await (const { id, rec } of readRecords(transaction, number, number)) {
      if (kindOf.get(id) !== rec[0] && isSound(this.#chainId, id, rec)) return true
    }
    return false
  }

  /** The rows of a run are others than its records give by now: it is written again. */
  async #reportRun(transaction: WriteTransaction, { runs: mark }: ChainMeta, block: number): Promise<void> {
    const { runs } = await this.#runs.manifest(transaction, mark)
    const run = runs.find(each => each.firstBlock <= block && block <= each.lastBlock)?.number
    if (run !== undefined) this.#met.push({ part: 'chunk', run, section: 0, chunk: 0 })
  }

  async #confirmedOf(hashes: readonly Hash[], head: number): Promise<ReadonlySet<Hash>> {
    const { reads } = this.#store
    const manifest = await this.#runs.manifest(reads, (await this.meta()).runs)
    const newest = manifest.newestFirst.filter(({ lastBlock }) => lastBlock > head - recentBlocks)
    const reader = new RunReader(
      reads,
      this.#chainId,
      newest.map(run => ({ run, filter: undefined }))
    )
    const found = new Set<Hash>()
    for (const hash of hashes) {
      if ((await findByHash(reads, this.#chainId, reader, hash)) !== undefined) found.add(hash)
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
      return meta.meta
    }
    try {
      this.#meta = await this.#store.write(write, options)
    } catch (error) {
      this.#meta = undefined
      this.#hasReorged = undefined
      this.#runs.forget()
      throw error
    }
  }
}

type Change = (transaction: WriteTransaction, meta: MetaEdit) => Promise<void>

function hashBytesOf(rec: Uint8Array): Uint8Array {
  return rec.subarray(hashOffset, hashOffset + hashLength)
}

function hashesOf({ hashes, ids }: BlocksWithRows): readonly Uint8Array[] {
  return Array.from(ids, (_, row) => hashes.subarray(row * hashLength, (row + 1) * hashLength))
}
