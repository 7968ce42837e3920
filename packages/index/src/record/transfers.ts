import type { InternalTransfer, TokenStandard, TokenTransfer, UserOperation } from '../model/evm.ts'
import { AddressNumbers, NumberedAddresses, type Transferring } from './addressNumbers.ts'
import { addressLength, type RecordParts } from './RecordParts.ts'
import { ByteReader, type ByteWriter, damaged, unwritable } from './recordBytes.ts'

/** Details of a transaction, besides its fields. */
export interface RecordDetails {
  /** In log order. */
  readonly transfers: readonly TokenTransfer[]
  /** In the order of execution; absent: the block was not traced. */
  readonly internal?: readonly InternalTransfer[]
  /** In log order. */
  readonly operations: readonly UserOperation[]
}

/** The shape of a transfer: the numbers it has. They follow its parties in this order. */
interface Shape {
  readonly standard: TokenStandard
  readonly isWrapping?: true
  readonly tokenId?: true
  readonly lastTokenId?: true
  readonly amount?: true
}

/**
 * A transfer begins with the number of its shape. Unless it is `fromCall`, contract, sender and receiver follow as address
 * numbers (left out with `sameParties`), then the token id, last token id and amount that the shape has, as integers.
 */
const shapes: readonly (Shape | undefined)[] = [
  undefined,
  { standard: 'erc20', amount: true },
  { standard: 'erc721', tokenId: true },
  { standard: 'erc721', tokenId: true, lastTokenId: true },
  { standard: 'erc1155', tokenId: true, amount: true },
  { standard: 'erc20', isWrapping: true, amount: true }
]
/** The whole transfer follows from the calldata: a plain call of `transfer(address,uint256)`. */
const fromCall = 0
const plainErc20 = 1
/** Contract, sender and receiver are those of the previous transfer. */
const sameParties = 8

/** Kinds of internal transfers, by their stored number. Payer and receiver follow as address numbers, then the value. */
const internalKinds = ['call', 'create', 'selfdestruct'] as const

/** Such a call begins with the selector and the zeros before its receiver, then two words. */
const callStart = 'a9059cbb000000000000000000000000'
const callStartBytes = Buffer.from(callStart, 'hex')
const callLength = 68
/** Offset of the amount in it, one word. */
const callAmountOffset = 36
const word = 32

/** @throws {StoreError} a value has no room in the format. */
export function writeTransfers(
  writer: ByteWriter,
  transaction: Transferring,
  transfers: readonly TokenTransfer[]
): void {
  let numbers: AddressNumbers | undefined
  const called = transferOfCall(transaction)
  let before: TokenTransfer | undefined
  for (const transfer of transfers) {
    const shape = shapeOf(transfer)
    if (shape === plainErc20 && called !== undefined && isSame(transfer, called)) {
      writer.byte(fromCall)
    } else {
      const hasSameParties = before !== undefined && haveSameParties(transfer, before)
      writer.byte(shape | (hasSameParties ? sameParties : 0))
      if (!hasSameParties) {
        numbers ??= new AddressNumbers(transaction)
        numbers.write(writer, transfer.contract)
        numbers.write(writer, transfer.from)
        numbers.write(writer, transfer.to)
      }
      if (transfer.tokenId !== undefined) writer.integer(transfer.tokenId)
      if (transfer.lastTokenId !== undefined) writer.integer(transfer.lastTokenId)
      if (transfer.amount !== undefined) writer.integer(transfer.amount)
    }
    before = transfer
  }
}

/** @throws {StoreError} a value has no room in the format. */
export function writeInternal(
  writer: ByteWriter,
  transaction: Transferring,
  internal: readonly InternalTransfer[]
): void {
  const numbers = new AddressNumbers(transaction)
  for (const { kind, from, to, value } of internal) {
    writer.byte(internalKinds.indexOf(kind))
    numbers.write(writer, from)
    numbers.write(writer, to)
    writer.integer(value)
  }
}

type Parties = Pick<TokenTransfer, 'contract' | 'from' | 'to'>

function transferOfCall({
  from,
  to,
  data
}: Transferring): (Parties & { readonly amount: bigint }) | undefined {
  if (to === undefined || data.length !== 2 + 2 * callLength || !data.startsWith(callStart, 2))
    return undefined
  const amountStart = 2 + 2 * callAmountOffset
  return {
    contract: to,
    from,
    to: `0x${data.slice(2 + callStart.length, amountStart)}`,
    amount: BigInt(`0x${data.slice(amountStart)}`)
  }
}

function isSame(transfer: TokenTransfer, called: Parties & { readonly amount: bigint }): boolean {
  return haveSameParties(transfer, called) && transfer.amount === called.amount
}

function haveSameParties(one: Parties, other: Parties): boolean {
  return one.contract === other.contract && one.from === other.from && one.to === other.to
}

