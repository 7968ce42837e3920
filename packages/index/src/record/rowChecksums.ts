import type { Address } from '../model/evm.ts'
import { addressLength } from './encodeBlock.ts'
import { addressBytes } from './hexBytes.ts'
import { type TransactionPosition, toPosition, toTransactionId } from './transactionId.ts'

/*
 * Row checksums of the address index. They reveal a lost row, even one that no balance and no nonce depends on.
 *
 * Addresses are divided into 4,096 parts by their first 12 bits, so that the rows of a part are adjacent in the index and can
 * be counted again. A part has four sums, all modulo 2^32: the number of rows, the low and the high halves of their transaction
 * ids, and a hash of address and id. A single lost row follows from the sums: its id directly, its address by the hash.
 */

/** Parts that keys are divided into. */
export const partCount = 4096
const lanes = 4
/** Parts in one stored row. Several rows, each in an old and a new version, fit on one page of a database. */
const pageParts = 64
/** The same where a part has one sum: fewer rows are written. */
const narrowPageParts = 512
export const checksumPageBytes = pageParts * lanes * 4
const half = 2 ** 32

/** Rows of an index that are summed up: a key of fixed length, and a number. */
export interface SummedRows {
  readonly keyLength: number
  /** False: only the hashes are summed up. A lost row shows, but not which one. */
  readonly namesRows: boolean
}

const addressRows: SummedRows = { keyLength: addressLength, namesRows: true }

/** The sums of one part: rows, low halves of ids, high halves of ids, hashes. */
export type PartChecksum = readonly [number, number, number, number]

/** Adds and subtracts rows. One object covers a whole index, or only the rows of one part. */
export class RowChecksums {
  readonly #rows: SummedRows
  /** Sums of each part. */
  readonly #width: number
  readonly #pageParts: number
  readonly #lanes: Uint32Array
  /** 1 for each page that has changed. */
  readonly #changed: Uint8Array

  constructor(rows: SummedRows = addressRows) {
    this.#rows = rows
    this.#width = rows.namesRows ? lanes : 1
    this.#pageParts = pagePartsOf(rows)
    this.#lanes = new Uint32Array(partCount * this.#width)
    this.#changed = new Uint8Array(partCount / this.#pageParts)
  }

  /** @param key - holds the key from `at` on. */
  add(key: Uint8Array, at: number, id: number): void {
    this.#change(key, at, id, 1)
  }

  subtract(key: Uint8Array, at: number, id: number): void {
    this.#change(key, at, id, -1)
  }

  part(address: Address): PartChecksum {
    const first = lanes * partOf(addressBytes(address), 0)
    const [rows = 0, low = 0, high = 0, hash = 0] = this.#lanes.subarray(first, first + lanes)
    return [rows, low, high, hash]
  }

  /** Loads a stored page. */
  load(page: number, bytes: Uint8Array): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    const pageLanes = this.#pageParts * this.#width
    for (let lane = 0; lane < pageLanes; lane++) {
      this.#lanes[page * pageLanes + lane] = view.getUint32(4 * lane, true)
    }
  }

  /** Returns the pages that changed since the last call. */
  takeChanged(): ReadonlyMap<number, Uint8Array> {
    const pages = new Map<number, Uint8Array>()
    for (const [page, hasChanged] of this.#changed.entries()) {
      if (hasChanged === 1) pages.set(page, this.#page(page))
    }
    this.#changed.fill(0)
    return pages
  }

  clear(): void {
    this.#lanes.fill(0)
    this.#changed.fill(1)
  }

  #page(page: number): Uint8Array {
    const pageLanes = this.#pageParts * this.#width
    const view = new DataView(new ArrayBuffer(4 * pageLanes))
    for (let lane = 0; lane < pageLanes; lane++) {
      view.setUint32(4 * lane, this.#lanes[page * pageLanes + lane] ?? 0, true)
    }
    return new Uint8Array(view.buffer)
  }

  #change(key: Uint8Array, at: number, id: number, sign: 1 | -1): void {
    const part = partOf(key, at)
    const sums = this.#lanes
    const { low, high } = halvesOf(id)
    const hash = hashOf(key, at, this.#rows.keyLength, low, high)
    const first = part * this.#width
    const last = first + this.#width - 1
    sums[last] = (sums[last] ?? 0) + sign * hash
    if (last > first) {
      sums[first] = (sums[first] ?? 0) + sign
      sums[first + 1] = (sums[first + 1] ?? 0) + sign * low
      sums[first + 2] = (sums[first + 2] ?? 0) + sign * high
    }
    this.#changed[Math.floor(part / this.#pageParts)] = 1
  }
}

/** Sums of rows of one part. */
export class RowSums {
  #sums: PartChecksum = [0, 0, 0, 0]

  get sums(): PartChecksum {
    return this.#sums
  }

  /** @param address - holds 20 bytes from `at` on. */
  add(address: Uint8Array, at: number, id: number): void {
    const { low, high } = halvesOf(id)
    this.addAll([1, low, high, hashOf(address, at, addressLength, low, high)])
  }

  addAll([rows, low, high, hash]: PartChecksum): void {
    const sums = this.#sums
    this.#sums = [
      (sums[0] + rows) >>> 0,
      (sums[1] + low) >>> 0,
      (sums[2] + high) >>> 0,
      (sums[3] + hash) >>> 0
    ]
  }
}

/** Finds the stored page that holds the sums of an address's part, and their byte offset in it. */
export function findChecksum(address: Address): { readonly page: number; readonly offset: number } {
  return placeOfPart(partOf(addressBytes(address), 0), addressRows)
}

