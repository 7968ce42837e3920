import { setImmediate as breathe } from 'node:timers/promises'
import type {
  Address,
  ConfirmedTransaction,
  Hash,
  HoldingCandidate,
  PendingTransaction
} from '../../model/evm.ts'
import { StoreError } from '../../platform/errors.ts'
import { decodePending, decodeRecords } from '../record.ts'
import type {
  ChainIdentity,
  HashLookup,
  HistoryPart,
  IndexedRange,
  IndexMarks,
  RecordChunk,
  Snapshot,
  WriterReport
} from '../store.ts'
import { maxBlockNumber, toPosition, toTransactionId } from '../transactionId.ts'
import type { ChainMeta } from './cursor.ts'
import { addressBytes, hashBytes, toHex } from './hexBytes.ts'
import { mergeHoldings } from './mergeHoldings.ts'
import type { ReadConnection } from './readConnection.ts'

/**
 * A page of the usual size is one chunk. More at a time would be no quicker, but everything made of a chunk is then garbage of
 * a size that is collected late, and others wait longer for their turn.
 */
const chunkRecords = 128
/** Records may hold 128 KiB of calldata each: chunks aim at so many stored bytes at most. */
const chunkBytes = 256 * 1024
/** So many look-ups into epochs pass before other work of the thread gets its turn. */
const epochsAtOnce = 64
const candidatesAtOnce = 500

/**
 * One open read transaction. Each SQLite call blocks the thread, so long reads are cut into short calls with a pause
 * for the event loop in between.
 */
export class SqliteSnapshot implements Snapshot {
  readonly #reads: ReadConnection
  readonly #meta: ChainMeta
  readonly #onClose: () => void
  readonly #lastMs: number
  #readAtMs = performance.now()
  /** Why there is nothing to read from any more. */
  #ended: string | undefined

  /**
   * @param maxAgeMs - the first read after that ends the snapshot.
   * @param onClose - gives the connection back; called once.
   */
  constructor(reads: ReadConnection, maxAgeMs: number, onClose: () => void) {
    this.#reads = reads
    this.#lastMs = this.#readAtMs + maxAgeMs
    this.#onClose = onClose
    this.#meta = reads.begin()
  }

  async indexedRange(): Promise<IndexedRange | undefined> {
    return this.#open().cursor.range()
  }

  async marks(): Promise<IndexMarks> {
    this.#open()
    return this.#meta.marks
  }

  async rollbacks(): Promise<number> {
    this.#open()
    return this.#meta.rollbacks
  }

  async identity(): Promise<ChainIdentity> {
    this.#open()
    return this.#meta.identity
  }

  async writerReport(): Promise<WriterReport | undefined> {
    return this.#open().report()
  }

  async backfilled(): Promise<boolean> {
    this.#open()
    return this.#meta.marks.backfilled
  }

  async *history(address: Address, part: HistoryPart = {}): AsyncGenerator<readonly ConfirmedTransaction[]> {
    for await (const chunk of this.records(address, part)) yield decodeRecords(chunk)
  }

