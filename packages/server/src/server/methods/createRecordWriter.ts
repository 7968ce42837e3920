import { ConfirmedParts } from '../../index/record/ConfirmedParts.ts'
import { addressBytes } from '../../index/record/hexBytes.ts'
import type { RecordChunk } from '../../index/record/record.ts'
import { readAccessListAt } from '../../index/record/record.ts'
import { damaged } from '../../index/record/recordBytes.ts'
import { toPosition } from '../../index/record/transactionId.ts'
import type { AccessListEntry, Address } from '../../model/evm.ts'
import { AsciiWriter } from './AsciiWriter.ts'
import type { FormatAddress } from './addressFormat.ts'
import { createAddressWriter } from './createAddressWriter.ts'
import { createInternalWriter, createTransfersWriter } from './writeAttached.ts'

/** What is attached to each record, and to whom it has to belong. */
export interface Attached {
  readonly address: Address
  readonly transfers: boolean
  readonly internal: boolean
}

/**
 * Writes stored records as the JSON text of as many transaction records, with commas between them.
 * @param attached - absent: nothing.
 */
export type WriteRecords = (chunk: RecordChunk, attached?: Attached) => string

/** More than everything of a record that has a bounded length. */
const boundedCharacters = 2_048
const hashBytes = 32

/**
 * The short way from the store to the wire, for histories: the bytes of a record are written out as text, field by field,
 * and no value is made of them. It gives the same text as `exactJson` does of what `toTransactionRecord` shapes; a
 * property test compares the two. What is attached stands at the end of a record, and is left out where nothing is known.
 *
 * @remarks A record costs a small part of what the way over values does; bench/http measures it.
 */
export function createRecordWriter(formatAddress: FormatAddress): WriteRecords {
  const writer = new AsciiWriter(createAddressWriter())
  const parts = new ConfirmedParts()
  const writeTransfers = createTransfersWriter(writer)
  const writeInternal = createInternalWriter(writer)

  return ({ ids, bytes }, attached) => {
    const account = attached === undefined ? undefined : addressBytes(attached.address)
    writer.begin()
    let at = 0
    for (const id of ids) {
      if (at > 0) writer.text(comma)
      at = parts.locate(bytes, at)
      writeRecord(writer, bytes, parts, toPosition(id).blockNumber, formatAddress)
      if (account !== undefined) {
        if (attached?.transfers && parts.knowsTransfers) writeTransfers(bytes, parts, account)
        if (attached?.internal && parts.knowsInternal) writeInternal(bytes, parts, account)
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
const emptyList = ascii('[]')
const end = ascii('}')
const keys = {
  hash: ascii('{"hash":"0x'),
  from: ascii('","from":"0x'),
  to: ascii('","to":"0x'),
  value: ascii('","value":"0x'),
  data: ascii('","data":"0x'),
  gasLimit: ascii('","gasLimit":'),
  type: ascii(',"type":'),
  nonce: ascii(',"nonce":'),
  accessList: ascii(',"accessList":'),
  maxPriorityFeePerGas: ascii(',"maxPriorityFeePerGas":"0x'),
  maxFeePerGas: ascii(',"maxFeePerGas":"0x'),
  timestamp: ascii(',"timestamp":'),
  succeeded: ascii(',"status":3,"gasSpent":"0x'),
  failed: ascii(',"status":4,"gasSpent":"0x'),
  gasPrice: ascii('","gasPrice":"0x'),
  fees: ascii('","fees":"0x'),
  blockNumber: ascii('","blockNumber":'),
  contractAddress: ascii(',"contractAddress":"0x')
}

/** All of it but the brace at its end. */
function writeRecord(
  writer: AsciiWriter,
  bytes: Uint8Array,
  parts: ConfirmedParts,
  blockNumber: number,
  formatAddress: FormatAddress
): void {
  writer.reserve(boundedCharacters + 2 * parts.dataLength)
  writer.text(keys.hash)
  writer.hex(bytes, parts.hash, hashBytes)
  writer.text(keys.from)
  writer.address(bytes, parts.from)
  if (parts.to >= 0) {
    writer.text(keys.to)
    writer.address(bytes, parts.to)
  }
  writer.text(keys.value)
  writer.quantity(bytes, parts.value)
  writer.text(keys.data)
  writer.packedHex(bytes, parts.data, parts.dataLength)
  writer.text(keys.gasLimit)
  writer.integer(bytes, parts.gasLimit)
  writer.text(keys.type)
  writer.number(parts.type)
  writer.text(keys.nonce)
  writer.integer(bytes, parts.nonce)
  if (parts.accessList >= 0) {
    writer.text(keys.accessList)
    if (parts.accessListLength === 0) writer.text(emptyList)
    else writer.string(accessListText(readAccessListAt(bytes, parts.accessList), formatAddress))
    writer.reserve(boundedCharacters)
  }
  if (parts.maxPriorityFeePerGas >= 0) {
    writer.text(keys.maxPriorityFeePerGas)
    writer.quantity(bytes, parts.maxPriorityFeePerGas)
    writer.text(quote)
  }
  if (parts.maxFeePerGas >= 0) {
    writer.text(keys.maxFeePerGas)
    writer.quantity(bytes, parts.maxFeePerGas)
    writer.text(quote)
  }
  writer.text(keys.timestamp)
  writer.number(parts.timestampSeconds)
  writer.text(parts.hasFailed ? keys.failed : keys.succeeded)
  writer.quantity(bytes, parts.gasSpent)
  writer.text(keys.gasPrice)
  writer.quantity(bytes, parts.gasPrice)
  writer.text(keys.fees)
  if (parts.fee >= 0) writer.quantity(bytes, parts.fee)
  else writer.product(bytes, parts.gasPrice, parts.gasSpent)
  writer.text(keys.blockNumber)
  writer.number(blockNumber)
  if (parts.contractAddress < 0) return
  writer.text(keys.contractAddress)
  writer.address(bytes, parts.contractAddress)
  writer.text(quote)
}

/** Most lists are empty. The others are made of values first: they are too few to be worth a way of their own. */
function accessListText(list: readonly AccessListEntry[], formatAddress: FormatAddress): string {
  return JSON.stringify(
    list.map(({ address, storageKeys }) => ({ address: formatAddress(address), storageKeys }))
  )
}
