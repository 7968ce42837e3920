import { randomBytes } from 'node:crypto'
import { formatSpans } from '../model/blockSpans.ts'
import { StoreError } from '../platform/errors.ts'
import type { BlockRef } from '../model/evm.ts'
import type { ChainIdentity, IndexCoverage } from '../port/status.ts'
import { hashBytes } from '../record/hexBytes.ts'
import type { ManifestMark } from '../runs/Manifest.ts'
import type { ReadTransaction, WriteTransaction } from '../runs/Transaction.ts'
import { checkRow, sumOfRow } from './rowSums.ts'
import { type ChainMeta, type MetaRow, toMeta } from './rows.ts'
import { insertSummed } from './sets.ts'

/**
 * Reads the state of the index as a whole.
 * @throws {StoreError} there is none.
 * @throws {IndexDamagedError} it is not what was written.
 */
export async function readMeta(transaction: ReadTransaction): Promise<ChainMeta> {
  return checkMeta(await readRow(transaction))
}

/** Checks the row of `meta`. @throws as `readMeta`. */
export function checkMeta(row: MetaRow | undefined): ChainMeta {
  return toMeta(checkMetaRow(row))
}

async function readRow(transaction: ReadTransaction): Promise<MetaRow | undefined> {
  return (await transaction.all<MetaRow>('SELECT * FROM meta'))[0]
}

function checkMetaRow(row: MetaRow | undefined): MetaRow {
  if (row === undefined) throw new StoreError('the store does not say which chain it belongs to')
  return checkRow(row.chain_id, 'meta', row, { part: 'meta' })
}

/**
 * Records the chain of a new index. Rollbacks and versions of the manifest are counted from the microseconds since 1970 on: a
 * count from 0 would repeat in an index made anew, and a cache that is keyed by it would then mix the blocks of both.
 */
export async function writeIdentity(
  transaction: WriteTransaction,
  { chainId, genesisHash }: ChainIdentity
): Promise<void> {
  const begin = microseconds()
  const row = {
    id: 1,
    chain_id: chainId,
    genesis_hash: hashBytes(genesisHash),
    backfilled: 0,
    settled: 1,
    rollbacks: begin,
    changes_log: randomBytes(8).toString('hex'),
    changes_from: 0,
    changes_to: 0,
    manifest_version: begin,
    manifest_sum: 0,
    next_run: 1
  }
  await insertSummed(transaction, chainId, 'meta', Object.keys(row), [Object.values(row)])
}

function microseconds(): number {
  return Date.now() * 1000
}

/** Changes of the row of `meta` in one transaction, which writes it once, with `save`. */
export class MetaEdit {
  readonly #transaction: WriteTransaction
  #row: MetaRow
  #hasChanged = false

  private constructor(transaction: WriteTransaction, row: MetaRow) {
    this.#transaction = transaction
    this.#row = row
  }

  /** @throws {StoreError | IndexDamagedError} as `readMeta`: a damaged row is never written again with a sound checksum. */
  static async load(transaction: WriteTransaction): Promise<MetaEdit> {
    return new MetaEdit(transaction, checkMetaRow(await readRow(transaction)))
  }

  /** The state with the changes so far. */
  get meta(): ChainMeta {
    return toMeta(this.#row)
  }

  setHead({ number, hash }: BlockRef): void {
    this.#set({ head: number, head_hash: hashBytes(hash) })
  }

  /** @param number - of the oldest stored block. */
  setIndexedFrom(number: number): void {
    this.#set({ indexed_from: number })
  }

  setCoverage({ tracedFrom, rootsFrom, unknown }: IndexCoverage): void {
    const spans = unknown === undefined ? null : formatSpans(unknown)
    this.#set({ traced_from: tracedFrom ?? null, roots_from: rootsFrom ?? null, unknown_blocks: spans })
  }

  mark(mark: 'backfilled' | 'settled'): void {
    this.#set({ [mark]: 1 })
  }

  /** Something that was stored is gone until the index is level with the node again. */
  unsettle(): void {
    this.#set({ settled: 0 })
  }

  /** Stored blocks up to this one are final; what was final stays so. */
  setFinal(number: number): void {
    const { indexed_from: from, finalized: before, degraded_until: until } = this.#row
    // Older final blocks are not in the index.
    const isStored = from !== null && from <= number
    const finalized = isStored ? Math.max(before ?? -1, number) : before
    const isOver = until !== null && finalized !== null && until <= finalized
    this.#set({ finalized, degraded_until: isOver ? null : until })
  }

  /** Blocks above `kept`, all of them when it is absent, up to `head` are being removed. */
  leave(kept: number | undefined, head: number): void {
    const { rollbacks, finalized, degraded_until: until } = this.#row
    this.#set({ settled: 0, rollbacks: Math.max(rollbacks + 1, microseconds()) })
    if (finalized === null || finalized <= (kept ?? -1)) return
    this.#set({ finalized: kept ?? null, degraded_until: Math.max(until ?? -1, head) })
  }

  /** No block is stored any more. */
  forgetBlocks(): void {
    this.#set({
      indexed_from: null,
      head: null,
      head_hash: null,
      backfilled: 0,
      traced_from: null,
      roots_from: null,
      unknown_blocks: null
    })
  }

  setLog({ from, to }: Pick<ChainMeta['changes'], 'from' | 'to'>): void {
    this.#set({ changes_from: from, changes_to: to })
  }

  setRuns({ version, sum, next }: ManifestMark): void {
    this.#set({ manifest_version: version, manifest_sum: sum, next_run: next })
  }

  /** Writes the row, if anything has changed. */
  async save(): Promise<void> {
    if (!this.#hasChanged) return
    this.#row = { ...this.#row, sum: sumOfRow(this.#row.chain_id, 'meta', this.#row) }
    const { id: _, ...columns } = this.#row
    const changes = Object.keys(columns).map(column => `${column} = ?`)
    await this.#transaction.run(`UPDATE meta SET ${changes.join(', ')}`, Object.values(columns))
    this.#hasChanged = false
  }

  #set(change: Partial<MetaRow>): void {
    const entries = Object.entries(change) as [keyof MetaRow, MetaRow[keyof MetaRow]][]
    this.#hasChanged ||= entries.some(([column, value]) => this.#row[column] !== value)
    this.#row = { ...this.#row, ...change }
  }
}