  async *records(address: Address, { olderThan, limit }: HistoryPart = {}): AsyncGenerator<RecordChunk> {
    const key = addressBytes(address)
    let before = olderThan === undefined ? Number.MAX_SAFE_INTEGER : toTransactionId(olderThan)
    let left = limit ?? Number.MAX_SAFE_INTEGER
    let wanted = chunkRecords
    let stretches: RecordChunk[] = []
    let count = 0
    for await (const epoch of this.#epochs(olderThan?.blockNumber)) {
      for (let more = true; more && left > 0; ) {
        const asked = Math.min(wanted - count, left)
        const stretch = toStretch(this.#open().history.get([epoch, key, before, asked]))
        if (stretch === undefined) break
        stretches.push(stretch)
        count += stretch.ids.length
        left -= stretch.ids.length
        before = stretch.ids.at(-1) ?? before
        more = stretch.ids.length === asked
        if (count < wanted || left === 0) continue
        yield join(stretches)
        await breathe()
        wanted = nextChunkSize(stretch)
        stretches = []
        count = 0
      }
      if (left <= 0) break
    }
    if (count > 0) yield join(stretches)
  }

  async countHistory(address: Address, atMost: number): Promise<number> {
    const key = addressBytes(address)
    let count = 0
    for await (const epoch of this.#epochs()) {
      if (count >= atMost) break
      count += this.#open().count.get([epoch, key, atMost - count])?.n ?? 0
    }
    return count
  }

  async pending(address: Address): Promise<readonly PendingTransaction[]> {
    return this.#open()
      .pending.all([addressBytes(address)])
      .map(({ status, seconds, rec }) => ({ ...decodePending(rec), status, firstSeenSeconds: seconds }))
      .sort(inPoolOrder)
  }

  async lookUpHash(hash: Hash): Promise<HashLookup> {
    for await (const epoch of this.#epochs()) {
      const id = this.#open().lookUp(epoch, hash)
      if (id !== undefined) return { kind: 'confirmed', position: toPosition(id) }
    }
    const reorged = this.#open().reorged.get([hashBytes(hash)])
    if (reorged === undefined) return { kind: 'unknown' }
    return { kind: 'reorged', commonAncestor: { number: reorged.number, hash: toHex(reorged.hash) } }
  }

  async *holdingCandidates(address: Address): AsyncGenerator<readonly HoldingCandidate[]> {
    let chunk: HoldingCandidate[] = []
    for (const candidate of mergeHoldings(() => this.#open(), address)) {
      chunk.push(candidate)
      if (chunk.length < candidatesAtOnce) continue
      yield chunk
      await breathe()
      chunk = []
    }
    if (chunk.length > 0) yield chunk
  }

  async close(): Promise<void> {
    this.end('closed')
  }

  /** How long ago something was read last. */
  idleMs(): number {
    return performance.now() - this.#readAtMs
  }

  /** Gives the connection back. @param why - told to whoever reads afterwards, as `the snapshot is <why>`. */
  end(why: string): void {
    if (this.#ended !== undefined) return
    this.#ended = why
    this.#onClose()
  }

  /** Newest first; with `upToBlock` only those that begin at or below it. */
  async *#epochs(upToBlock = maxBlockNumber): AsyncGenerator<number> {
    let seen = 0
    for (const { id } of this.#open().epochs.all([upToBlock])) {
      yield id
      if (++seen % epochsAtOnce === 0) await breathe()
    }
  }

  #open(): ReadConnection {
    this.#readAtMs = performance.now()
    if (this.#readAtMs > this.#lastMs) this.end('too old: its reader took too long')
    if (this.#ended !== undefined) throw new StoreError(`the snapshot is ${this.#ended}`)
    return this.#reads
  }
}

/** @returns nothing when the stretch is empty. */
function toStretch(row: ReturnType<ReadConnection['history']['get']>): RecordChunk | undefined {
  if (row === undefined || row.ids === null) return undefined
  if (row.missing !== null || row.bytes === null) {
    const { index, blockNumber } = toPosition(row.missing ?? 0)
    throw new StoreError(`the store is damaged: transaction ${index} of block ${blockNumber} is missing`)
  }
  const ids = row.ids.split(',').map(Number)
  return { ids, bytes: row.bytes }
}

function join(stretches: readonly RecordChunk[]): RecordChunk {
  const [first] = stretches
  if (stretches.length === 1 && first !== undefined) return first
  return {
    ids: stretches.flatMap(({ ids }) => ids),
    bytes: Buffer.concat(stretches.map(({ bytes }) => bytes))
  }
}

/** From the size of the records just read, as many as fill a chunk. */
function nextChunkSize({ ids, bytes }: RecordChunk): number {
  const fitting = Math.floor((ids.length * chunkBytes) / bytes.length)
  return Math.max(1, Math.min(fitting, chunkRecords))
}

/** Next to be mined first, then by nonce descending; the hash settles what is left. */
function inPoolOrder(a: PendingTransaction, b: PendingTransaction): number {
  if (a.status !== b.status) return b.status - a.status
  if (a.nonce !== b.nonce) return a.nonce < b.nonce ? 1 : -1
  return a.hash < b.hash ? -1 : 1
}
