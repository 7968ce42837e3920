import { addressLength, hashLength } from '../../../index/record/encodeBlock.ts'
import { confirmedKinds, flags } from '../../../index/record/record.ts'
import { decline } from './decline.ts'
import { JsonCursor } from './JsonCursor.ts'
import type { Members } from './Members.ts'
import type { RecordBytes } from './RecordBytes.ts'
import { calldataOf, inReceipt, inTransaction } from './readMembers.ts'

/** EIP-2718 types whose fields are laid down by the protocol: legacy, 2930, 1559, 4844, 7702. */
const lastKnownType = 4
const blobType = 3

/** What is known of a transaction before its record is written. */
export interface TransactionFacts {
  readonly type: number
  readonly timestampSeconds: number
  /** 0 where the receipt does not say it. */
  readonly gasUsed: number
  readonly hasFailed: boolean
  /** Place in the receipt of the address of the contract that it created; absent when it created none. */
  readonly created: number | undefined
  /** As they stand in the record. */
  readonly transfers: RecordBytes
}

/**
 * Writes the record of one transaction as `encodeConfirmed` writes what `normalizeBlock` makes of it. What each odd shape
 * becomes is said there; those that follow from more than one place are declined.
 * @param transaction - the one that is selected.
 */
export function writeRecord(
  records: RecordBytes,
  transaction: Members,
  receipt: Members,
  { type, timestampSeconds, hasFailed, created, transfers }: TransactionFacts
): void {
  const { bytes } = transaction
  const hasReceiver = transaction.has(inTransaction.to)
  const hasAccessList = type >= 1 && (type <= lastKnownType || transaction.has(inTransaction.accessList))
  const hasFeeCap = type >= 2 && (type <= lastKnownType || transaction.has(inTransaction.maxFeePerGas))
  const hasTipCap =
    type >= 2 && (type <= lastKnownType || transaction.has(inTransaction.maxPriorityFeePerGas))
  const extraFees = readExtraFees(receipt, type)

  records.byte(confirmedKinds.withTransfers)
  records.fixed(bytes, transaction.fixed(inTransaction.hash, hashLength), hashLength)
  records.varint(
    (hasReceiver ? flags.to : 0) |
      (hasAccessList ? flags.accessList : 0) |
      (hasFeeCap ? flags.maxFeePerGas : 0) |
      (hasTipCap ? flags.maxPriorityFeePerGas : 0) |
      (hasFailed ? flags.failed : 0) |
      (extraFees === 0n ? 0 : flags.fee) |
      (created === undefined ? 0 : flags.contractAddress) |
      (transfers.length === 0 ? 0 : flags.transfers)
  )
  records.fixed(bytes, transaction.fixed(inTransaction.from, addressLength), addressLength)
  if (hasReceiver) {
    records.fixed(bytes, transaction.fixed(inTransaction.to, addressLength), addressLength)
  }
  records.varint(type)
  writeQuantity(records, transaction, inTransaction.value)
  writeQuantity(records, transaction, inTransaction.gas)
  if (transaction.has(inTransaction.nonce)) writeQuantity(records, transaction, inTransaction.nonce)
  else writeQuantity(records, receipt, inReceipt.depositNonce)
  if (hasFeeCap) writeCap(records, transaction, inTransaction.maxFeePerGas, receipt)
  if (hasTipCap) writeCap(records, transaction, inTransaction.maxPriorityFeePerGas, receipt)
  if (hasAccessList) writeAccessList(records, transaction)
  writeCalldata(records, transaction)

  // Where a receipt leaves it out, the price follows from others.
  if (!receipt.has(inReceipt.effectiveGasPrice)) decline()
  records.varint(timestampSeconds)
  writeQuantity(records, receipt, inReceipt.effectiveGasPrice)
  writeQuantity(records, receipt, inReceipt.gasUsed)
  if (extraFees !== 0n) {
    const gasFee = bigintOf(receipt, inReceipt.gasUsed) * receipt.bigint(inReceipt.effectiveGasPrice)
    records.value(gasFee + extraFees)
  }
  if (created !== undefined) records.fixed(receipt.bytes, created, addressLength)
  if (transfers.length > 0) records.counted(transfers)
}

/** 0 where it is not said. */
export function typeOf(transaction: Members): number {
  return transaction.has(inTransaction.type) ? transaction.number(inTransaction.type) : 0
}

/** 0 where the member is missing. */
function writeQuantity(records: RecordBytes, members: Members, member: number): void {
  if (members.has(member)) {
    records.integer(members.bytes, members.quantity(member), members.end(member) - 1)
  } else records.byte(0)
}

/** Where a protocol type leaves a cap out, it is the one price that the transaction pays. */
function writeCap(records: RecordBytes, transaction: Members, member: number, receipt: Members): void {
  if (transaction.has(member)) writeQuantity(records, transaction, member)
  else if (transaction.has(inTransaction.gasPrice))
    writeQuantity(records, transaction, inTransaction.gasPrice)
  else writeQuantity(records, receipt, inReceipt.effectiveGasPrice)
}

function writeCalldata(records: RecordBytes, transaction: Members): void {
  const { first, length } = calldataOf(transaction)
  records.plainFixed(transaction.bytes, first, length)
  records.pack()
}

/** Entry after entry: address, count of keys, keys, as `encodeConfirmed` writes them. */
function writeAccessList(records: RecordBytes, transaction: Members): void {
  if (transaction.has(inTransaction.accessList)) {
    const cursor = new JsonCursor(transaction.bytes, transaction.start(inTransaction.accessList))
    cursor.readList(() => {
      cursor.expectText('{"address":"0x')
      records.plainFixed(cursor.bytes, cursor.at, addressLength)
      cursor.at += 2 * addressLength
      cursor.expectText('","storageKeys":')
      const keys: number[] = []
      cursor.readList(() => {
        cursor.expectText('"0x')
        keys.push(cursor.at)
        cursor.at += 2 * hashLength
        cursor.expectText('"')
      })
      cursor.expectText('}')
      records.plainVarint(keys.length)
      for (const place of keys) records.plainFixed(cursor.bytes, place, hashLength)
    })
  }
  records.pack()
}

/** What is paid besides gas: a rollup's share of its parent chain, and blobs of the types that carry them. */
function readExtraFees(receipt: Members, type: number): bigint {
  const l1Fee = bigintOf(receipt, inReceipt.l1Fee)
  if (type <= lastKnownType && type !== blobType) return l1Fee
  return bigintOf(receipt, inReceipt.blobGasUsed) * bigintOf(receipt, inReceipt.blobGasPrice) + l1Fee
}

/** 0 where the member is missing. */
function bigintOf(members: Members, member: number): bigint {
  return members.has(member) ? members.bigint(member) : 0n
}

/**
 * The contract that a transaction created, which succeeded.
 * @returns the place of its address in the receipt; absent when it created none.
 */
export function createdBy(transaction: Members, receipt: Members, type: number): number | undefined {
  if (transaction.has(inTransaction.to)) return undefined
  if (receipt.has(inReceipt.contractAddress)) return receipt.fixed(inReceipt.contractAddress, addressLength)
  // Else it follows from sender and nonce where a protocol type has code to run; that is left to others.
  if (type <= lastKnownType) decline()
  return undefined
}
