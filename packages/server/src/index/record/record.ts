import type {
  AccessListEntry,
  ConfirmedTransaction,
  EvmTransaction,
  Hash,
  PendingTransaction
} from '../../model/evm.ts'
import { encodeInternal, encodeTransfers, type RecordDetails } from './encodeDetails.ts'
import { ByteReader, ByteWriter, damaged, unwritable } from './recordBytes.ts'
import { type TransactionPosition, toPosition } from './transactionId.ts'

/*
 * One transaction as bytes, the same in every engine. Layout:
 *
 *   kind (1), hash (32), flags (varint), from (20), [to (20)], type (varint),
 *   value, gasLimit, nonce (integers), [maxFeePerGas], [maxPriorityFeePerGas], [access list], data (packed),
 *   confirmed: timestamp (varint), gasPrice, gasSpent, [fee], [contractAddress (20)],
 *              [length (varint), transfers], kind 3: length (varint), internal transfers
 *   pending:   [gasPrice]
 *
 * Kinds of confirmed records say what is known of a transaction besides what it says itself: 1, as older versions wrote them,
 * nothing; 2 its token transfers; 3 also what happened inside it. How transfers are written is said in `encodeDetails.ts`.
 * The place in the chain is not in it: the row's key says it.
 */
export const confirmedKinds = { plain: 0x01, withTransfers: 0x02, traced: 0x03 } as const
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
  /** Confirmed, but not kind 1: tokens were transferred. */
  transfers: 128,
  /** Pending: has a gas price. */
  gasPrice: 128
} as const

const sharedFlags = flags.to | flags.accessList | flags.maxFeePerGas | flags.maxPriorityFeePerGas
export const confirmedFlags = sharedFlags | flags.failed | flags.fee | flags.contractAddress
/** Of the kinds whose transfers are known. */
export const detailedFlags = confirmedFlags | flags.transfers
const pendingFlags = sharedFlags | flags.gasPrice

/** What a pool entry is as long as it lives; whether it is queued changes and is kept beside it. */
export type PendingRecord = Omit<PendingTransaction, 'status' | 'firstSeenSeconds'>

/** What a confirmed record of this kind knows; `undefined`: it is none. */
export function detailsOf(
  kind: number
): { readonly transfers: boolean; readonly internal: boolean } | undefined {
  return knownDetails[kind]
}

const knownDetails: Readonly<Record<number, { readonly transfers: boolean; readonly internal: boolean }>> = {
  [confirmedKinds.plain]: { transfers: false, internal: false },
  [confirmedKinds.withTransfers]: { transfers: true, internal: false },
  [confirmedKinds.traced]: { transfers: true, internal: true }
}

/**
 * @param details - absent: a record as older versions wrote it.
 * @throws {StoreError} a value has no place in the format (negative, wrong length, not hex), or what happened inside the
 *   transaction is known, but not its token transfers.
 */
export function encodeConfirmed(transaction: ConfirmedTransaction, details: RecordDetails = {}): Buffer {
  const { timestampSeconds, status, gasPrice, gasSpent, feeWei, contractAddress } = transaction
  const { transfers, internal } = details
  const hasFee = feeWei !== gasSpent * gasPrice
  const hasTransfers = transfers !== undefined && transfers.length > 0
  const writer = writeShared(
    transaction,
    kindOf(details),
    when(status === 4, flags.failed) |
      when(hasFee, flags.fee) |
      when(contractAddress !== undefined, flags.contractAddress) |
      when(hasTransfers, flags.transfers)
  )
  writer.varint(timestampSeconds)
  writer.integer(gasPrice)
  writer.integer(gasSpent)
  if (hasFee) writer.integer(feeWei)
  if (contractAddress !== undefined) writer.fixed(contractAddress, addressLength)
  if (hasTransfers) writeCounted(writer, encodeTransfers(transaction, transfers))
  if (internal !== undefined) writeCounted(writer, encodeInternal(transaction, internal))
  return writer.finish()
}

function kindOf({ transfers, internal }: RecordDetails): number {
  if (internal !== undefined && transfers === undefined) {
    throw unwritable('the token transfers of a transaction that was traced', 'none')
  }
  if (internal !== undefined) return confirmedKinds.traced
  return transfers === undefined ? confirmedKinds.plain : confirmedKinds.withTransfers
}

function writeCounted(writer: ByteWriter, bytes: Uint8Array): void {
  writer.varint(bytes.length)
  writer.bytes(bytes)
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

/** Stored transactions as their records, newest first: what a history is written from without making values of it. */
export interface RecordChunk {
  /** Place of each record in the chain, as `toTransactionId` writes it. Never empty. */
  readonly ids: readonly number[]
  /** One record after the other, in the order of `ids`; `ConfirmedParts` finds its way in them. */
  readonly bytes: Uint8Array
}

/** The records of a chunk as values. @throws {StoreError} as `decodeConfirmed`. */
export function decodeRecords({ ids, bytes }: RecordChunk): readonly ConfirmedTransaction[] {
  const reader = new ByteReader(bytes)
  const transactions = ids.map(id => readConfirmed(reader, toPosition(id)))
  reader.finish()
  return transactions
}

function readConfirmed(reader: ByteReader, position: TransactionPosition): ConfirmedTransaction {
  const { kind, present, shared } = readShared(reader, confirmedFlagsOf)
  const timestampSeconds = reader.varint()
  const gasPrice = reader.integer()
  const gasSpent = reader.integer()
  const feeWei = present & flags.fee ? reader.integer() : gasSpent * gasPrice
  const contractAddress = present & flags.contractAddress ? reader.fixed(addressLength) : undefined
  if (present & flags.transfers) reader.skip(reader.varint())
  if (kind === confirmedKinds.traced) reader.skip(reader.varint())
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

/** Which flags a kind of record may have; `undefined`: the kind is not known. */
type FlagsOf = (kind: number) => number | undefined

const confirmedFlagsOf: FlagsOf = kind => {
  const known = detailsOf(kind)
  return known && (known.transfers ? detailedFlags : confirmedFlags)
}
const pendingFlagsOf: FlagsOf = kind => (kind === pendingVersion1 ? pendingFlags : undefined)

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
  const { present, shared } = readShared(reader, pendingFlagsOf)
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
  if (detailsOf(kind) === undefined && kind !== pendingVersion1) throw unknownKind(kind)
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

function readShared(reader: ByteReader, flagsOf: FlagsOf) {
  const kind = reader.byte()
  const allowedFlags = flagsOf(kind)
  if (allowedFlags === undefined) throw unknownKind(kind)
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
  return { kind, present, shared }
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
