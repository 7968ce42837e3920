import type { BlockSpan } from '../model/blockSpans.ts'
import { damageOf, unlessDamaged } from '../platform/errors.ts'
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

/** A merge, or writing stored blocks again, that takes several transactions. */
interface Job {
  /** What it repairs: the run with this number, or the manifest. */
  readonly repairs?: number | 'manifest'
  /** Runs that it replaces: it is given up when one of them is not in the manifest any more. */
  readonly sources: readonly Run[]
  /** Writes a piece. The last one changes the manifest. */
  step(transaction: WriteTransaction, mark: ManifestMark): Promise<ManifestMark>
}

/** Puts runs that a job has written into the manifest. */
type JobEnd = (
  transaction: WriteTransaction,
  mark: ManifestMark,
  added: readonly Run[]
) => Promise<ManifestMark>

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
    return this.#change(transaction, { ...mark, next: mark.next + 1 }, [], [added])
  }

  /**
   * Removes the blocks above one: whole runs, and of the run that it lies in the rows above it. Where the manifest or stored blocks of
   * that run are damaged, the runs are taken out of the manifest, which is damaged then: its repair seals what is stored of their blocks.
   */
  async removeAbove(transaction: WriteTransaction, mark: ManifestMark, block: number): Promise<ManifestMark> {
    const isAbove = ({ lastBlock }: Run) => lastBlock > block
    const added: Run[] = []
    try {
      const { runs } = await this.manifest(transaction, mark)
      const removed = runs.filter(isAbove)
      const cut = removed.find(({ firstBlock }) => firstBlock <= block)
      for (let from = cut?.firstBlock ?? block + 1; from <= block; ) {
        const sealed = await this.#sealStored(transaction, mark.next + added.length, from, block)
        added.push(sealed)
        from = sealed.lastBlock + 1
      }
      return await this.#change(transaction, { ...mark, next: mark.next + added.length }, removed, added)
    } catch (error) {
      damageOf(error)
    }
    await drop(transaction, added)
    const left = await findSoundRuns(transaction, this.#chainId, mark.next, 0)
    await unlist(transaction, left.filter(isAbove))
    this.forget()
    return { ...mark, next: mark.next + added.length }
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
    const read = async (run: Run) => {
      const scan = new SectionScan(this.#chainId, sections.hash, run)
      const { rows } = scan
      while (await scan.nextGroup(transaction)) {
        while (rows.nextRow()) if (rows.id >= first) found.push(rows.group.slice(0, rows.groupLength))
      }
    }
    // Where the manifest is damaged, those that are left of it.
    const manifest = await unlessDamaged(this.manifest(transaction, mark))
    const runs = manifest?.runs ?? (await findSoundRuns(transaction, this.#chainId, mark.next, 0))
    for (const run of runs) if (run.lastBlock > block) await unlessDamaged(read(run))
    return found
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
    if (this.#job?.repairs === number) return this.#step(transaction, mark, this.#job)
    const blocks = [{ from: run.firstBlock, to: run.lastBlock }]
    const end: JobEnd = (each, after, added) => this.#change(each, after, [run], added)
    return this.#step(transaction, mark, this.#resealing({ repairs: number, sources: [run] }, blocks, end))
  }

  /**
   * Does a piece of writing a damaged manifest again: rows that are as they were written stay, the blocks that none of them has are
   * sealed from what is stored of them, and the chunks of all other runs are to be removed.
   * @param from - the oldest stored block, up to the newest one.
   * @returns another version of the manifest once all is written.
   */
  async repairManifest(
    transaction: WriteTransaction,
    mark: ManifestMark,
    from: number,
    to: number
  ): Promise<ManifestMark> {
    if (this.#job?.repairs === 'manifest') return this.#step(transaction, mark, this.#job)
    const kept = await findSoundRuns(transaction, this.#chainId, mark.next, from)
    const end: JobEnd = (each, after, added) => this.#replaceManifest(each, after, [...kept, ...added])
    const job = this.#resealing({ repairs: 'manifest', sources: [] }, gapsBetween(kept, from, to), end)
    return this.#step(transaction, mark, job)
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
    const after = await job.step(transaction, mark)
    if (after.version !== mark.version) this.#job = undefined
    return after
  }

  #merging(sources: readonly Run[]): Job {
    let merge: RunMerge | undefined
    return {
      sources,
      step: async (transaction, mark) => {
        let { next } = mark
        if (merge === undefined) {
          merge = new RunMerge(this.#chainId, sources, next, this.#filterBytes(sources))
          await drop(transaction, [{ number: next++ }])
        }
        const { chunks, merged } = await merge.step(transaction, this.#layout.pieceRows)
        await transaction.putChunks(chunks)
        if (merged === undefined) return { ...mark, next }
        await keep(transaction, [merged])
        return this.#change(transaction, { ...mark, next }, sources, [merged])
      }
    }
  }

  /**
   * Writes runs of stored blocks, one in each piece.
   * @param end - puts them into the manifest, once there are all of them.
   */
  #resealing(of: Omit<Job, 'step'>, blocks: readonly BlockSpan[], end: JobEnd): Job {
    const left = [...blocks]
    const added: Run[] = []
    return {
      ...of,
      step: async (transaction, mark) => {
        let { next } = mark
        const span = left.shift()
        if (span !== undefined) {
          const sealed = await this.#sealStored(transaction, next++, span.from, span.to)
          await drop(transaction, [sealed])
          added.push(sealed)
          if (sealed.lastBlock < span.to) left.unshift({ from: sealed.lastBlock + 1, to: span.to })
        }
        if (left.length > 0) return { ...mark, next }
        await keep(transaction, added)
        return end(transaction, { ...mark, next }, added)
      }
    }
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

  /** @param mark - of the manifest, with the number of the run that comes next after the change. */
  async #change(
    transaction: WriteTransaction,
    mark: ManifestMark,
    removed: readonly Run[],
    added: readonly Run[]
  ): Promise<ManifestMark> {
    const manifest = await this.manifest(transaction, mark)
    const rows = added.map(run => ({ number: run.number, rec: encodeRun(this.#chainId, run) }))
    await unlist(transaction, removed)
    await drop(transaction, removed)
    const values = rows.map(({ number, rec }) => [number, rec])
    await transaction.insert('run', ['number', 'rec'], values)
    this.#manifest = manifest.changed(this.#chainId, mark.next, removed, rows)
    return this.#manifest.mark
  }

  async #replaceManifest(
    transaction: WriteTransaction,
    mark: ManifestMark,
    runs: readonly Run[]
  ): Promise<ManifestMark> {
    await transaction.run('DELETE FROM run')
    const dropped = await transaction.all<{ number: number }>('SELECT number FROM dropped_run')
    const known = new Set([...runs, ...dropped].map(({ number }) => number))
    for (let number = await transaction.runAfter(-1); number !== undefined; ) {
      if (!known.has(number)) await drop(transaction, [{ number }])
      number = await transaction.runAfter(number)
    }
    this.#job = undefined
    this.#manifest = Manifest.without(mark)
    return this.#change(transaction, mark, [], runs)
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

/** Takes runs out of the manifest. */
async function unlist(transaction: WriteTransaction, runs: readonly Run[]): Promise<void> {
  for (const { number } of runs) await transaction.run('DELETE FROM run WHERE number = ?', [number])
}

/** These runs are not in the manifest: their chunks are to be removed. */
async function drop(transaction: WriteTransaction, runs: readonly Pick<Run, 'number'>[]): Promise<void> {
  const values = runs.map(({ number }) => [number])
  await transaction.insert('dropped_run', ['number'], values)
}

/** These runs come into the manifest. */
async function keep(transaction: WriteTransaction, runs: readonly Run[]): Promise<void> {
  for (const { number } of runs) await transaction.run('DELETE FROM dropped_run WHERE number = ?', [number])
}

/** Returns the blocks from `from` to `to` that none of these runs has. */
function gapsBetween(runs: readonly Run[], from: number, to: number): readonly BlockSpan[] {
  const gaps: BlockSpan[] = []
  let start = from
  for (const { firstBlock, lastBlock } of runs.toSorted((a, b) => a.firstBlock - b.firstBlock)) {
    if (firstBlock > start) gaps.push({ from: start, to: firstBlock - 1 })
    start = lastBlock + 1
  }
  if (start <= to) gaps.push({ from: start, to })
  return gaps
}
