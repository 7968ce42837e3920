import { crc32 } from 'node:zlib'
import { IndexDamagedError, unlessDamaged } from '../platform/errors.ts'
import { decodeRun, type Run } from './run.ts'
import type { ReadTransaction } from './Transaction.ts'

/** What the meta row says of the manifest. */
export interface ManifestMark {
  /** Another one after each change of the runs. */
  readonly version: number
  /** CRC-32 over the rows of the manifest, in the order of their numbers. */
  readonly sum: number
  /** No run has had this number or a higher one. */
  readonly next: number
}

/** Row of the manifest. */
export interface ManifestRow {
  readonly number: number
  readonly rec: Uint8Array
}

/** The runs of one chain. */
export class Manifest {
  readonly mark: ManifestMark
  /** In the order of their blocks, without a gap. */
  readonly runs: readonly Run[]
  readonly newestFirst: readonly Run[]
  readonly #rows: ReadonlyMap<number, Uint8Array>

  private constructor(mark: ManifestMark, rows: ReadonlyMap<number, Uint8Array>, runs: readonly Run[]) {
    this.mark = mark
    this.#rows = rows
    this.runs = runs
    this.newestFirst = runs.toReversed()
  }

  /** The manifest of an index without blocks. */
  static readonly empty = Manifest.without({ version: 0, sum: 0, next: 1 })

  /** Returns a manifest without runs, from which one is written again. */
  static without(mark: ManifestMark): Manifest {
    return new Manifest(mark, new Map(), [])
  }

  /** Reads the manifest. @throws {IndexDamagedError} its rows are not what was written. */
  static async read(transaction: ReadTransaction, chainId: number, mark: ManifestMark): Promise<Manifest> {
    const rows = await transaction.all<ManifestRow>('SELECT number, rec FROM run')
    const byNumber = new Map(rows.map(({ number, rec }) => [number, rec]))
    if (sumOf(byNumber) !== mark.sum) {
      throw new IndexDamagedError({ part: 'manifest' }, 'the checksum of its rows differs')
    }
    return Manifest.#of(chainId, mark, byNumber)
  }

  static #of(chainId: number, mark: ManifestMark, rows: ReadonlyMap<number, Uint8Array>): Manifest {
    const runs = [...rows.values()].map(rec => decodeRun(chainId, rec))
    runs.sort((a, b) => a.firstBlock - b.firstBlock)
    let before: Run | undefined
    for (const run of runs) {
      const isNext = before === undefined || before.lastBlock + 1 === run.firstBlock
      if (!rows.has(run.number) || !isNext) {
        throw new IndexDamagedError({ part: 'manifest' }, 'its runs do not follow each other')
      }
      before = run
    }
    return new Manifest(mark, rows, runs)
  }

  /** Returns the manifest after a change. */
  changed(chainId: number, next: number, removed: readonly Run[], added: readonly ManifestRow[]): Manifest {
    const rows = new Map(this.#rows)
    for (const { number } of removed) rows.delete(number)
    for (const { number, rec } of added) rows.set(number, rec)
    return Manifest.#of(chainId, { version: this.mark.version + 1, sum: sumOf(rows), next }, rows)
  }
}

function sumOf(rows: ReadonlyMap<number, Uint8Array>): number {
  const ordered = [...rows].sort(([a], [b]) => a - b)
  return ordered.reduce((sum, [, rec]) => crc32(rec, sum), 0)
}

/**
 * Reads the runs of a damaged manifest of which nothing speaks against their rows: as they were written, of stored blocks, and not
 * dropped. Of two that overlap the newer one is right: it took the place of the other.
 * @param next - no run has had this number or a higher one.
 * @param from - the oldest stored block.
 */
export async function findSoundRuns(
  transaction: ReadTransaction,
  chainId: number,
  next: number,
  from: number
): Promise<readonly Run[]> {
  const rows = await transaction.all<ManifestRow>('SELECT number, rec FROM run ORDER BY number DESC')
  const dropped = await transaction.all<{ number: number }>('SELECT number FROM dropped_run')
  const isDropped = new Set(dropped.map(({ number }) => number))
  const kept: Run[] = []
  for (const row of rows) {
    const run = await unlessDamaged(decode(chainId, row))
    if (run === undefined || run.number >= next || isDropped.has(run.number) || run.firstBlock < from)
      continue
    const isFree = kept.every(each => each.lastBlock < run.firstBlock || each.firstBlock > run.lastBlock)
    if (isFree && (await isOfStored(transaction, run))) kept.push(run)
  }
  return kept
}

async function isOfStored(transaction: ReadTransaction, { lastBlock, lastHash }: Run): Promise<boolean> {
  const text = 'SELECT hash FROM block WHERE number = ?'
  const [last] = await transaction.all<{ hash: Uint8Array }>(text, [lastBlock])
  return last !== undefined && Buffer.compare(last.hash, lastHash) === 0
}

async function decode(chainId: number, { number, rec }: ManifestRow): Promise<Run | undefined> {
  const run = decodeRun(chainId, rec)
  return run.number === number ? run : undefined
}
