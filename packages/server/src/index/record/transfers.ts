import type { ConfirmedTransaction, InternalTransfer, TokenStandard, TokenTransfer } from '../../model/evm.ts'
import { AddressNumbers, NumberedAddresses } from './addressNumbers.ts'
import type { RecordParts } from './RecordParts.ts'
import { ByteReader, type ByteWriter, damaged, unwritable } from './recordBytes.ts'

/** What is known of what happened in a transaction, besides what it says itself. */
export interface RecordDetails {
  /** In log order; absent: not known. */
  readonly transfers?: readonly TokenTransfer[]
  /** In the order of execution; absent: not known. */
  readonly internal?: readonly InternalTransfer[]
}

/** A transaction, as far as its transfers are written with it in mind. */
type Transferring = Pick<ConfirmedTransaction, 'from' | 'to' | 'contractAddress' | 'data'>

/** The shape of a transfer: which numbers it has. They follow its parties in this order. */
interface Shape {
  readonly standard: TokenStandard
  readonly isWrapping?: true
  readonly tokenId?: true
  readonly lastTokenId?: true
  readonly amount?: true
}

/**
 * What a transfer begins with: the number of its shape. Of all but `said` follow contract, sender and receiver as numbers of
 * addresses, unless `sameParties` is added, then token id, last token id and amount as integers, those that the shape has.
 */
const shapes: readonly (Shape | undefined)[] = [
  undefined,
  { standard: 'erc20', amount: true },
  { standard: 'erc721', tokenId: true },
  { standard: 'erc721', tokenId: true, lastTokenId: true },
  { standard: 'erc1155', tokenId: true, amount: true },
  { standard: 'erc20', isWrapping: true, amount: true }
]
/** All of it is what the calldata say, a plain call of `transfer(address,uint256)`. */
const said = 0
const plainErc20 = 1
/** The three are those of the transfer before. */
const sameParties = 8

/** Kinds of internal transfers, by the number that is stored. Of each follow payer and receiver as numbers, then the value. */
const internalKinds = ['call', 'create', 'selfdestruct'] as const

/** What such a call begins with: selector and the zeros before its receiver, then two words. */
const saidCall = 'a9059cbb000000000000000000000000'
const saidCallBytes = Buffer.from(saidCall, 'hex')
const saidLength = 68
/** Where the amount stands in it, one word. */
const saidAmount = 36
const addressLength = 20
const word = 32

/** @throws {StoreError} a value has no room in the format. */
export function writeTransfers(
  writer: ByteWriter,
  transaction: Transferring,
  transfers: readonly TokenTransfer[]
): void {
  let numbers: AddressNumbers | undefined
  const told = saidTransfer(transaction)
  let before: TokenTransfer | undefined
  for (const transfer of transfers) {
    const shape = shapeOf(transfer)
    if (shape === plainErc20 && told !== undefined && isSaid(transfer, told)) {
      writer.byte(said)
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

function saidTransfer({ from, to, data }: Transferring): (Parties & { readonly amount: bigint }) | undefined {
  if (to === undefined || data.length !== 2 + 2 * saidLength || !data.startsWith(saidCall, 2))
    return undefined
  const amountStart = 2 + 2 * saidAmount
  return {
    contract: to,
    from,
    to: `0x${data.slice(2 + saidCall.length, amountStart)}`,
    amount: BigInt(`0x${data.slice(amountStart)}`)
  }
}

function isSaid(transfer: TokenTransfer, told: Parties & { readonly amount: bigint }): boolean {
  return haveSameParties(transfer, told) && transfer.amount === told.amount
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
 * Goes over the token transfers of a record, one after the other, without making values of them: `begin`, then `next` until it
 * returns false. One object serves any number of records.
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
  /** What the calldata say, as an integer. */
  readonly #saidAmount = new Uint8Array(1 + word)

  /** @param parts - has located the record last. */
  begin(bytes: Uint8Array, parts: RecordParts): void {
    this.#record = bytes
    this.#reader.begin(bytes, parts.transfers, parts.transfers + parts.transfersLength)
    this.#isFirst = true
    if (parts.transfersLength > 0) this.#addresses.begin(bytes, parts)
  }

  get addresses(): Uint8Array {
    return this.#addresses.bytes
  }

  /** Goes to the next transfer. @returns false: there is none. @throws {StoreError} the bytes are damaged. */
  next(): boolean {
    const reader = this.#reader
    if (reader.atEnd) return false
    const head = reader.byte()
    if (head === said) this.#takeSaid()
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

  #takeSaid(): void {
    const { callHead, dataLength, firstCalled, receiver } = this.#addresses
    const isCall = receiver >= 0 && dataLength === saidLength
    if (!isCall || !saidCallBytes.every((byte, i) => byte === callHead[i])) {
      throw damaged('its calldata say no transfer')
    }
    this.standard = 'erc20'
    this.isWrapping = false
    this.contract = receiver
    this.from = addressLength
    this.to = firstCalled
    this.tokenId = -1
    this.lastTokenId = -1
    let zeros = 0
    while (zeros < word && callHead[saidAmount + zeros] === 0) zeros++
    this.#saidAmount[0] = word - zeros
    this.#saidAmount.set(callHead.subarray(saidAmount + zeros, saidAmount + word), 1)
    this.numbers = this.#saidAmount
    this.amount = 0
  }
}

/** Goes over the internal transfers of a record as `TransferWalk` goes over its token transfers. */
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

  /** @param parts - has located the record last. */
  begin(bytes: Uint8Array, parts: RecordParts): void {
    this.#record = bytes
    this.#reader.begin(bytes, parts.internal, parts.internal + parts.internalLength)
    if (parts.internalLength > 0) this.#addresses.begin(bytes, parts)
  }

  get addresses(): Uint8Array {
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
