import {
  hashLength,
  InternalWalk,
  OperationWalk,
  type RecordParts,
  TransferWalk
} from '@chain-data/index/record'
import type { AsciiWriter } from './AsciiWriter.ts'

/** Writes the details of one kind that concern `account` (20 bytes), as one member of its record. */
export type WriteAttached = (bytes: Uint8Array, parts: RecordParts, account: Uint8Array) => void

const addressLength = 20
/** Room for one entry: three addresses, three integers of 64 bytes in decimal, and names. */
const entryCharacters = 1_024

const ascii = (text: string) => Uint8Array.from(Buffer.from(text, 'latin1'))
const keys = {
  transfers: ascii(',"transfers":['),
  internal: ascii(',"internal":['),
  operations: ascii(',"operations":['),
  comma: ascii(','),
  standard: {
    erc20: ascii('{"standard":"ERC-20","address":"0x'),
    erc721: ascii('{"standard":"ERC-721","address":"0x'),
    erc1155: ascii('{"standard":"ERC-1155","address":"0x')
  },
  kind: {
    call: ascii('{"kind":"call","from":"0x'),
    create: ascii('{"kind":"create","from":"0x'),
    selfdestruct: ascii('{"kind":"selfdestruct","from":"0x')
  },
  from: ascii('","from":"0x'),
  to: ascii('","to":"0x'),
  amount: ascii('","amount":"'),
  tokenId: ascii('","tokenId":"'),
  lastTokenId: ascii('","lastTokenId":"'),
  value: ascii('","value":"0x'),
  entryPoint: ascii('{"entryPoint":"0x'),
  userOpHash: ascii('","userOpHash":"0x'),
  sender: ascii('","sender":"0x'),
  paymaster: ascii('","paymaster":"0x'),
  nonce: ascii('","nonce":"0x'),
  succeeded: ascii('","success":true,"actualGasCost":"0x'),
  failed: ascii('","success":false,"actualGasCost":"0x'),
  end: ascii('"}'),
  listEnd: ascii(']')
}

/** Creates the writer of token transfers. Wrapping native currency is not shown as one: no transfer was logged. */
export function createTransfersWriter(writer: AsciiWriter): WriteAttached {
  const walk = new TransferWalk()
  return (bytes, parts, account) => {
    writer.reserve(entryCharacters)
    writer.text(keys.transfers)
    let isFirst = true
    walk.begin(bytes, parts)
    while (walk.next()) {
      if (walk.isWrapping || !touches(account, walk)) continue
      beginEntry(writer, isFirst)
      isFirst = false
      writer.text(keys.standard[walk.standard])
      writer.address(walk.addresses, walk.contract)
      writer.text(keys.from)
      writer.address(walk.addresses, walk.from)
      writer.text(keys.to)
      writer.address(walk.addresses, walk.to)
      writeInteger(writer, keys.amount, walk.numbers, walk.amount)
      writeInteger(writer, keys.tokenId, walk.numbers, walk.tokenId)
      writeInteger(writer, keys.lastTokenId, walk.numbers, walk.lastTokenId)
      writer.text(keys.end)
    }
    writer.text(keys.listEnd)
  }
}

/** Creates the writer of internal native transfers. */
export function createInternalWriter(writer: AsciiWriter): WriteAttached {
  const walk = new InternalWalk()
  return (bytes, parts, account) => {
    writer.reserve(entryCharacters)
    writer.text(keys.internal)
    let isFirst = true
    walk.begin(bytes, parts)
    while (walk.next()) {
      if (!touches(account, walk)) continue
      beginEntry(writer, isFirst)
      isFirst = false
      writer.text(keys.kind[walk.kind])
      writer.address(walk.addresses, walk.from)
      writer.text(keys.to)
      writer.address(walk.addresses, walk.to)
      writer.text(keys.value)
      writer.quantity(bytes, walk.value)
      writer.text(keys.end)
    }
    writer.text(keys.listEnd)
  }
}

/** Creates the writer of operations: those that the account has sent, or paid for as paymaster. */
export function createOperationsWriter(writer: AsciiWriter): WriteAttached {
  const walk = new OperationWalk()
  return (bytes, parts, account) => {
    writer.reserve(entryCharacters)
    writer.text(keys.operations)
    let isFirst = true
    walk.begin(bytes, parts)
    while (walk.next()) {
      const { addresses, sender, paymaster } = walk
      if (!touches(account, { addresses, from: sender, to: paymaster > 0 ? paymaster : sender })) continue
      beginEntry(writer, isFirst)
      isFirst = false
      writer.text(keys.entryPoint)
      writer.address(addresses, walk.entryPoint)
      writer.text(keys.userOpHash)
      writer.hex(bytes, walk.userOpHash, hashLength)
      writer.text(keys.sender)
      writer.address(addresses, sender)
      if (paymaster > 0) {
        writer.text(keys.paymaster)
        writer.address(addresses, paymaster)
      }
      writer.text(keys.nonce)
      writer.quantity(bytes, walk.nonce)
      writer.text(walk.success ? keys.succeeded : keys.failed)
      writer.quantity(bytes, walk.actualGasCost)
      writer.text(keys.end)
    }
    writer.text(keys.listEnd)
  }
}

interface Parties {
  readonly addresses: Uint8Array
  readonly from: number
  readonly to: number
}

function touches(account: Uint8Array, { addresses, from, to }: Parties): boolean {
  return isAt(account, addresses, from) || isAt(account, addresses, to)
}

function isAt(account: Uint8Array, addresses: Uint8Array, offset: number): boolean {
  let i = 0
  while (i < addressLength && account[i] === addresses[offset + i]) i++
  return i === addressLength
}

function beginEntry(writer: AsciiWriter, isFirst: boolean): void {
  // Of the entry, and of what follows the list.
  writer.reserve(2 * entryCharacters)
  if (!isFirst) writer.text(keys.comma)
}

function writeInteger(writer: AsciiWriter, key: Uint8Array, numbers: Uint8Array, offset: number): void {
  if (offset < 0) return
  writer.text(key)
  writer.integer(numbers, offset)
}
