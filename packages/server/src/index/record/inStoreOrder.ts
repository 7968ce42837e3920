import { addressLength, candidateHeadLength } from './encodeBlock.ts'
import type { PackedBlocks } from './packBlocks.ts'

/**
 * The same blocks with their rows in the order in which stores lay them out: those of the address index ascending by address,
 * then id; candidates ascending by owner, contract, key of the token ids, standard, and each once.
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
  for (let place = 0; place < count; place++) {
    const from = order[place] ?? 0
    partyIds[place] = unsortedIds[from] ?? 0
    partyAddresses.set(
      unsorted.subarray(from * addressLength, (from + 1) * addressLength),
      place * addressLength
    )
  }
  return { partyAddresses, partyIds }
}

function bytesOf({ buffer, byteOffset, length }: Uint8Array<ArrayBuffer>): Buffer {
  return Buffer.from(buffer, byteOffset, length)
}

/** Rows in the order of their addresses, equal ones in the order in which they came. */
function orderByAddress(addresses: Buffer, count: number): Uint32Array {
  const start = (row: number) => row * addressLength
  return orderByBytes(addresses, count, start, (a, b) =>
    compareBytes(addresses, start(a), start(b), addressLength)
  )
}

/**
 * Rows in the order of their bytes, equal ones in the order in which they came. Sorts numbers made of the first bits of a row
 * and its place, which is many times quicker than comparing bytes; only rows whose first bits are the same are looked at
 * again.
 * @param start - where the bytes of a row begin, which are six at least.
 */
function orderByBytes(
  bytes: Buffer,
  count: number,
  start: (row: number) => number,
  compare: (a: number, b: number) => number
): Uint32Array {
  const rowBits = Math.max(1, Math.ceil(Math.log2(count)))
  const rows = 2 ** rowBits
  // Of the 53 bits of a number, what the row leaves, out of the first 48 of its bytes.
  const dropped = 2 ** Math.max(0, 48 - (53 - rowBits))
  const keys = new Float64Array(count)
  for (let row = 0; row < count; row++) {
    keys[row] = Math.floor(bytes.readUIntBE(start(row), 6) / dropped) * rows + row
  }
  keys.sort()
  const order = Uint32Array.from(keys, key => key % rows)
  for (let from = 0; from < count; ) {
    const prefix = Math.floor((keys[from] ?? 0) / rows)
    let end = from + 1
    while (end < count && Math.floor((keys[end] ?? 0) / rows) === prefix) end++
    const alike = order.subarray(from, end)
    const first = order[from] ?? 0
    // Nearly always they are the same throughout, and stand in the order in which they came.
    if (alike.some(row => compare(row, first) !== 0)) alike.sort((a, b) => compare(a, b) || a - b)
    from = end
  }
  return order
}

/** So few bytes are compared sooner here than by a call of Buffer's. */
function compareBytes(bytes: Uint8Array, a: number, b: number, length: number): number {
  for (let i = 0; i < length; i++) {
    const order = (bytes[a + i] ?? 0) - (bytes[b + i] ?? 0)
    if (order !== 0) return order
  }
  return 0
}

function sortCandidates({
  candidates: unsorted,
  candidateEnds: ends
}: PackedBlocks): Pick<PackedBlocks, 'candidates' | 'candidateEnds'> {
  const bytes = bytesOf(unsorted)
  const start = (row: number) => ends[row - 1] ?? 0
  const end = (row: number) => ends[row] ?? 0
  // Owner and contract stand first, in one piece; the standard, which counts last, stands between them and the key.
  const compare = (a: number, b: number) =>
    compareBytes(bytes, start(a), start(b), 2 * addressLength) ||
    bytes.compare(bytes, start(b) + candidateHeadLength, end(b), start(a) + candidateHeadLength, end(a)) ||
    (bytes[start(a) + 2 * addressLength] ?? 0) - (bytes[start(b) + 2 * addressLength] ?? 0)
  const order = orderByBytes(bytes, ends.length, start, compare)
  const rows = order.filter((row, place) => place === 0 || compare(order[place - 1] ?? row, row) !== 0)
  let length = 0
  const candidateEnds = Uint32Array.from(rows, row => {
    length += end(row) - start(row)
    return length
  })
  const candidates = new Uint8Array(length)
  for (const [place, row] of rows.entries()) {
    candidates.set(bytes.subarray(start(row), end(row)), candidateEnds[place - 1] ?? 0)
  }
  return { candidates, candidateEnds }
}
