import type { Address } from '../../model/evm.ts'
import { addressLength } from './encodeBlock.ts'
import { addressBytes } from './hexBytes.ts'
import { type TransactionPosition, toPosition, toTransactionId } from './transactionId.ts'

/*
 * What was written into the address index, in a few numbers: so that it shows when one of its rows is lost, also one that no
 * balance and no nonce depends on.
 *
 * Addresses are divided into parts by their first 12 bits, so that the rows of a part lie together in the index and can be
 * counted again. For each part: how many rows there are, the sum of their transaction ids (low and high half), and the sum of
 * a hash of address and id; all modulo 2^32. One lost row can be read off: the sums name its id, and the hash its address.
 */

const partCount = 4096
const lanes = 4
/** Parts are stored so many in a row: small enough for several rows, each in an old and a new version, on a page of a database. */
const pageParts = 64
const tallyPages = partCount / pageParts
const pageLanes = pageParts * lanes
export const tallyPageBytes = pageLanes * 4
const half = 2 ** 32

/** Rows, low halves of ids, high halves of ids, hashes. */
export type PartTally = readonly [number, number, number, number]

/** Counts rows in and out. One object stands for a whole index, or for the rows of one part of it. */
export class Tally {
  readonly #lanes = new Uint32Array(partCount * lanes)
  readonly #changed = new Set<number>()

  /** @param address - holds 20 bytes from `at` on. */
  add(address: Uint8Array, at: number, id: number): void {
    this.#change(address, at, id, 1)
  }

  subtract(address: Uint8Array, at: number, id: number): void {
    this.#change(address, at, id, -1)
  }

  part(address: Address): PartTally {
    const first = lanes * partOf(addressBytes(address), 0)
    const [rows = 0, low = 0, high = 0, hash = 0] = this.#lanes.subarray(first, first + lanes)
    return [rows, low, high, hash]
  }

  /** Takes over a page as it was stored. */
  load(page: number, bytes: Uint8Array): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    for (let lane = 0; lane < pageLanes; lane++) {
      this.#lanes[page * pageLanes + lane] = view.getUint32(4 * lane, true)
    }
  }

  /** The pages that have changed since this was asked last. */
  takeChanged(): ReadonlyMap<number, Uint8Array> {
    const pages = new Map([...this.#changed].sort((a, b) => a - b).map(page => [page, this.#page(page)]))
    this.#changed.clear()
    return pages
  }

  clear(): void {
    this.#lanes.fill(0)
    for (let page = 0; page < tallyPages; page++) this.#changed.add(page)
  }

  #page(page: number): Uint8Array {
    const view = new DataView(new ArrayBuffer(tallyPageBytes))
    for (let lane = 0; lane < pageLanes; lane++) {
      view.setUint32(4 * lane, this.#lanes[page * pageLanes + lane] ?? 0, true)
    }
    return new Uint8Array(view.buffer)
  }

  #change(address: Uint8Array, at: number, id: number, sign: 1 | -1): void {
    const part = partOf(address, at)
    const first = part * lanes
    const sums = this.#lanes
    const { low, high } = halvesOf(id)
    sums[first] = (sums[first] ?? 0) + sign
    sums[first + 1] = (sums[first + 1] ?? 0) + sign * low
    sums[first + 2] = (sums[first + 2] ?? 0) + sign * high
    sums[first + 3] = (sums[first + 3] ?? 0) + sign * hashOf(address, at, low, high)
    this.#changed.add(Math.floor(part / pageParts))
  }
}

/** The stored page that an address is in, and where in it: for readers that want no more than that. */
export function tallyPlace(address: Address): { readonly page: number; readonly offset: number } {
  const part = partOf(addressBytes(address), 0)
  return { page: Math.floor(part / pageParts), offset: (part % pageParts) * lanes * 4 }
}

/** The part of an address in its page. */
export function readPartTally(page: Uint8Array, offset: number): PartTally {
  const view = new DataView(page.buffer, page.byteOffset, page.length)
  const lane = (place: number) => view.getUint32(offset + 4 * place, true)
  return [lane(0), lane(1), lane(2), lane(3)]
}

/** Behind every address: for who needs an end of the last part, too. */
export const behindAddresses: Uint8Array = Buffer.alloc(addressLength + 1, 0xff)

/** First key of the part that an address is in, and the first key behind it (absent for the last part). */
export function partBounds(address: Address): { readonly first: Uint8Array; readonly end?: Uint8Array } {
  const part = partOf(addressBytes(address), 0)
  const first = keyOf(part)
  return part + 1 === partCount ? { first } : { first, end: keyOf(part + 1) }
}

/** A row that is lost, as far as sums tell: whose it was can only be tried. */
export interface LostRow {
  readonly position: TransactionPosition
  /** Of the address and the id. */
  readonly hash: number
}

/** What counting a part again says about one of its addresses. */
export interface TallyDifference {
  /** Transactions that lost rows of this address named. */
  readonly missing: readonly TransactionPosition[]
  /**
   * The sums are those of one lost row of another address; absent: they are not. Several lost and surplus rows, some of them of this
   * address, can give such sums too: then `isRowOf` fits no address that has to do with the transaction.
   */
  readonly ofOther?: LostRow
  /** Rows that are lost or too many, and of which nobody can tell whose they are. */
  readonly unresolved: number
}

/** What the difference between what was written and what is there says about one address. */
export function compareTallies(written: PartTally, found: PartTally, address: Address): TallyDifference {
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

/** Whether a lost row can have been this address's. */
export function isRowOf({ position, hash }: LostRow, address: Address): boolean {
  const { low, high } = halvesOf(toTransactionId(position))
  return hashOf(addressBytes(address), 0, low, high) === hash
}

function partOf(address: Uint8Array, at: number): number {
  return ((address[at] ?? 0) << 4) | ((address[at + 1] ?? 0) >> 4)
}

function keyOf(part: number): Uint8Array {
  const key = new Uint8Array(addressLength)
  key[0] = part >> 4
  key[1] = (part & 15) << 4
  return key
}

/** The 32 lower bits of an id and those above them. */
function halvesOf(id: number): { readonly low: number; readonly high: number } {
  const high = Math.floor(id / half)
  return { low: id - high * half, high }
}

/** 32 bits of address and id, stirred word by word as MurmurHash3 does. */
function hashOf(address: Uint8Array, at: number, low: number, high: number): number {
  let hash = stir(stir(0, low), high)
  for (let i = at; i < at + addressLength; i += 4) {
    hash = stir(
      hash,
      ((address[i] ?? 0) << 24) |
        ((address[i + 1] ?? 0) << 16) |
        ((address[i + 2] ?? 0) << 8) |
        (address[i + 3] ?? 0)
    )
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

function stir(hash: number, word: number): number {
  const spread = Math.imul(word, 0xcc9e2d51)
  const mixed = hash ^ Math.imul((spread << 15) | (spread >>> 17), 0x1b873593)
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0
}
