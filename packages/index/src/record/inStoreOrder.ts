import { addressLength, candidateHeadLength } from './encodeBlock.ts'
import type { PackedBlocks } from './packBlocks.ts'

/**
 * Sorts the rows of blocks as stores lay them out: the address index ascending by address, then id; candidates ascending by
 * owner, contract, key of the token ids, standard, and each once.
 */
export function inStoreOrder(blocks: PackedBlocks): PackedBlocks {
  return { ...blocks, ...sortParties(blocks), ...sortCandidates(blocks) }
}

function sortParties({
  partyAddresses: unsorted,
  partyIds: unsortedIds
}: PackedBlocks): Pick<PackedBlocks, 'partyAddresses' | 'partyIds'> {
  const count = unsortedIds.length
  const partyAddresses = new Uint8Array(unsorted.length)
  const partyIds = new Float64Array(count)
  const order = orderByAddress(bytesOf(unsorted), count)
  for (let rank = 0; rank < count; rank++) {
    const from = order[rank] ?? 0
    partyIds[rank] = unsortedIds[from] ?? 0
    copyBytes(
      unsorted,
      from * addressLength,
      (from + 1) * addressLength,
      partyAddresses,
      rank * addressLength
    )
  }
  return { partyAddresses, partyIds }
}

function bytesOf({ buffer, byteOffset, length }: Uint8Array<ArrayBuffer>): Buffer {
  return Buffer.from(buffer, byteOffset, length)
}

/** Orders rows by address; equal rows keep their order. */
function orderByAddress(addresses: Buffer, count: number): Uint32Array {
  const start = (row: number) => row * addressLength
  return orderByBytes(addresses, count, start, (a, b) =>
    compareBytes(addresses, start(a), start(b), addressLength)
  )
}

/**
 * Orders rows by their bytes; equal rows keep their order. Sorts numbers made of the first bits of a row and its row number,
 * which is many times quicker than comparing bytes; only rows with the same first bits are compared again.
 * @param start - where the bytes of a row begin, at least six.
 */
function orderByBytes(
  bytes: Buffer,
  count: number,
  start: (row: number) => number,
  compare: (a: number, b: number) => number
): Uint32Array {
  const rowBits = Math.max(1, Math.ceil(Math.log2(count)))
  const rows = 2 ** rowBits
  // A number has 53 bits: the row number takes its share, the first bits of the row the rest, at most 48.
  const dropped = 2 ** Math.max(0, 48 - (53 - rowBits))
  const keys = new Float64Array(count)
  for (let row = 0; row < count; row++) {
    const at = start(row)
    const upper = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
    const lower = ((bytes[at + 3] ?? 0) << 16) | ((bytes[at + 4] ?? 0) << 8) | (bytes[at + 5] ?? 0)
    keys[row] = Math.floor((upper * 2 ** 24 + lower) / dropped) * rows + row
  }
  keys.sort()
  const order = new Uint32Array(count)
  let from = 0
  let prefix = -1
  /** Rows with the same first bits are nearly always equal, and then in order already. */
  let areSame = true
  for (let rank = 0; rank < count; rank++) {
    const key = keys[rank] ?? 0
    const ownPrefix = Math.floor(key / rows)
    const row = key - ownPrefix * rows
    order[rank] = row
    if (ownPrefix === prefix) {
      areSame &&= compare(order[from] ?? 0, row) === 0
      continue
    }
    if (!areSame) order.subarray(from, rank).sort((a, b) => compare(a, b) || a - b)
    from = rank
    prefix = ownPrefix
    areSame = true
  }
  if (!areSame) order.subarray(from).sort((a, b) => compare(a, b) || a - b)
  return order
}

/** For so few bytes a loop is faster than a call into the runtime. */
function copyBytes(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): void {
  for (let i = start; i < end; i++) target[at + i - start] = source[i] ?? 0
}

/** For so few bytes a loop is faster than a call of Buffer's. */
function compareBytes(bytes: Uint8Array, a: number, b: number, length: number): number {
  for (let i = 0; i < length; i++) {
    const order = (bytes[a + i] ?? 0) - (bytes[b + i] ?? 0)
    if (order !== 0) return order
  }
  return 0
}

/** Most candidates have no key, because their standard has no token ids. */
function compareKeys(bytes: Buffer, a: number, endOfA: number, b: number, endOfB: number): number {
  return a === endOfA && b === endOfB ? 0 : bytes.compare(bytes, b, endOfB, a, endOfA)
}

function sortCandidates({
  candidates: unsorted,
  candidateEnds: ends
}: PackedBlocks): Pick<PackedBlocks, 'candidates' | 'candidateEnds'> {
  const bytes = bytesOf(unsorted)
  const start = (row: number) => ends[row - 1] ?? 0
  const end = (row: number) => ends[row] ?? 0
  // Owner and contract come first, adjacent. The standard, which sorts last, is between them and the key.
  const compare = (a: number, b: number) =>
    compareBytes(bytes, start(a), start(b), 2 * addressLength) ||
    compareKeys(bytes, start(a) + candidateHeadLength, end(a), start(b) + candidateHeadLength, end(b)) ||
    (bytes[start(a) + 2 * addressLength] ?? 0) - (bytes[start(b) + 2 * addressLength] ?? 0)
  const order = orderByBytes(bytes, ends.length, start, compare)
  const candidates = new Uint8Array(unsorted.length)
  const candidateEnds = new Uint32Array(ends.length)
  let count = 0
  let length = 0
  for (let rank = 0; rank < order.length; rank++) {
    const row = order[rank] ?? 0
    if (rank > 0 && compare(order[rank - 1] ?? 0, row) === 0) continue
    copyBytes(bytes, start(row), end(row), candidates, length)
    length += end(row) - start(row)
    candidateEnds[count++] = length
  }
  return { candidates: candidates.subarray(0, length), candidateEnds: candidateEnds.subarray(0, count) }
}
