import { crc32 } from 'node:zlib'
import { IndexDamagedError } from '../platform/errors.ts'
import type { StoredBlocks } from './encodeBlock.ts'
import { sumLength } from './RecordParts.ts'
import { maxTransactionsPerBlock, toPosition } from './transactionId.ts'

/*
 * The last four bytes of a record are its sum: CRC-32 over the bytes before, begun with a number that follows from the chain
 * and the transaction id. It reveals every flipped bit, and a record that lies under another key.
 */

/** Writes the sums of records. */
export function sealRecords(
  chainId: number,
  { ids, records, recordEnds }: Pick<StoredBlocks, 'ids' | 'records' | 'recordEnds'>
): void {
  const view = new DataView(records.buffer, records.byteOffset, records.length)
  let start = 0
  for (const [row, id] of ids.entries()) {
    const end = recordEnds[row] ?? start
    view.setUint32(end - sumLength, sumOf(chainId, id, records, start, end - sumLength))
    start = end
  }
}

/**
 * Checks the sums of concatenated records.
 * @param lengths - of each record.
 * @throws {IndexDamagedError} a record is not what was written under this id, or has no sum.
 */
export function checkRecords(
  chainId: number,
  ids: readonly number[],
  bytes: Uint8Array,
  lengths: ArrayLike<number>
): void {
  let start = 0
  for (let row = 0; row < ids.length; row++) {
    const end = start + (lengths[row] ?? 0)
    checkRecord(chainId, ids[row] ?? 0, bytes, start, end)
    start = end
  }
}

/** Checks the sum of one record, from `start` to `end`. @throws {IndexDamagedError} as `checkRecords`. */
export function checkRecord(
  chainId: number,
  id: number,
  bytes: Uint8Array,
  start = 0,
  end = bytes.length
): void {
  if (isSound(chainId, id, bytes, start, end)) return
  const { blockNumber, index } = toPosition(id)
  const detail = `transaction ${index}: its checksum differs`
  throw new IndexDamagedError({ part: 'record', block: blockNumber }, detail)
}

/** Reports whether a record, from `start` to `end`, is what was written under an id. */
export function isSound(
  chainId: number,
  id: number,
  bytes: Uint8Array,
  start = 0,
  end = bytes.length
): boolean {
  const at = end - sumLength
  const stored =
    (((bytes[at] ?? 0) << 24) |
      ((bytes[at + 1] ?? 0) << 16) |
      ((bytes[at + 2] ?? 0) << 8) |
      (bytes[at + 3] ?? 0)) >>>
    0
  return at > start && sumOf(chainId, id, bytes, start, at) === stored
}

function sumOf(chainId: number, id: number, bytes: Uint8Array, start: number, end: number): number {
  const block = Math.floor(id / maxTransactionsPerBlock)
  // Multiplied by odd numbers, so that neighbouring ids and chains begin with different numbers.
  const begun = Math.imul(id, 0x9e3779b1) ^ Math.imul(block, 0x85ebca6b) ^ Math.imul(chainId, 0xc2b2ae35)
  return crc32(bytes.subarray(start, end), begun >>> 0)
}
