import { IndexDamagedError } from '../platform/errors.ts'
import { firstTransactionId } from '../record/transactionId.ts'
import { chooseRuns, defaultMergeLayout, type MergeLayout } from './chooseRuns.ts'
import type { Chunk } from './chunk.ts'
import { findSoundRuns, Manifest, type ManifestMark } from './Manifest.ts'
import { RunMerge } from './RunMerge.ts'
import { encodeRun, type Run } from './run.ts'
import { SectionScan } from './SectionScan.ts'
import { type SealableRows, sealBlocks } from './sealBlocks.ts'
import { sections } from './sections.ts'
import type { ReadTransaction, WriteTransaction } from './Transaction.ts'

/** How runs are written. */
export interface RunLayout extends MergeLayout {
  /** Rows that a piece of a merge writes. */
  readonly pieceRows: number
  /** Chunks that are removed at once. */
  readonly pieceChunks: number
  /** Runs with more transactions have no filter. */
  readonly maxFiltered: number
  /** Transactions of each run that is written again from records. */
  readonly resealTransactions: number
}

export const defaultRunLayout: RunLayout = {
  ...defaultMergeLayout,
  pieceRows: 20_000,
  pieceChunks: 1_000,
  maxFiltered: 1_000_000,
  resealTransactions: 32_768
}

/** Reads the rows of a run from what is stored of its blocks. */
export interface StoredRows {
  /** Returns the last of the blocks from `from` up to `to` that together have about so many transactions; each block counts as one, too. */
  endOf(transaction: ReadTransaction, from: number, to: number, transactions: number): Promise<number>
  /** @throws {IndexDamagedError} a record, or the row of a block, is missing or altered. */
  rowsOf(transaction: ReadTransaction, from: number, to: number): Promise<SealableRows>
}

/** A merge or a resealing that takes several transactions. */
interface Job {
  readonly sources: readonly Run[]
  /** Writes a piece. @returns the runs that take the place of the sources, once they are complete. */
  step(
    transaction: WriteTransaction,
    mark: ManifestMark
  ): Promise<{ readonly next: number; readonly runs?: readonly Run[] }>
}

/** A piece of writing the manifest again. @returns what the meta row says of it then. */
export type ManifestRepair = (
  transaction: WriteTransaction,
  mark: ManifestMark
) => Promise<{ readonly mark: ManifestMark; readonly isDone: boolean }>

/**
 * Writes the runs of one chain. Each call belongs to the caller's transaction and returns what the meta row says of the manifest then.
 * Call `forget` when a transaction failed.
 *
 * Numbers of runs that are not in the manifest, and still have chunks, are in the table `dropped_run`.
 */
export class RunWriter {
  readonly #chainId: number
  readonly #layout: RunLayout
  readonly #stored: StoredRows
  #manifest: Manifest | undefined
  #job: Job | undefined

  constructor(chainId: number, stored: StoredRows, layout: RunLayout = defaultRunLayout) {
    this.#chainId = chainId
    this.#stored = stored
    this.#layout = layout
  }

  forget(): void {
    this.#manifest = undefined
    this.#job = undefined
  }

  /** Number of runs, as the last transaction left them; 0 where it failed, and before the first one. */
  get knownRuns(): number {
    return this.#manifest?.runs.length ?? 0
  }

  /** Reads the manifest, unless it is known. */
  async manifest(transaction: ReadTransaction, mark: ManifestMark): Promise<Manifest> {
    const known = this.#manifest?.mark
    if (this.#manifest === undefined || known?.version !== mark.version || known.sum !== mark.sum) {
      this.#manifest = await Manifest.read(transaction, this.#chainId, mark)
    }
    return this.#manifest
  }

  /** Writes a run of blocks above the newest run, or below the oldest one. */
  async add(transaction: WriteTransaction, mark: ManifestMark, rows: SealableRows): Promise<ManifestMark> {
    const added = await this.#seal(transaction, mark.next, rows)
    return this.#change(transaction, mark, mark.next + 1, [], [added])
  }

