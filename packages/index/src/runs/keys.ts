import { maxTransactionsPerBlock } from '../record/transactionId.ts'

/** Bytes of a transaction id at the end of a key. */
const idLength = 7

/** Sorts after every key. */
const afterAllKeys = Buffer.alloc(80, 0xff)

/** Returns the key of a row: the bytes of its group, then its id, so that bytes sort as rows do. */
export function rowKey(group: Uint8Array, id: number): Buffer {
  const key = Buffer.allocUnsafe(group.length + idLength)
  key.set(group)
  writeId(key, group.length, id)
  return key
}

/** Writes a transaction id in 7 bytes, highest first. */
function writeId(bytes: Uint8Array, at: number, id: number): void {
  const upper = Math.floor(id / 2 ** 32)
  const lower = id - upper * 2 ** 32
  bytes[at] = upper >>> 16
  bytes[at + 1] = upper >>> 8
  bytes[at + 2] = upper
  bytes[at + 3] = lower >>> 24
  bytes[at + 4] = lower >>> 16
  bytes[at + 5] = lower >>> 8
  bytes[at + 6] = lower
}

/** Compares the bytes of two keys. Shorter ones sort first. */
export function compareKeys(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const order = (a[i] ?? 0) - (b[i] ?? 0)
    if (order !== 0) return order
  }
  return a.length - b.length
}

/**
 * Returns the shortest bytes that sort after `last` and not after `first`: the lower bound of the chunk that begins with `first`.
 * @param last - key of the row before it.
 */
export function separatorOf(last: Uint8Array, first: Uint8Array): Uint8Array {
  let common = 0
  while (last[common] === first[common]) common++
  return first.slice(0, common + 1)
}

/** Returns bytes that sort before `bound` and after all other keys and bounds before it. */
export function keyBefore(bound: Uint8Array): Uint8Array {
  const last = bound.at(-1) ?? 0
  const start = bound.subarray(0, -1)
  return last === 0 ? start : Buffer.concat([start, Buffer.of(last - 1), afterAllKeys])
}

/** How the ids of a run are written: as the distance of the block to the first one, and the index in as few bits as it needs. */
export interface IdCoding {
  readonly firstBlock: number
  readonly indexBits: number
}

/** Returns the number by which a run writes an id. */
export function toOffset({ firstBlock, indexBits }: IdCoding, id: number): number {
  const index = id % maxTransactionsPerBlock
  return ((id - index) / maxTransactionsPerBlock - firstBlock) * 2 ** indexBits + index
}

/** Returns the offset that all lower ids of the run are below. The id may be of no transaction, or of another run. */
export function toBound({ firstBlock, indexBits }: IdCoding, id: number): number {
  const index = id % maxTransactionsPerBlock
  const block = (id - index) / maxTransactionsPerBlock
  return (block - firstBlock) * 2 ** indexBits + Math.min(index, 2 ** indexBits)
}

/** Inverse of `toOffset`. */
export function toId({ firstBlock, indexBits }: IdCoding, offset: number): number {
  const index = offset % 2 ** indexBits
  return ((offset - index) / 2 ** indexBits + firstBlock) * maxTransactionsPerBlock + index
}

/** Returns the number of bits that indexes up to `maxIndex` need. */
export function bitsFor(maxIndex: number): number {
  return maxIndex === 0 ? 0 : Math.floor(Math.log2(maxIndex)) + 1
}
