import type {
  AccessListEntry,
  ConfirmedTransaction,
  EvmTransaction,
  Hash,
  PendingTransaction
} from '../model/evm.ts'
import { ByteReader, ByteWriter, damaged, unwritable } from './recordBytes.ts'
import type { RecordChunk, TransactionPosition } from './store.ts'
import { toPosition } from './transactionId.ts'

/*
 * One transaction as bytes, the same in every engine. Layout, version 1:
 *
 *   kind and version (1), hash (32), flags (varint), from (20), [to (20)], type (varint),
 *   value, gasLimit, nonce (integers), [maxFeePerGas], [maxPriorityFeePerGas], [access list], data (packed),
 *   confirmed: timestamp (varint), gasPrice, gasSpent, [fee], [contractAddress (20)]
 *   pending:   [gasPrice]
 *
 * The place in the chain is not in it: the row's key says it.
 */
export const confirmedVersion1 = 0x01
const pendingVersion1 = 0x41

const hashLength = 32
const addressLength = 20

/** Which optional parts follow. A bit that has no name here means damage or a newer writer. */
export const flags = {
  to: 1,
  accessList: 2,
  maxFeePerGas: 4,
  maxPriorityFeePerGas: 8,
  /** Confirmed: the transaction failed. */
  failed: 16,
  /** Confirmed: the fee is more than gasSpent x gasPrice and written out. */
  fee: 32,
  contractAddress: 64,
  /** Pending: has a gas price. */
  gasPrice: 128
} as const

const sharedFlags = flags.to | flags.accessList | flags.maxFeePerGas | flags.maxPriorityFeePerGas
export const confirmedFlags = sharedFlags | flags.failed | flags.fee | flags.contractAddress
const pendingFlags = sharedFlags | flags.gasPrice

/** What a pool entry is as long as it lives; whether it is queued changes and is kept beside it. */
export type PendingRecord = Omit<PendingTransaction, 'status' | 'firstSeenSeconds'>

/** @throws {StoreError} a value has no place in the format (negative, wrong length, not hex). */
export function encodeConfirmed(transaction: ConfirmedTransaction): Buffer {
  const { timestampSeconds, status, gasPrice, gasSpent, feeWei, contractAddress } = transaction
  const hasFee = feeWei !== gasSpent * gasPrice
  const writer = writeShared(
    transaction,
    confirmedVersion1,
    when(status === 4, flags.failed) |
      when(hasFee, flags.fee) |
      when(contractAddress !== undefined, flags.contractAddress)
  )
  writer.varint(timestampSeconds)
  writer.integer(gasPrice)
  writer.integer(gasSpent)
  if (hasFee) writer.integer(feeWei)
  if (contractAddress !== undefined) writer.fixed(contractAddress, addressLength)
  return writer.finish()
}

/**
 * @param position - from the row's key.
 * @throws {StoreError} the bytes are damaged, or written by a newer version.
 */
export function decodeConfirmed(bytes: Uint8Array, position: TransactionPosition): ConfirmedTransaction {
  const reader = new ByteReader(bytes)
  const transaction = readConfirmed(reader, position)
  reader.finish()
  return transaction
}

/** The records of a chunk as values. @throws {StoreError} as `decodeConfirmed`. */
export function decodeRecords({ ids, bytes }: RecordChunk): readonly ConfirmedTransaction[] {
  const reader = new ByteReader(bytes)
  const transactions = ids.map(id => readConfirmed(reader, toPosition(id)))
  reader.finish()
  return transactions
}

function readConfirmed(reader: ByteReader, position: TransactionPosition): ConfirmedTransaction {
  const { present, shared } = readShared(reader, confirmedVersion1, confirmedFlags)
  const timestampSeconds = reader.varint()
  const gasPrice = reader.integer()
  const gasSpent = reader.integer()
  const feeWei = present & flags.fee ? reader.integer() : gasSpent * gasPrice
  const contractAddress = present & flags.contractAddress ? reader.fixed(addressLength) : undefined
  return {
    ...shared,
    blockNumber: position.blockNumber,
    index: position.index,
    timestampSeconds,
    status: present & flags.failed ? 4 : 3,
    gasPrice,
    gasSpent,
    feeWei,
    ...(contractAddress !== undefined && { contractAddress })
  }
}

/** @throws {StoreError} a value has no place in the format. */
export function encodePending(transaction: PendingRecord): Buffer {
  const { gasPrice } = transaction
  const writer = writeShared(transaction, pendingVersion1, when(gasPrice !== undefined, flags.gasPrice))
  if (gasPrice !== undefined) writer.integer(gasPrice)
  return writer.finish()
}

/** @throws {StoreError} the bytes are damaged, or written by a newer version. */
export function decodePending(bytes: Uint8Array): PendingRecord {
  const reader = new ByteReader(bytes)
  const { present, shared } = readShared(reader, pendingVersion1, pendingFlags)
  const gasPrice = present & flags.gasPrice ? reader.integer() : undefined
  reader.finish()
  return { ...shared, ...(gasPrice !== undefined && { gasPrice }) }
}