  /**
   * Removes the blocks above one: whole runs, and of the run that it lies in the rows above it. Where the manifest or stored blocks of
   * that run are damaged, the runs are taken out of the manifest, which is damaged then: its repair seals what is stored of their blocks.
   */
  async removeAbove(transaction: WriteTransaction, mark: ManifestMark, block: number): Promise<ManifestMark> {
    const isAbove = ({ lastBlock }: Run) => lastBlock > block
    try {
      const { runs } = await this.manifest(transaction, mark)
      const removed = runs.filter(isAbove)
      const cut = removed.find(({ firstBlock }) => firstBlock <= block)
      const added = cut ? await this.#reseal(transaction, mark.next, cut.firstBlock, block) : []
      return await this.#change(transaction, mark, mark.next + added.length, removed, added)
    } catch (error) {
      if (!(error instanceof IndexDamagedError)) throw error
    }
    let { next } = mark
    // Chunks of runs that were not completed.
    for (let number = await transaction.runAfter(next - 1); number !== undefined; ) {
      await drop(transaction, [number])
      next = number + 1
      number = await transaction.runAfter(number)
    }
    for (const { number } of (await findSoundRuns(transaction, this.#chainId, mark.next, 0)).filter(
      isAbove
    )) {
      await transaction.run('DELETE FROM run WHERE number = ?', [number])
    }
    this.forget()
    return { ...mark, next }
  }

  /**
   * Reads the groups of the hash section that transactions above a block have: of all runs that are as they were written.
   * @returns each group once for each of its transactions.
   */
  async hashesAbove(
    transaction: ReadTransaction,
    mark: ManifestMark,
    block: number
  ): Promise<readonly Uint8Array[]> {
    const found: Uint8Array[] = []
    const first = firstTransactionId(block + 1)
    for (const run of await this.#listed(transaction, mark)) {
      if (run.lastBlock <= block) continue
      const scan = new SectionScan(this.#chainId, sections.hash, run)
      const { rows } = scan
      try {
        while (await scan.nextGroup(transaction)) {
          while (rows.nextRow()) if (rows.id >= first) found.push(rows.group.slice(0, rows.groupLength))
        }
      } catch (error) {
        if (!(error instanceof IndexDamagedError)) throw error
      }
    }
    return found
  }

  /** Reads the runs of the manifest; where it is damaged, those that are left of it. */
  async #listed(transaction: ReadTransaction, mark: ManifestMark): Promise<readonly Run[]> {
    try {
      return (await this.manifest(transaction, mark)).runs
    } catch (error) {
      if (!(error instanceof IndexDamagedError)) throw error
      return findSoundRuns(transaction, this.#chainId, mark.next, 0)
    }
  }

  async removeAll(transaction: WriteTransaction, mark: ManifestMark): Promise<ManifestMark> {
    return this.#replaceManifest(transaction, mark, [])
  }

  /**
   * Does a piece of writing a damaged run again, from what is stored of its blocks.
   * @returns absent: the run is not in the manifest any more.
   * @throws {IndexDamagedError} as `work`.
   */
  async repair(
    transaction: WriteTransaction,
    mark: ManifestMark,
    number: number
  ): Promise<ManifestMark | undefined> {
    const { runs } = await this.manifest(transaction, mark)
    const run = runs.find(each => each.number === number)
    if (run === undefined) return undefined
    const isOfRun = ({ sources }: Job) => sources.length === 1 && sources[0]?.number === number
    const job = this.#job && isOfRun(this.#job) ? this.#job : this.#resealing(run)
    return this.#step(transaction, mark, job)
  }

  /**
   * Prepares writing a damaged manifest again: rows that are as they were written stay, the blocks that none of them has are sealed
   * from what is stored of them, and the chunks of all other runs are to be removed.
   * @param from - the oldest stored block, up to the newest one.
   * @returns does a piece, each in a transaction of its own.
   */
  repairManifest(from: number, to: number): ManifestRepair {
    const added: Run[] = []
    let kept: readonly Run[] | undefined
    return async (transaction, mark) => {
      kept ??= await findSoundRuns(transaction, this.#chainId, mark.next, from)
      const runs = [...kept, ...added].sort((a, b) => a.firstBlock - b.firstBlock)
      let start = from
      for (const run of runs) {
        if (run.firstBlock > start) break
        start = run.lastBlock + 1
      }
      if (start <= to) {
        const end = (runs.find(({ firstBlock }) => firstBlock > start)?.firstBlock ?? to + 1) - 1
        added.push(await this.#sealStored(transaction, mark.next, start, end))
        await drop(transaction, [mark.next])
        return { mark: { ...mark, next: mark.next + 1 }, isDone: false }
      }
      await keep(transaction, added)
      return { mark: await this.#replaceManifest(transaction, mark, runs), isDone: true }
    }
  }

  /**
   * Does a piece of what is to be done: resealing, merging, removing chunks.
   * @returns absent: there is nothing to do.
   * @throws {IndexDamagedError} a chunk that is merged, or a record that is resealed, is missing or altered.
   */
  async work(
    transaction: WriteTransaction,
    mark: ManifestMark,
    finalized: number | undefined
  ): Promise<ManifestMark | undefined> {
    const { runs } = await this.manifest(transaction, mark)
    const numbers = new Set(runs.map(({ number }) => number))
    if (this.#job?.sources.every(({ number }) => numbers.has(number)) === false) this.#job = undefined
    if (this.#job !== undefined) return this.#step(transaction, mark, this.#job)
    if (await this.#sweep(transaction, numbers)) return mark
    const sources = chooseRuns(runs, finalized, this.#layout)
    return sources && this.#step(transaction, mark, this.#merging(sources))
  }

  async #step(transaction: WriteTransaction, mark: ManifestMark, job: Job): Promise<ManifestMark> {
    this.#job = job
    const { next, runs: added } = await job.step(transaction, mark)
    if (added === undefined) return { ...mark, next }
    this.#job = undefined
    return this.#change(transaction, mark, next, job.sources, added)
  }

  #merging(sources: readonly Run[]): Job {
    let merge: RunMerge | undefined
    let number = 0
    return {
      sources,
      step: async (transaction, mark) => {
        let { next } = mark
        if (merge === undefined) {
          number = next++
          merge = new RunMerge(this.#chainId, sources, number, this.#filterBytes(sources))
          await drop(transaction, [number])
        }
        const { chunks, merged } = await merge.step(transaction, this.#layout.pieceRows)
        await transaction.putChunks(chunks)
        if (merged !== undefined) await keep(transaction, [merged])
        return { next, ...(merged && { runs: [merged] }) }
      }
    }
  }

  #resealing(run: Run): Job {
    const added: Run[] = []
    return {
      sources: [run],
      step: async (transaction, mark) => {
        const from = (added.at(-1)?.lastBlock ?? run.firstBlock - 1) + 1
        const sealed = await this.#sealStored(transaction, mark.next, from, run.lastBlock)
        added.push(sealed)
        const next = mark.next + 1
        await drop(transaction, [sealed.number])
        if (sealed.lastBlock < run.lastBlock) return { next }
        await keep(transaction, added)
        return { next, runs: added }
      }
    }
  }

  /** Writes runs of stored blocks at once. */
  async #reseal(
    transaction: WriteTransaction,
    next: number,
    from: number,
    to: number
  ): Promise<readonly Run[]> {
    const added: Run[] = []
    for (let start = from; start <= to; start = (added.at(-1)?.lastBlock ?? to) + 1) {
      added.push(await this.#sealStored(transaction, next + added.length, start, to))
    }
    return added
  }

  /** Writes a run of the first stored blocks from `from` up to `to`. */
  async #sealStored(transaction: WriteTransaction, number: number, from: number, to: number): Promise<Run> {
    const end = await this.#stored.endOf(transaction, from, to, this.#layout.resealTransactions)
    return this.#seal(transaction, number, await this.#stored.rowsOf(transaction, from, end))
  }

  async #seal(transaction: WriteTransaction, number: number, rows: SealableRows): Promise<Run> {
    const chunks: Chunk[] = []
    const isFiltered = rows.ids.length <= this.#layout.maxFiltered
    const run = sealBlocks(this.#chainId, number, rows, isFiltered, chunk => chunks.push(chunk))
    await transaction.putChunks(chunks)
    return run
  }

  /** @returns the bytes of the filter of a merged run; absent: it has none. */
  #filterBytes(sources: readonly Run[]): number | undefined {
    const transactions = sources.reduce((sum, run) => sum + run.transactions, 0)
    if (transactions > this.#layout.maxFiltered) return undefined
    const bytesOf = ({ sections: summaries }: Run) => summaries[sections.filter.number]?.rows ?? 0
    return sources.reduce((sum, run) => sum + bytesOf(run), 0)
  }

  async #change(
    transaction: WriteTransaction,
    mark: ManifestMark,
    next: number,
    removed: readonly Run[],
    added: readonly Run[]
  ): Promise<ManifestMark> {
    const manifest = await this.manifest(transaction, mark)
    const rows = added.map(run => ({ number: run.number, rec: encodeRun(this.#chainId, run) }))
    const dropped = removed.map(({ number }) => number)
    for (const number of dropped) await transaction.run('DELETE FROM run WHERE number = ?', [number])
    await drop(transaction, dropped)
    await transaction.insert(
      'run',
      ['number', 'rec'],
      rows.map(({ number, rec }) => [number, rec])
    )
    this.#manifest = manifest.changed(this.#chainId, next, removed, rows)
    return this.#manifest.mark
  }

  async #replaceManifest(
    transaction: WriteTransaction,
    mark: ManifestMark,
    runs: readonly Run[]
  ): Promise<ManifestMark> {
    const rows = runs.map(run => ({ number: run.number, rec: encodeRun(this.#chainId, run) }))
    await transaction.run('DELETE FROM run')
    await transaction.insert(
      'run',
      ['number', 'rec'],
      rows.map(({ number, rec }) => [number, rec])
    )
    const dropped = await transaction.all<{ number: number }>('SELECT number FROM dropped_run')
    const known = new Set([...runs, ...dropped].map(({ number }) => number))
    for (let number = await transaction.runAfter(-1); number !== undefined; ) {
      if (!known.has(number)) await drop(transaction, [number])
      number = await transaction.runAfter(number)
    }
    this.#job = undefined
    this.#manifest = Manifest.replacing(this.#chainId, mark, rows)
    return this.#manifest.mark
  }

  /** Removes some chunks of runs that are not in the manifest. @returns false: there are none. */
  async #sweep(transaction: WriteTransaction, kept: ReadonlySet<number>): Promise<boolean> {
    const rows = await transaction.all<{ number: number }>('SELECT number FROM dropped_run ORDER BY number')
    let left = this.#layout.pieceChunks
    for (const { number } of rows) {
      // A number that was altered may be that of a run.
      const dropped = kept.has(number) ? 0 : await transaction.dropChunks(number, left)
      left -= dropped
      if (left === 0) break
      await transaction.run('DELETE FROM dropped_run WHERE number = ?', [number])
    }
    return rows.length > 0
  }
}

/** Runs with these numbers are not in the manifest: their chunks are to be removed. */
async function drop(transaction: WriteTransaction, numbers: readonly number[]): Promise<void> {
  await transaction.insert(
    'dropped_run',
    ['number'],
    numbers.map(number => [number])
  )
}

/** These runs come into the manifest. */
async function keep(transaction: WriteTransaction, runs: readonly Run[]): Promise<void> {
  for (const { number } of runs) await transaction.run('DELETE FROM dropped_run WHERE number = ?', [number])
}
