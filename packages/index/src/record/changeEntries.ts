import type { Address, BlockRef, Hash, PendingTransaction } from '../model/evm.ts'
import { IndexDamagedError } from '../platform/errors.ts'
import { addressLength, hashLength } from './encodeBlock.ts'
import { toHex } from './hexBytes.ts'
import type { PackedBlocks } from './packBlocks.ts'
import { decodePending, encodePending } from './record.ts'
import { ByteReader, ByteWriter, hexAt } from './recordBytes.ts'
import { firstTransactionId, toPosition } from './transactionId.ts'
import { decodeParties, encodeParties } from './undoParties.ts'

/*
 * The bytes of entries of the log of changes. Parties are written for every transaction, so that the log is searched for accounts
 * without reading a record; records only where no other table keeps them.
 */

/** What an entry says; stored as its number, from 1 on. */
export const entryKinds = ['blocks', 'rollback', 'pool', 'settled', 'final', 'restart'] as const
export type EntryKind = (typeof entryKinds)[number]

/** A transaction of a logged block. */
export interface LoggedTransaction {
  readonly id: number
  readonly parties: readonly Address[]
}

export interface LoggedBlock<Transaction = LoggedTransaction> {
  readonly ref: BlockRef
  readonly transactions: readonly Transaction[]
}

/** A pool entry that has left, and not because a block has it. */
export interface EndedEntry {
  readonly hash: Hash
  readonly parties: readonly Address[]
  readonly reason: 'replaced' | 'dropped'
  readonly replacedBy?: Hash
}

/** Blocks that were appended. */
export interface BlocksEntry {
  readonly blocks: readonly LoggedBlock[]
  /** Ids of those of their transactions that were in the pool. */
  readonly confirmed: ReadonlySet<number>
  readonly ended: readonly EndedEntry[]
}

/** How the pool changed. */
export interface PoolEntry {
  readonly added: readonly PendingTransaction[]
  /** Their status is another one. */
  readonly changed: readonly PendingTransaction[]
  readonly ended: readonly EndedEntry[]
}

export interface RemovedTransaction extends LoggedTransaction {
  readonly record: Uint8Array
}

/** Blocks that a reorg removed, with all that no other table keeps then. */
export type RollbackEntry = readonly LoggedBlock<RemovedTransaction>[]

/** @param confirmed - ids of those of the transactions that were in the pool. */
export function encodeBlocks(
  packed: PackedBlocks,
  confirmed: readonly number[],
  ended: readonly EndedEntry[]
): Uint8Array {
  const parties = encodeParties(packed, -1)
  const writer = new ByteWriter(1_024 + packed.partyAddresses.length * 1.2)
  writer.varint(packed.headers.length)
  for (const { ref } of packed.headers) {
    writer.varint(ref.number)
    writer.fixed(ref.hash, hashLength)
    const bytes = parties.get(ref.number)
    writer.varint(bytes?.length ?? 0)
    if (bytes !== undefined) writer.bytes(bytes)
  }
  writer.varint(confirmed.length)
  for (const id of confirmed) writer.varint(id)
  writeEnded(writer, ended)
  return writer.finish()
}

/** @throws {IndexDamagedError} the bytes are no such entry. */
export function decodeBlocks(bytes: Uint8Array): BlocksEntry {
  const reader = new ByteReader(bytes)
  const blocks = readMany(reader, () => {
    const ref = readRef(reader, bytes)
    const at = reader.skip(reader.varint())
    return { ref, transactions: groupParties(ref.number, bytes.subarray(at, reader.at)) }
  })
  const confirmed = new Set(readMany(reader, () => reader.varint()))
  return { blocks, confirmed, ended: readEnded(reader, bytes) }
}

/** Returns a short key of an address: its last 32 bits. */
export function keyOfParty(address: Address): number {
  return Number.parseInt(address.slice(-8), 16)
}

/**
 * Returns the keys of the parties that an entry names, some of them repeatedly. Those of removed blocks and of final ones are named by
 * the entries that appended them.
 *
 * @throws {IndexDamagedError} the bytes are no such entry.
 */
export function partyKeys(kind: EntryKind, bytes: Uint8Array): readonly number[] {
  if (kind === 'pool') {
    const { added, changed, ended } = decodePool(bytes)
    const sent = [...added, ...changed].flatMap(({ from, to }) => (to === undefined ? [from] : [from, to]))
    return [...sent, ...ended.flatMap(({ parties }) => parties)].map(keyOfParty)
  }
  if (kind !== 'blocks') return []
  const keys: number[] = []
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const reader = new ByteReader(bytes)
  const takeParties = () => {
    for (let left = reader.varint(); left > 0; left--) {
      keys.push(view.getUint32(reader.skip(addressLength) + addressLength - 4))
    }
  }
  for (let left = reader.varint(); left > 0; left--) {
    reader.varint()
    reader.skip(hashLength)
    const length = reader.varint()
    for (const end = reader.at + length; reader.at < end; takeParties()) reader.varint()
  }
  for (let left = reader.varint(); left > 0; left--) reader.varint()
  for (const { parties } of readEnded(reader, bytes)) keys.push(...parties.map(keyOfParty))
  return keys
}