/** How many bytes `hashOfRecord` needs: engines may read no more of a record than that. */
export const recordHeadLength = 1 + hashLength

/** The hash at the head of any record, without decoding the rest. */
export function hashOfRecord(bytes: Uint8Array): Hash {
  const reader = new ByteReader(bytes)
  const kind = reader.byte()
  if (kind !== confirmedVersion1 && kind !== pendingVersion1) throw unknownKind(kind)
  return reader.fixed(hashLength)
}

function writeShared(transaction: EvmTransaction, kind: number, ownFlags: number): ByteWriter {
  const { to, data, accessList, maxFeePerGas, maxPriorityFeePerGas } = transaction
  const dataBytes = Buffer.from(data.slice(2), 'hex')
  if (dataBytes.length * 2 + 2 !== data.length) throw unwritable('whole bytes of hex', data)
  const writer = new ByteWriter(192 + dataBytes.length)
  writer.byte(kind)
  writer.fixed(transaction.hash, hashLength)
  writer.varint(
    ownFlags |
      when(to !== undefined, flags.to) |
      when(accessList !== undefined, flags.accessList) |
      when(maxFeePerGas !== undefined, flags.maxFeePerGas) |
      when(maxPriorityFeePerGas !== undefined, flags.maxPriorityFeePerGas)
  )
  writer.fixed(transaction.from, addressLength)
  if (to !== undefined) writer.fixed(to, addressLength)
  writer.varint(transaction.type)
  writer.integer(transaction.value)
  writer.integer(transaction.gasLimit)
  writer.integer(transaction.nonce)
  if (maxFeePerGas !== undefined) writer.integer(maxFeePerGas)
  if (maxPriorityFeePerGas !== undefined) writer.integer(maxPriorityFeePerGas)
  if (accessList !== undefined) writer.packed(accessListBytes(accessList))
  writer.packed(dataBytes)
  return writer
}

function readShared(reader: ByteReader, kind: number, allowedFlags: number) {
  const found = reader.byte()
  if (found !== kind) throw unknownKind(found)
  const hash = reader.fixed(hashLength)
  const present = reader.varint()
  if (present > allowedFlags || (present & ~allowedFlags) !== 0) throw damaged('it has unknown flags')
  const from = reader.fixed(addressLength)
  const to = present & flags.to ? reader.fixed(addressLength) : undefined
  const type = reader.varint()
  const value = reader.integer()
  const gasLimit = reader.integer()
  const nonce = reader.integer()
  const maxFeePerGas = present & flags.maxFeePerGas ? reader.integer() : undefined
  const maxPriorityFeePerGas = present & flags.maxPriorityFeePerGas ? reader.integer() : undefined
  const accessList = present & flags.accessList ? readAccessList(reader.packed()) : undefined
  const data = reader.packed()
  const shared: EvmTransaction = {
    hash,
    from,
    ...(to !== undefined && { to }),
    value,
    data: `0x${data.toString('hex')}`,
    gasLimit,
    nonce,
    type,
    ...(accessList !== undefined && { accessList }),
    ...(maxFeePerGas !== undefined && { maxFeePerGas }),
    ...(maxPriorityFeePerGas !== undefined && { maxPriorityFeePerGas })
  }
  return { present, shared }
}

/** The access list that stands at this place of a record, as `ConfirmedParts` names it. */
export function readAccessListAt(bytes: Uint8Array, place: number): readonly AccessListEntry[] {
  return readAccessList(new ByteReader(bytes.subarray(place)).packed())
}

/** Entry after entry: address, count of keys, keys. Packed afterwards, since most keys are small numbers. */
function accessListBytes(accessList: readonly AccessListEntry[]): Buffer {
  const writer = new ByteWriter(64 * (1 + accessList.length))
  for (const { address, storageKeys } of accessList) {
    writer.fixed(address, addressLength)
    writer.varint(storageKeys.length)
    for (const key of storageKeys) writer.fixed(key, hashLength)
  }
  return writer.finish()
}

function readAccessList(bytes: Buffer): readonly AccessListEntry[] {
  const reader = new ByteReader(bytes)
  const entries: AccessListEntry[] = []
  while (!reader.atEnd) {
    const address = reader.fixed(addressLength)
    const count = reader.varint()
    const storageKeys: Hash[] = []
    // Reading fails at the end of the bytes, so that a wild count cannot fill the memory.
    for (let i = 0; i < count; i++) storageKeys.push(reader.fixed(hashLength))
    entries.push({ address, storageKeys })
  }
  return entries
}

function when(condition: boolean, flag: number): number {
  return condition ? flag : 0
}

/** The record is of a kind that this program does not read. */
export function unknownKind(kind: number) {
  return damaged(`its kind ${kind} is unknown to this version`)
}
