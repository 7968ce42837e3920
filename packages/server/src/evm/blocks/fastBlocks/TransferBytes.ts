import { addressLength } from '../../../index/record/encodeBlock.ts'
import {
  saidAmount,
  saidCall,
  saidLength,
  saidReceiver,
  sameParties,
  shapes
} from '../../../index/record/encodeDetails.ts'
import { callHeadLength, namedInCall } from '../../../index/record/namedAddresses.ts'
import { AddressNumbers } from './AddressNumbers.ts'
import { decline } from './decline.ts'
import { decodeHex, digitValues } from './decodeHex.ts'
import { MemberNames } from './MemberNames.ts'
import { Members } from './Members.ts'
import { RecordBytes } from './RecordBytes.ts'
import { calldataOf, inReceipt, inTransaction } from './readMembers.ts'

/** Where a word of 32 bytes stands, or an address of 20. */
export interface Place {
  readonly bytes: Uint8Array
  readonly at: number
}

/** Words of what was moved; each is there where the shape has it. */
export interface MovedWords {
  readonly tokenId?: Place
  readonly lastTokenId?: Place
  readonly amount?: Place
}

const word = 32
/** With more, looking for their addresses would cost too much. */
const mostTransfers = 1_024
const nobody = -1
const noMembers = new Members(new MemberNames({}, {}))

/** Writes the transfers of one transaction after the other as `encodeTransfers` does. */
export class TransferBytes {
  readonly out = new RecordBytes()
  #count = 0
  /** Nothing is read of them before the first transfer. */
  #transaction = noMembers
  #receipt = noMembers
  #hasCreated = false
  /** Place of the first digit of the calldata, all of which are a call of `transfer(address,uint256)`; -1: they are not. */
  #transferCall = -1
  readonly #numbers = new AddressNumbers()
  #hasNumbers = false
  /** What the numbers begin with. */
  readonly #from = new Uint8Array(addressLength)
  readonly #to = new Uint8Array(addressLength)
  readonly #created = new Uint8Array(addressLength)
  readonly #call = new Uint8Array(callHeadLength)
  /** Numbers of contract, sender and receiver of the transfer before, unless it was said by the calldata. */
  #contract = nobody
  #sender = nobody
  #receiver = nobody
  #isAfterSaid = false

  /**
   * @param transaction - the one that is selected.
   * @param hasCreated - the receipt names a contract that it created.
   */
  beginTransaction(transaction: Members, receipt: Members, hasCreated: boolean): void {
    this.#transaction = transaction
    this.#receipt = receipt
    this.#hasCreated = hasCreated
    this.#count = 0
    this.#hasNumbers = false
    this.#contract = nobody
    this.#isAfterSaid = false
    this.out.reset()
  }

  /** @param contract - 20 bytes; so are `from` and `to`. */
  add(shape: number, contract: Place, from: Place, to: Place, moved: MovedWords): void {
    if (this.#count === 0) this.#transferCall = transferCallOf(this.#transaction)
    if (++this.#count > mostTransfers) decline()
    const { tokenId, lastTokenId, amount } = moved
    if (shape === shapes.erc20 && amount !== undefined && this.#isSaid(contract, from, to, amount)) {
      this.out.byte(shapes.said)
      this.#isAfterSaid = true
      return
    }
    this.#writeParties(shape, contract, from, to)
    if (tokenId !== undefined) this.out.word(tokenId.bytes, tokenId.at)
    if (lastTokenId !== undefined) this.out.word(lastTokenId.bytes, lastTokenId.at)
    if (amount !== undefined) this.out.word(amount.bytes, amount.at)
  }

  /** Whether the calldata say exactly this transfer. It is the one that most transactions have, so that nothing is decoded. */
  #isSaid(contract: Place, from: Place, to: Place, amount: Place): boolean {
    const call = this.#transferCall
    if (call < 0) return false
    const transaction = this.#transaction
    const { bytes } = transaction
    return (
      isHexOf(bytes, call + 2 * saidReceiver, to, addressLength) &&
      isHexOf(bytes, call + 2 * saidAmount, amount, word) &&
      isHexOf(bytes, transaction.fixed(inTransaction.to, addressLength), contract, addressLength) &&
      isHexOf(bytes, transaction.fixed(inTransaction.from, addressLength), from, addressLength)
    )
  }

  #writeParties(shape: number, contract: Place, from: Place, to: Place): void {
    if (!this.#hasNumbers) this.#beginNumbers()
    const numbers = this.#numbers
    if (this.#isAfterSaid) {
      this.#contract = numbers.find({ bytes: this.#to, at: 0 })
      this.#sender = numbers.find({ bytes: this.#from, at: 0 })
      this.#receiver = numbers.find({ bytes: this.#call, at: saidReceiver })
      this.#isAfterSaid = false
    }
    const areSame =
      this.#contract !== nobody &&
      numbers.find(contract) === this.#contract &&
      numbers.find(from) === this.#sender &&
      numbers.find(to) === this.#receiver
    this.out.byte(areSame ? shape | sameParties : shape)
    if (areSame) return
    this.#contract = this.#write(contract)
    this.#sender = this.#write(from)
    this.#receiver = this.#write(to)
  }

  #write(address: Place): number {
    const number = this.#numbers.find(address)
    this.out.varint(number)
    if (number === this.#numbers.count) {
      this.out.bytes(address.bytes, address.at, addressLength)
      this.#numbers.add(address)
    }
    return number
  }

  /** They begin with the addresses of the transaction. */
  #beginNumbers(): void {
    const [transaction, receipt] = [this.#transaction, this.#receipt]
    const numbers = this.#numbers
    numbers.reset()
    this.#addMember(transaction, inTransaction.from, this.#from)
    if (transaction.has(inTransaction.to)) this.#addMember(transaction, inTransaction.to, this.#to)
    if (this.#hasCreated) this.#addMember(receipt, inReceipt.contractAddress, this.#created)
    const { first, length } = calldataOf(transaction)
    const readLength = Math.min(length, callHeadLength)
    decodeHex(transaction.bytes, first, readLength, this.#call, 0)
    for (const at of namedInCall(this.#call, readLength)) numbers.add({ bytes: this.#call, at })
    this.#hasNumbers = true
  }

  #addMember(members: Members, member: number, target: Uint8Array): void {
    decodeHex(members.bytes, members.fixed(member, addressLength), addressLength, target, 0)
    this.#numbers.add({ bytes: target, at: 0 })
  }
}

function transferCallOf(transaction: Members): number {
  if (!transaction.has(inTransaction.to)) return -1
  const { first, length } = calldataOf(transaction)
  if (length !== saidLength) return -1
  return isHexOf(transaction.bytes, first, { bytes: saidCall, at: 0 }, saidCall.length) ? first : -1
}

/** Whether a text of hex digits, in either case, stands for these bytes. */
function isHexOf(text: Uint8Array, firstDigit: number, { bytes, at }: Place, count: number): boolean {
  for (let i = 0; i < count; i++) {
    const upper = digitValues[text[firstDigit + 2 * i] ?? 0] ?? -1
    const lower = digitValues[text[firstDigit + 2 * i + 1] ?? 0] ?? -1
    if (((upper << 4) | lower) !== bytes[at + i]) return false
  }
  return true
}
