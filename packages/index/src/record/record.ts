import type { AccessListEntry, ConfirmedTransaction, Hash, Hex, PendingTransaction } from '../model/evm.ts'
import type { Field } from '../model/transactionFields.ts'
import { writeOperations } from './operations.ts'
import {
  addressLength,
  findLayout,
  hashLength,
  type Layout,
  operationsFlag,
  RecordParts,
  recordKinds,
  sumLength,
  transfersFlag
} from './RecordParts.ts'
import { ByteReader, ByteWriter, damaged, hexAt, integerAt, unpackAt, varintAt } from './recordBytes.ts'
import { type TransactionPosition, toPosition } from './transactionId.ts'
import { type RecordDetails, writeInternal, writeTransfers } from './transfers.ts'

const noBytes = Buffer.alloc(0)
const noSum = Buffer.alloc(sumLength)

/** The stored part of a pool entry. Whether it is queued changes, and is stored next to it. */
export type PendingRecord = Omit<PendingTransaction, 'status' | 'firstSeenSeconds'>

/** Records of stored transactions, newest first. A history is written from these bytes without decoding values. */
export interface RecordChunk {
  /** Transaction id (`toTransactionId`) of each record. Never empty. */
  readonly ids: readonly number[]
  /** The records, concatenated in the order of `ids`; `RecordParts` locates their parts. */
  readonly bytes: Uint8Array
}

/** Values of a transaction by the field names of the table. */
type Values = Partial<Record<Field['name'], unknown>>

/**
 * Writes a record, with room for its checksum, which `sealRecords` writes.
 * @throws {StoreError} a value has no room in the format (negative, wrong length, not hex).
 */
export function writeConfirmed(
  writer: ByteWriter,
  transaction: ConfirmedTransaction,
  { transfers, internal, operations }: RecordDetails
): void {
  const [hasTransfers, hasOperations] = [transfers.length > 0, operations.length > 0]
  const flags = (hasTransfers ? transfersFlag : 0) | (hasOperations ? operationsFlag : 0)
  const { confirmed, traced, withoutReceipt, tracedWithoutReceipt } = recordKinds
  const [untracedKind, tracedKind] =
    transaction.status === undefined ? [withoutReceipt, tracedWithoutReceipt] : [confirmed, traced]
  writeFields(writer, internal === undefined ? untracedKind : tracedKind, transaction, flags)
  if (hasTransfers) writer.counted(() => writeTransfers(writer, transaction, transfers))
  if (internal !== undefined) writer.counted(() => writeInternal(writer, transaction, internal))
  if (hasOperations) writer.counted(() => writeOperations(writer, transaction, operations))
  writer.bytes(noSum)
}

/** @throws {StoreError} a value has no room in the format. */
export function encodePending(transaction: PendingRecord): Buffer {
  const writer = new ByteWriter(192 + transaction.data.length / 2)
  writeFields(writer, recordKinds.pending, transaction, 0)
  return writer.finish()
}

/** Reads each record of a chunk. @throws {StoreError} the bytes are damaged. */
export function mapRecords<T>(
  { ids, bytes }: RecordChunk,
  read: (parts: RecordParts, position: TransactionPosition) => T
): readonly T[] {
  const parts = new RecordParts()
  let at = 0
  const all = ids.map(id => {
    at = parts.locate(bytes, at)
    return read(parts, toPosition(id))
  })
  if (at !== bytes.length) throw damaged('it has bytes left over')
  return all
}

/** @param parts - its last `locate` was this record, in these bytes. */
export function readConfirmed(
  bytes: Uint8Array,
  parts: RecordParts,
  { blockNumber, index }: TransactionPosition
): ConfirmedTransaction {
  if (parts.layout.isPending) throw damaged('it is an entry of the pool')
  const transaction = { index, ...readFields(bytes, parts), blockNumber }
  return transaction as unknown as ConfirmedTransaction
}

/** @throws {StoreError} the bytes are damaged. */
export function decodePending(bytes: Uint8Array): PendingRecord {
  const parts = new RecordParts()
  if (parts.locate(bytes, 0) !== bytes.length) throw damaged('it has bytes left over')
  if (!parts.layout.isPending) throw damaged('it is no entry of the pool')
  return readFields(bytes, parts) as unknown as PendingRecord
}

/** The hash at the head of any record, without decoding the rest. */
export function hashOfRecord(bytes: Uint8Array): Hash {
  const reader = new ByteReader(bytes)
  findLayout(reader.byte())
  return hexAt(bytes, reader.skip(hashLength), hashLength)
}