/** Reads the sums of one part from its stored page. */
export function readPartChecksum(page: Uint8Array, offset: number): PartChecksum {
  const view = new DataView(page.buffer, page.byteOffset, page.length)
  const lane = (number: number) => view.getUint32(offset + 4 * number, true)
  return [lane(0), lane(1), lane(2), lane(3)]
}

/** Sorts after every address, so it also ends the last part. */
export const afterAllAddresses: Uint8Array = Buffer.alloc(addressLength + 1, 0xff)

/** First key of the part that an address is in, and the first key after it (absent for the last part). */
export function partBounds(address: Address): { readonly first: Uint8Array; readonly end?: Uint8Array } {
  const part = partOf(addressBytes(address), 0)
  const first = firstOfPart(part)
  return part + 1 === partCount ? { first } : { first, end: firstOfPart(part + 1) }
}

/** A lost row as the sums describe it. Its address is unknown; `isRowOf` tests a candidate. */
export interface LostRow {
  readonly position: TransactionPosition
  /** Of the address and the id. */
  readonly hash: number
}

/** Result of comparing the sums of a part, for one of its addresses. */
export interface ChecksumDifference {
  /** Transactions of the lost rows of this address. */
  readonly missing: readonly TransactionPosition[]
  /**
   * The difference equals one lost row of another address; absent: it does not. Several lost and surplus rows, some of them of
   * this address, can give the same sums: then `isRowOf` is false for every address of the transaction.
   */
  readonly ofOther?: LostRow
  /** Number of lost or surplus rows whose addresses are unknown. */
  readonly unresolved: number
}

/** Compares the sums that were written with the sums of the rows found, for one address. */
export function compareChecksums(
  written: PartChecksum,
  found: PartChecksum,
  address: Address
): ChecksumDifference {
  const [rows, low, high, hash] = written.map((sum, lane) => (sum - (found[lane] ?? 0)) >>> 0) as [
    number,
    number,
    number,
    number
  ]
  if (rows === 0 && low === 0 && high === 0 && hash === 0) return { missing: [], unresolved: 0 }
  const id = high * half + low
  if (rows === 1 && Number.isSafeInteger(id)) {
    const lost = { position: toPosition(id), hash }
    if (isRowOf(lost, address)) return { missing: [lost.position], unresolved: 0 }
    return { missing: [], ofOther: lost, unresolved: 0 }
  }
  return { missing: [], unresolved: Math.max(1, Math.abs(rows | 0)) }
}

/** Tests whether a lost row belonged to this address. */
export function isRowOf({ position, hash }: LostRow, address: Address): boolean {
  const { low, high } = halvesOf(toTransactionId(position))
  return hashOf(addressBytes(address), 0, addressLength, low, high) === hash
}

/** The part that a key is in. */
export function partOf(key: Uint8Array, at: number): number {
  return ((key[at] ?? 0) << 4) | ((key[at + 1] ?? 0) >> 4)
}

/** Position of the sums of a part: the page that they are stored in, and their first byte there. */
export function placeOfPart(
  part: number,
  rows: SummedRows
): { readonly page: number; readonly offset: number } {
  const parts = pagePartsOf(rows)
  return { page: Math.floor(part / parts), offset: (part % parts) * (rows.namesRows ? lanes : 1) * 4 }
}

/** Bytes of one stored row. */
export function pageBytesOf(rows: SummedRows): number {
  return 4 * pagePartsOf(rows) * (rows.namesRows ? lanes : 1)
}

/** Parts in one stored row. */
function pagePartsOf({ namesRows }: SummedRows): number {
  return namesRows ? pageParts : narrowPageParts
}

/**
 * Reads the sum of the hashes of one part from its stored page.
 * @param page - null or too short where the file is damaged.
 * @returns -1, which no sum is, of a damaged page.
 */
export function readHashSum(page: Uint8Array | null, offset: number, { namesRows }: SummedRows): number {
  const at = offset + (namesRows ? 4 * (lanes - 1) : 0)
  if (page === null || page.length < at + 4) return -1
  return new DataView(page.buffer, page.byteOffset, page.length).getUint32(at, true)
}

/** Returns the first address of a part. */
export function firstOfPart(part: number): Uint8Array {
  const key = new Uint8Array(addressLength)
  key[0] = part >> 4
  key[1] = (part & 15) << 4
  return key
}

/** The lower 32 bits of an id, and the bits above them. */
function halvesOf(id: number): { readonly low: number; readonly high: number } {
  const high = Math.floor(id / half)
  return { low: id - high * half, high }
}

/**
 * Hashes a row to 32 bits.
 * @param key - holds `length` bytes from `at` on; a multiple of four.
 */
export function hashRow(key: Uint8Array, at: number, length: number, id: number): number {
  const { low, high } = halvesOf(id)
  return hashOf(key, at, length, low, high)
}

/** Mixes word by word, as in MurmurHash3. */
function hashOf(key: Uint8Array, at: number, length: number, low: number, high: number): number {
  let hash = mix(mix(0, low), high)
  for (let i = at; i < at + length; i += 4) {
    hash = mix(
      hash,
      ((key[i] ?? 0) << 24) | ((key[i + 1] ?? 0) << 16) | ((key[i + 2] ?? 0) << 8) | (key[i + 3] ?? 0)
    )
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

function mix(hash: number, word: number): number {
  const spread = Math.imul(word, 0xcc9e2d51)
  const mixed = hash ^ Math.imul((spread << 15) | (spread >>> 17), 0x1b873593)
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0
}
