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
    checkOne(chainId, ids[row] ?? 0, bytes, start, end)
    start = end
  }
}

/** Leaves out the records whose sums differ. @returns those that agree, and the ids of the others. */
export function splitAltered(
  chainId: number,
  ids: readonly number[],
  bytes: Uint8Array,
  lengths: ArrayLike<number>
): { readonly ids: readonly number[]; readonly bytes: Uint8Array; readonly altered: readonly number[] } {
  const sound: number[] = []
  const altered: number[] = []
  const records: Uint8Array[] = []
  let start = 0
  for (const [row, id] of ids.entries()) {
    const end = start + (lengths[row] ?? 0)
    try {
      checkOne(chainId, id, bytes, start, end)
      sound.push(id)
      records.push(bytes.subarray(start, end))
    } catch (error) {
      if (!(error instanceof IndexDamagedError)) throw error
      altered.push(id)
    }
    start = end
  }
  return altered.length === 0
    ? { ids, bytes, altered }
    : { ids: sound, bytes: Buffer.concat(records), altered }
}

/** Checks the sum of one record. @throws {IndexDamagedError} as `checkRecords`. */
export function checkRecord(chainId: number, id: number, record: Uint8Array): void {
  checkOne(chainId, id, record, 0, record.length)
}

function checkOne(chainId: number, id: number, bytes: Uint8Array, start: number, end: number): void {
  const at = end - sumLength
  const stored =
    (((bytes[at] ?? 0) << 24) |
      ((bytes[at + 1] ?? 0) << 16) |
      ((bytes[at + 2] ?? 0) << 8) |
      (bytes[at + 3] ?? 0)) >>>
    0
  if (at > start && sumOf(chainId, id, bytes, start, at) === stored) return
  const { blockNumber, index } = toPosition(id)
  const detail = `transaction ${index}: its checksum differs`
  throw new IndexDamagedError({ part: 'record', block: blockNumber }, detail)
}

function sumOf(chainId: number, id: number, bytes: Uint8Array, start: number, end: number): number {
  const block = Math.floor(id / maxTransactionsPerBlock)
  // Multiplied by odd numbers, so that neighbouring ids and chains begin with different numbers.
  const begun = Math.imul(id, 0x9e3779b1) ^ Math.imul(block, 0x85ebca6b) ^ Math.imul(chainId, 0xc2b2ae35)
  return crc32(bytes.subarray(start, end), begun >>> 0)
}