function writeFields(writer: ByteWriter, kind: number, values: Values, moreFlags: number): void {
  const { fields } = findLayout(kind)
  writer.byte(kind)
  writer.fixed(values.hash as Hash, hashLength)
  let present = moreFlags
  const row = new Array<unknown>(fields.length)
  for (let i = 0; i < fields.length; i++) {
    const { name, codec, flag } = fields[i] as Field
    const value = values[name]
    if (flag !== 0 && isWritten(codec, value, values)) present |= flag
    row[i] = value
  }
  writer.varint(present)
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i] as Field
    if ((present & field.flag) === field.flag) writeField(writer, field, row[i])
  }
}

function isWritten(codec: Field['codec'], value: unknown, values: Values): boolean {
  if (codec === 'failed') return value === 4
  return codec === 'fee' ? value !== productOf(values) : value !== undefined
}

/** The price of the gas: gasSpent x gasPrice. */
function productOf({ gasSpent, gasPrice }: Values): bigint {
  return (gasSpent as bigint) * (gasPrice as bigint)
}

function writeField(writer: ByteWriter, { codec }: Field, value: unknown): void {
  switch (codec) {
    case 'hash':
      writer.fixed(value as Hash, hashLength)
      break
    case 'address':
      writer.fixed(value as Hex, addressLength)
      break
    case 'count':
      writer.varint(value as number)
      break
    case 'integer':
    case 'fee':
      writer.integer(value as bigint)
      break
    case 'data':
      writer.packedHex(value as Hex)
      break
    case 'accessList':
      writer.packed(accessListBytes(value as readonly AccessListEntry[]))
      break
    case 'hashes': {
      const hashes = value as readonly Hash[]
      writer.varint(hashes.length)
      for (const hash of hashes) writer.fixed(hash, hashLength)
    }
  }
}

function readFields(bytes: Uint8Array, parts: RecordParts): Values {
  const values: Values = { hash: hexAt(bytes, parts.at(0), hashLength) }
  for (const field of parts.layout.fields) {
    const value = readField(bytes, parts, field, values)
    if (value !== undefined) values[field.name] = value
  }
  return values
}

function readField(
  bytes: Uint8Array,
  parts: RecordParts,
  field: Layout['fields'][number],
  values: Values
): unknown {
  const at = parts.at(field.index)
  if (field.codec === 'failed') return parts.has(field) ? 4 : 3
  if (at < 0) return field.codec === 'fee' ? productOf(values) : undefined
  switch (field.codec) {
    case 'hash':
      return hexAt(bytes, at, hashLength)
    case 'address':
      return hexAt(bytes, at, addressLength)
    case 'count':
      return varintAt(bytes, at)
    case 'integer':
    case 'fee':
      return integerAt(bytes, at)
    case 'data': {
      const data = unpackAt(bytes, at)
      return hexAt(data, 0, data.length)
    }
    case 'accessList':
      return readAccessList(bytes, at)
    case 'hashes':
      return readHashes(bytes, at)
    case 'position':
      return undefined
  }
}

/** For each entry: address, number of keys, keys. Packed afterwards, because most keys are small numbers. */
function accessListBytes(accessList: readonly AccessListEntry[]): Buffer {
  if (accessList.length === 0) return noBytes
  const writer = new ByteWriter(64 * (1 + accessList.length))
  for (const { address, storageKeys } of accessList) {
    writer.fixed(address, addressLength)
    writer.varint(storageKeys.length)
    for (const key of storageKeys) writer.fixed(key, hashLength)
  }
  return writer.finish()
}

/** The access list that begins here, by its offset in `RecordParts`. @throws {StoreError} the bytes are damaged. */
export function readAccessList(record: Uint8Array, at: number): readonly AccessListEntry[] {
  // Most lists are empty.
  if (varintAt(record, at) === 0) return []
  const bytes = unpackAt(record, at)
  const reader = new ByteReader(bytes)
  const entries: AccessListEntry[] = []
  while (!reader.atEnd) {
    const address = hexAt(bytes, reader.skip(addressLength), addressLength)
    const count = reader.varint()
    const storageKeys: Hash[] = []
    // Reading fails at the end of the bytes, so that a wild count cannot fill the memory.
    for (let i = 0; i < count; i++) storageKeys.push(hexAt(bytes, reader.skip(hashLength), hashLength))
    entries.push({ address, storageKeys })
  }
  return entries
}

/** The hashes that begin here, by their offset in `RecordParts`. */
export function readHashes(record: Uint8Array, at: number): readonly Hash[] {
  const reader = new ByteReader(record)
  reader.at = at
  return Array.from({ length: reader.varint() }, () => hexAt(record, reader.skip(hashLength), hashLength))
}
