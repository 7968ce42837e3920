import {
  type AccessListEntry,
  type Address,
  type ConfirmedTransaction,
  type Field,
  type PendingTransaction,
  transactionFields,
  wireFields
} from '@chain-data/index'
import {
  addressBytes,
  damaged,
  fieldIndex,
  hashLength,
  type RecordChunk,
  RecordParts,
  readAccessList,
  readHashes,
  toPosition,
  varintAt
} from '@chain-data/index/record'
import type { HistoryPage, TransactionRecord } from '@chain-data/protocol'
import { createAddressWriter, type FormatAddress } from '../../platform/addressFormat.ts'
import { AsciiWriter } from './AsciiWriter.ts'
import { createInternalWriter, createOperationsWriter, createTransfersWriter } from './writeAttached.ts'

/** Details that are attached to each record, as far as they are of one account. */
export interface Attached {
  readonly address: Address
  readonly transfers: boolean
  readonly internal: boolean
  readonly operations: boolean
}

/** @returns what a caller asks to be attached; absent: nothing. */
export function attachedTo(
  address: Address,
  { include = [] }: Pick<HistoryPage, 'include'>
): Attached | undefined {
  if (include.length === 0) return undefined
  return {
    address,
    transfers: include.includes('transfers'),
    internal: include.includes('internal'),
    operations: include.includes('operations')
  }
}

/**
 * Writes stored records as the JSON text of as many transaction records, with commas between them, in ASCII.
 * @param attached - absent: nothing.
 * @returns bytes that the next call overwrites.
 */
export type WriteRecords = (chunk: RecordChunk, attached?: Attached) => Buffer

/** Room for all fields of a record that have a bounded length. */
const boundedCharacters = 2_048

/**
 * Writes histories from the store to the wire: the bytes of a record are written out as text, field by field, and no value
 * is made of them. The text is that of `exactJson` of what `toTransactionRecord` shapes; a property test compares the two.
 * Attached details come last in a record; internal transfers are left out where the block was not traced, transfers and
 * operations where the receipt is unknown.
 *
 * @remarks A record costs a small part of what the way over values does; bench/http measures it.
 */
export function createRecordWriter(formatAddress: FormatAddress): WriteRecords {
  const writer = new AsciiWriter(createAddressWriter())
  const parts = new RecordParts()
  const writeTransfers = createTransfersWriter(writer)
  const writeInternal = createInternalWriter(writer)
  const writeOperations = createOperationsWriter(writer)

  return ({ ids, bytes }, attached) => {
    const account = attached === undefined ? undefined : addressBytes(attached.address)
    writer.begin()
    let at = 0
    for (const id of ids) {
      if (at > 0) writer.text(comma)
      at = parts.locate(bytes, at)
      if (parts.layout.isPending) throw damaged('it is an entry of the pool')
      writeFields(writer, bytes, parts, toPosition(id).blockNumber, formatAddress)
      if (account !== undefined) {
        const hasReceipt = parts.layout.lacks.length === 0
        if (attached?.transfers && hasReceipt) writeTransfers(bytes, parts, account)
        if (attached?.internal && parts.layout.isTraced) writeInternal(bytes, parts, account)
        if (attached?.operations && hasReceipt) writeOperations(bytes, parts, account)
      }
      writer.text(end)
    }
    if (at !== bytes.length) throw damaged('it has bytes left over')
    return writer.finish()
  }
}

const ascii = (text: string) => Uint8Array.from(Buffer.from(text, 'latin1'))
const comma = ascii(',')
const quote = ascii('"')
const end = ascii('}')
const data = fieldIndex('data')
const gasPrice = fieldIndex('gasPrice')
const gasSpent = fieldIndex('gasSpent')