export function encodePool({ added, changed, ended }: PoolEntry): Uint8Array {
  const writer = new ByteWriter(512)
  for (const transactions of [added, changed]) {
    writer.varint(transactions.length)
    for (const transaction of transactions) {
      const record = encodePending(transaction)
      writer.byte(transaction.status)
      writer.varint(transaction.firstSeenSeconds)
      writer.varint(record.length)
      writer.bytes(record)
    }
  }
  writeEnded(writer, ended)
  return writer.finish()
}

/** @throws {IndexDamagedError} the bytes are no such entry. */
export function decodePool(bytes: Uint8Array): PoolEntry {
  const reader = new ByteReader(bytes)
  const readPending = () =>
    readMany(reader, (): PendingTransaction => {
      const status = reader.byte() === 0 ? 0 : 1
      const firstSeenSeconds = reader.varint()
      const at = reader.skip(reader.varint())
      return { ...decodePending(bytes.subarray(at, reader.at)), status, firstSeenSeconds }
    })
  const added = readPending()
  return { added, changed: readPending(), ended: readEnded(reader, bytes) }
}

export function encodeRollback(blocks: RollbackEntry): Uint8Array {
  const writer = new ByteWriter(4_096)
  writer.varint(blocks.length)
  for (const { ref, transactions } of blocks) {
    writer.varint(ref.number)
    writer.fixed(ref.hash, hashLength)
    writer.varint(transactions.length)
    for (const { id, parties, record } of transactions) {
      writer.varint(toPosition(id).index)
      writeParties(writer, parties)
      writer.varint(record.length)
      writer.bytes(record)
    }
  }
  return writer.finish()
}

/** @throws {IndexDamagedError} the bytes are no such entry. */
export function decodeRollback(bytes: Uint8Array): RollbackEntry {
  const reader = new ByteReader(bytes)
  const blocks = readMany(reader, () => {
    const ref = readRef(reader, bytes)
    const transactions = readMany(reader, () => {
      const id = firstTransactionId(ref.number) + reader.varint()
      const parties = readParties(reader, bytes)
      const at = reader.skip(reader.varint())
      return { id, parties, record: bytes.subarray(at, reader.at) }
    })
    return { ref, transactions }
  })
  reader.finish()
  return blocks
}

function writeEnded(writer: ByteWriter, ended: readonly EndedEntry[]): void {
  writer.varint(ended.length)
  for (const { hash, parties, reason, replacedBy } of ended) {
    writer.fixed(hash, hashLength)
    writeParties(writer, parties)
    writer.byte(reason === 'dropped' ? 0 : replacedBy === undefined ? 1 : 2)
    if (replacedBy !== undefined) writer.fixed(replacedBy, hashLength)
  }
}

/** They come last. */
function readEnded(reader: ByteReader, bytes: Uint8Array): readonly EndedEntry[] {
  const ended = readMany(reader, (): EndedEntry => {
    const hash = hexAt(bytes, reader.skip(hashLength), hashLength)
    const parties = readParties(reader, bytes)
    const how = reader.byte()
    if (how === 0) return { hash, parties, reason: 'dropped' }
    if (how === 1) return { hash, parties, reason: 'replaced' }
    return {
      hash,
      parties,
      reason: 'replaced',
      replacedBy: hexAt(bytes, reader.skip(hashLength), hashLength)
    }
  })
  reader.finish()
  return ended
}

function writeParties(writer: ByteWriter, parties: readonly Address[]): void {
  writer.varint(parties.length)
  for (const address of parties) writer.fixed(address, addressLength)
}

function readParties(reader: ByteReader, bytes: Uint8Array): readonly Address[] {
  return readMany(reader, () => hexAt(bytes, reader.skip(addressLength), addressLength))
}

function readRef(reader: ByteReader, bytes: Uint8Array): BlockRef {
  const number = reader.varint()
  return { number, hash: hexAt(bytes, reader.skip(hashLength), hashLength) }
}

function groupParties(number: number, bytes: Uint8Array): readonly LoggedTransaction[] {
  const transactions: { readonly id: number; readonly parties: Address[] }[] = []
  for (const { id, address } of decodeParties(number, bytes)) {
    const last = transactions.at(-1)
    if (last?.id === id) last.parties.push(toHex(address))
    else transactions.push({ id, parties: [toHex(address)] })
  }
  return transactions
}

/** Reads a number and so many values. A wild number ends at the end of the bytes. */
function readMany<T>(reader: ByteReader, read: () => T): readonly T[] {
  const values: T[] = []
  for (let left = reader.varint(); left > 0; left--) values.push(read())
  return values
}

/** @throws {IndexDamagedError} the number is that of no kind. */
export function entryKind(number: number): EntryKind {
  const kind = entryKinds[number - 1]
  if (kind === undefined) throw new IndexDamagedError({ part: 'change' }, `its kind is ${number}`)
  return kind
}