function shapeOf({ standard, amount, tokenId, lastTokenId, isWrapping }: TokenTransfer): number {
  const number = shapes.findIndex(
    shape =>
      shape !== undefined &&
      shape.standard === standard &&
      (shape.amount ?? false) === (amount !== undefined) &&
      (shape.tokenId ?? false) === (tokenId !== undefined) &&
      (shape.lastTokenId ?? false) === (lastTokenId !== undefined) &&
      shape.isWrapping === isWrapping
  )
  if (number >= 0) return number
  throw unwritable(`a transfer of standard ${standard}`, `amount ${amount}, ids ${tokenId} to ${lastTokenId}`)
}

/**
 * Iterates over the token transfers of a record without decoding values: `begin`, then `next` until it returns false. The object
 * can be reused for any number of records.
 */
export class TransferWalk {
  standard: TokenStandard = 'erc20'
  isWrapping = false
  /** Offsets in `addresses`, 20 bytes each. */
  contract = 0
  from = 0
  to = 0
  /** Offsets of integers in `numbers`; -1: the transfer has none. */
  amount = -1
  tokenId = -1
  lastTokenId = -1
  numbers: Uint8Array = new Uint8Array()
  readonly #addresses = new NumberedAddresses()
  readonly #reader = new ByteReader()
  #record: Uint8Array = new Uint8Array()
  #isFirst = true
  /** The amount in the calldata, as an integer. */
  readonly #callAmount = new Uint8Array(1 + word)

  /** @param parts - its last `locate` was this record. */
  begin(bytes: Uint8Array, parts: RecordParts): void {
    this.#record = bytes
    this.#reader.begin(bytes, parts.transfers, parts.transfers + parts.transfersLength)
    this.#isFirst = true
    if (parts.transfersLength > 0) this.#addresses.begin(bytes, parts)
  }

  get addresses(): Buffer {
    return this.#addresses.bytes
  }

  /** Goes to the next transfer. @returns false: there is none. @throws {StoreError} the bytes are damaged. */
  next(): boolean {
    const reader = this.#reader
    if (reader.atEnd) return false
    const head = reader.byte()
    if (head === fromCall) this.#takeFromCall()
    else this.#take(head)
    this.#isFirst = false
    return true
  }

  #take(head: number): void {
    const reader = this.#reader
    const shape = shapes[head & ~sameParties]
    if (shape === undefined) throw damaged('it has an unknown kind of transfer')
    if ((head & sameParties) === 0) {
      this.contract = this.#addresses.read(reader, this.#record)
      this.from = this.#addresses.read(reader, this.#record)
      this.to = this.#addresses.read(reader, this.#record)
    } else if (this.#isFirst) throw damaged('its first transfer has the parties of one before')
    this.standard = shape.standard
    this.isWrapping = shape.isWrapping ?? false
    this.numbers = this.#record
    this.tokenId = shape.tokenId ? reader.integer() : -1
    this.lastTokenId = shape.lastTokenId ? reader.integer() : -1
    this.amount = shape.amount ? reader.integer() : -1
  }

  #takeFromCall(): void {
    const { callHead, dataLength, firstCalled, receiver } = this.#addresses
    const isCall = receiver >= 0 && dataLength === callLength
    if (!isCall || !callStartBytes.every((byte, i) => byte === callHead[i])) {
      throw damaged('its calldata are no transfer')
    }
    this.standard = 'erc20'
    this.isWrapping = false
    this.contract = receiver
    this.from = addressLength
    this.to = firstCalled
    this.tokenId = -1
    this.lastTokenId = -1
    let zeros = 0
    while (zeros < word && callHead[callAmountOffset + zeros] === 0) zeros++
    this.#callAmount[0] = word - zeros
    this.#callAmount.set(callHead.subarray(callAmountOffset + zeros, callAmountOffset + word), 1)
    this.numbers = this.#callAmount
    this.amount = 0
  }
}

/** Iterates over the internal transfers of a record as `TransferWalk` does over its token transfers. */
export class InternalWalk {
  kind: InternalTransfer['kind'] = 'call'
  /** Offsets in `addresses`, 20 bytes each. */
  from = 0
  to = 0
  /** Offset in the record of an integer. */
  value = -1
  readonly #addresses = new NumberedAddresses()
  readonly #reader = new ByteReader()
  #record: Uint8Array = new Uint8Array()

  /** @param parts - its last `locate` was this record. */
  begin(bytes: Uint8Array, parts: RecordParts): void {
    this.#record = bytes
    this.#reader.begin(bytes, parts.internal, parts.internal + parts.internalLength)
    if (parts.internalLength > 0) this.#addresses.begin(bytes, parts)
  }

  get addresses(): Buffer {
    return this.#addresses.bytes
  }

  /** Goes to the next transfer. @returns false: there is none. @throws {StoreError} the bytes are damaged. */
  next(): boolean {
    const reader = this.#reader
    if (reader.atEnd) return false
    const kind = internalKinds[reader.byte()]
    if (kind === undefined) throw damaged('it has an unknown kind of internal transfer')
    this.kind = kind
    this.from = this.#addresses.read(reader, this.#record)
    this.to = this.#addresses.read(reader, this.#record)
    this.value = reader.integer()
    return true
  }
}