/** The text between two fields: the end of the text before, the field's name, and the beginning of its own text. */
const members = wireFields
  .filter(field => field.in !== 'pending')
  .map((field, position) => {
    const { name, wire = name, json } = field
    const isText = json === 'hex' || json === 'address' || json === 'quantity'
    const key = `"${wire}":${isText ? '"0x' : ''}`
    return {
      field,
      isText,
      index: transactionFields.findIndex(row => row.name === name),
      afterText: ascii(`",${key}`),
      afterOther: ascii(`${position === 0 ? '{' : ','}${key}`)
    }
  })

/** Writes a record without the brace at its end. */
function writeFields(
  writer: AsciiWriter,
  bytes: Uint8Array,
  parts: RecordParts,
  blockNumber: number,
  formatAddress: FormatAddress
): void {
  writer.reserve(boundedCharacters + 2 * varintAt(bytes, parts.at(data)))
  let isAfterText = false
  for (const { field, index, isText, afterText, afterOther } of members) {
    const at = parts.at(index)
    if (at < 0 && ((field.codec !== 'fee' && field.codec !== 'failed') || parts.layout.lacks.includes(index)))
      continue
    writer.text(isAfterText ? afterText : afterOther)
    isAfterText = isText
    switch (field.codec) {
      case 'failed':
        writer.number(parts.has(field) ? 4 : 3)
        break
      case 'position':
        writer.number(blockNumber)
        break
      case 'fee':
        if (at < 0) writer.product(bytes, parts.at(gasPrice), parts.at(gasSpent))
        else writer.quantity(bytes, at)
        break
      case 'accessList': {
        writer.string(JSON.stringify(toJson(field.json, readAccessList(bytes, at), formatAddress)))
        writer.reserve(boundedCharacters)
        break
      }
      case 'hashes':
        writer.string(JSON.stringify(readHashes(bytes, at)))
        writer.reserve(boundedCharacters)
        break
      default:
        writeField(writer, field, bytes, at)
    }
  }
  if (isAfterText) writer.text(quote)
}

function writeField(writer: AsciiWriter, { codec, json }: Field, bytes: Uint8Array, at: number): void {
  switch (codec) {
    case 'hash':
      writer.hex(bytes, at, hashLength)
      break
    case 'address':
      writer.address(bytes, at)
      break
    case 'count':
      writer.number(varintAt(bytes, at))
      break
    case 'integer':
      if (json === 'quantity') writer.quantity(bytes, at)
      else writer.integer(bytes, at)
      break
    case 'data':
      writer.packedHex(bytes, at)
      break
  }
}

/**
 * Shapes a transaction as `svc_getTransactionsByAddress` returns it.
 *
 * @see spec/openrpc.json TransactionRecord: which field is there for which status and type.
 */
export function toTransactionRecord(
  transaction: PendingTransaction | ConfirmedTransaction,
  formatAddress: FormatAddress
): TransactionRecord<number | bigint> {
  const values: Partial<Record<Field['name'], unknown>> =
    'firstSeenSeconds' in transaction
      ? { ...transaction, timestampSeconds: transaction.firstSeenSeconds }
      : transaction
  const record: Record<string, unknown> = {}
  for (const { name, wire = name, json } of wireFields) {
    const value = values[name]
    if (value !== undefined) record[wire] = toJson(json, value, formatAddress)
  }
  return record as unknown as TransactionRecord<number | bigint>
}

function toJson(json: Field['json'], value: unknown, formatAddress: FormatAddress): unknown {
  switch (json) {
    case 'address':
      return formatAddress(value as `0x${string}`)
    case 'quantity':
      // Minimal 0x-hex (EIP-1474).
      return `0x${(value as bigint).toString(16)}`
    case 'integer':
      return integer(value as bigint)
    case 'accessList':
      return (value as readonly AccessListEntry[]).map(({ address, storageKeys }) => ({
        address: formatAddress(address),
        storageKeys
      }))
    case 'hashes':
    case 'hex':
    case 'number':
      return value
  }
}

const largestExact = BigInt(Number.MAX_SAFE_INTEGER)

/** Returns a plain number where it is exact, as it almost always is: numbers are written much faster. */
function integer(value: bigint): number | bigint {
  return value <= largestExact ? Number(value) : value
}
