import type { Hash } from '../model/evm.ts'
import { IndexDamagedError } from '../platform/errors.ts'
import { hashBytes } from '../record/hexBytes.ts'
import { hashOfRecord, type RecordChunk } from '../record/record.ts'
import { checkRecord, checkRecords } from '../record/recordSums.ts'
import { firstTransactionId, toPosition } from '../record/transactionId.ts'
import type { RunReader } from '../runs/RunReader.ts'
import type { ReadTransaction } from '../runs/Transaction.ts'

/** A record as it is stored. */
export interface StoredRecord {
  readonly id: number
  readonly rec: Uint8Array
}

const recordsAtOnce = 2_000

/** Reads the records of a range of blocks, which may be altered. */
export async function* readRecords(
  transaction: ReadTransaction,
  first: number,
  last: number
): AsyncGenerator<StoredRecord> {
  const end = firstTransactionId(last + 1)
  for (let from = firstTransactionId(first); from < end; ) {
    const rows = await transaction.all<StoredRecord>(
      `SELECT id, rec FROM tx WHERE id >= ? AND id < ? ORDER BY id LIMIT ${recordsAtOnce}`,
      [from, end]
    )
    yield* rows
    from = (rows.at(-1)?.id ?? end) + 1
  }
}

/** Reads the records of a range of blocks. @throws {IndexDamagedError} one is altered. */
export async function* readSoundRecords(
  transaction: ReadTransaction,
  chainId: number,
  first: number,
  last: number
): AsyncGenerator<StoredRecord> {
  for await (const each of readRecords(transaction, first, last)) {
    checkRecord(chainId, each.id, each.rec)
    yield each
  }
}

/** Reads the records of transactions. @throws {IndexDamagedError} one is lost or altered. */
export async function readChunk(
  transaction: ReadTransaction,
  chainId: number,
  ids: readonly number[]
): Promise<RecordChunk> {
  const found = await transaction.recordsOf(ids)
  if ('missing' in found) {
    const { index, blockNumber } = toPosition(found.missing)
    throw new IndexDamagedError({ part: 'record', block: blockNumber }, `transaction ${index} is missing`)
  }
  checkRecords(chainId, ids, found.bytes, found.lengths)
  return { ids, bytes: found.bytes }
}

/**
 * Finds the transaction with a hash.
 * @returns its id; absent where none of the runs has it.
 * @throws {IndexDamagedError} it cannot be proven.
 */
export async function findByHash(
  transaction: ReadTransaction,
  chainId: number,
  runs: RunReader,
  hash: Hash
): Promise<number | undefined> {
  const { ids } = await runs.hash(hashBytes(hash)).next(Number.MAX_SAFE_INTEGER)
  for (const id of ids) {
    const { bytes } = await readChunk(transaction, chainId, [id])
    if (hashOfRecord(bytes) === hash.toLowerCase()) return id
  }
  return undefined
}

/** Records may hold 128 KiB of calldata each: chunks aim at so many stored bytes at most. */
const chunkBytes = 256 * 1024

/** Computes from the size of the records just read how many fill a chunk. */
export function nextChunkSize(rows: number, bytes: number, maxRows: number): number {
  return Math.max(1, Math.min(Math.floor((rows * chunkBytes) / Math.max(1, bytes)), maxRows))
}
