import { crc32 } from 'node:zlib'
import type { Damage } from '../platform/errors.ts'
import { addressLength, hashLength } from '../record/encodeBlock.ts'
import { recordHeadLength } from '../record/record.ts'
import type { SummedRows } from '../record/rowChecksums.ts'
import type { SqlValue } from './driver.ts'

/** Of each hash, `tx_hash` keeps the first bytes. */
export const shortHashLength = 8
/** Position in a record at which its hash begins, with which its head ends; SQLite counts from 1. */
export const hashAt = 1 + recordHeadLength - hashLength

/** The columns of a row after the epoch, without its sum; all of them are its key. */
export type RowKey = readonly SqlValue[]

/** A table whose rows lie together by epoch. */
export interface TableShape {
  /** Its number in `epoch_sum`. */
  readonly keyed: 0 | 1 | 2
  readonly name: string
  /** What damage of it is called. */
  readonly part: Damage['part']
  /** The key begins with columns of fixed length, ... */
  readonly fixed: readonly string[]
  /** ... may have one of variable length, ... */
  readonly variable?: string
  /** ... and ends with a number. */
  readonly number: string
  /** How its rows are summed up. Where a column is of variable length, `holdingNumber` takes the place of the number. */
  readonly rows: SummedRows
  /** Sort before and after every key. */
  readonly lowest: RowKey
  readonly highest: RowKey
}

/** Sorts before every key. */
export const nothing = Buffer.alloc(0)
/** Sorts after every key. */
export const everything = Buffer.alloc(33, 0xff)

export const addressTable: TableShape = {
  keyed: 0,
  name: 'address_tx',
  part: 'addressRow',
  fixed: ['address'],
  number: 'tx_id',
  rows: { keyLength: addressLength, namesRows: true },
  lowest: [nothing, -1],
  highest: [everything, 0]
}

export const hashTable: TableShape = {
  keyed: 1,
  name: 'tx_hash',
  part: 'hashRow',
  fixed: ['key'],
  number: 'tx_id',
  rows: { keyLength: shortHashLength, namesRows: false },
  lowest: [nothing, -1],
  highest: [everything, 0]
}

/** Several epochs may have the same candidate; merged, they become one row. */
export const holdingTable: TableShape = {
  keyed: 2,
  name: 'holding',
  part: 'candidate',
  fixed: ['owner', 'contract'],
  variable: 'token_id',
  number: 'standard',
  rows: { keyLength: 2 * addressLength, namesRows: false },
  lowest: [nothing, nothing, nothing, -1],
  highest: [everything, nothing, nothing, 0]
}

/** In the order of `keyed`. */
export const tableShapes = [addressTable, hashTable, holdingTable] as const

/** All columns of a row's key, in order. */
export function columnsOf({ fixed, variable, number }: TableShape): readonly string[] {
  return [...fixed, ...(variable === undefined ? [] : [variable]), number]
}

/** The number that stands for the token ids and the standard of a candidate where rows are summed up. */
export function holdingNumber(tokenId: Uint8Array, standard: number): number {
  return (tokenId.length === 0 ? 0 : crc32(tokenId)) * 256 + standard
}

/** Key of a page of the sums of a table's rows in one epoch. */
export function sumId(epoch: number, { keyed }: TableShape, page = 0): number {
  return (epoch * 4 + keyed) * 64 + page
}

export function compareKeys(a: RowKey, b: RowKey): number {
  for (const [i, left] of a.entries()) {
    const right = b[i]
    const order =
      left instanceof Uint8Array && right instanceof Uint8Array
        ? Buffer.compare(left, right)
        : Number(left) - Number(right)
    if (order !== 0) return order
  }
  return 0
}
