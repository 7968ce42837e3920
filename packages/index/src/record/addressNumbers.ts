import type { Address, ConfirmedTransaction } from '../model/evm.ts'
import { addressLength, fieldIndex, type RecordParts } from './RecordParts.ts'
import { type ByteReader, type ByteWriter, damaged, unpackAt, varintAt } from './recordBytes.ts'

/*
 * Details of a record name addresses by number. The first numbers belong to addresses that the record has anyway: the zero
 * address, sender, receiver and created contract (where there are any), then the addresses among the first three words of
 * calldata after the selector, which are the parties of most calls of token contracts. Any other address is written out where
 * it first occurs, and takes the next number. Each list of details has its own numbers.
 */

const word = 32
const addressInWord = 12
const selector = 4
const namingWords = 3
/** The bytes of calldata that numbers and calls of `transfer` depend on; no more are read. */
const callHeadLength = selector + namingWords * word
export const zeroAddress: Address = `0x${'0'.repeat(40)}`
const zerosBeforeAddress = '0'.repeat(2 * addressInWord)

/** The fields of a transaction that its details are written relative to. */
export type Transferring = Pick<ConfirmedTransaction, 'from' | 'to' | 'contractAddress' | 'data'>

/** The addresses in the first words of calldata. */
function addressesInCall(data: Transferring['data']): readonly Address[] {
  const found: Address[] = []
  for (let at = 2 + 2 * selector; at < 2 + 2 * callHeadLength; at += 2 * word) {
    if (at + 2 * word <= data.length && data.startsWith(zerosBeforeAddress, at)) {
      found.push(`0x${data.slice(at + 2 * addressInWord, at + 2 * word)}`)
    }
  }
  return found
}

/** Writes addresses as their numbers. */
export class AddressNumbers {
  readonly #numbers = new Map<Address, number>()
  #count = 0

  constructor({ from, to, contractAddress, data }: Transferring) {
    for (const address of [zeroAddress, from, to, contractAddress, ...addressesInCall(data)]) {
      if (address !== undefined) this.#add(address)
    }
  }

  write(writer: ByteWriter, address: Address): void {
    const known = this.#numbers.get(address)
    writer.varint(known ?? this.#count)
    if (known !== undefined) return
    writer.fixed(address, addressLength)
    this.#add(address)
  }

  #add(address: Address): void {
    // An address with two numbers is written as the lower one.
    if (!this.#numbers.has(address)) this.#numbers.set(address, this.#count)
    this.#count++
  }
}

const [from, to, contractAddress, data] = [
  fieldIndex('from'),
  fieldIndex('to'),
  fieldIndex('contractAddress'),
  fieldIndex('data')
]

/** Reads addresses by their numbers. `bytes` holds them in order, each at its number times 20. */
export class NumberedAddresses {
  bytes = Buffer.alloc(16 * addressLength)
  /** The first bytes of the calldata. */
  readonly callHead = new Uint8Array(callHeadLength)
  /** Bytes of calldata. */
  dataLength = 0
  /** Offset of the transaction's receiver in `bytes`; -1: none. */
  receiver = -1
  /** Offset of the first address of the calldata in `bytes`. */
  firstCalled = 0
  #count = 0

  /** Starts with the addresses of the record itself. */
  begin(record: Uint8Array, parts: RecordParts): void {
    this.bytes.fill(0, 0, addressLength)
    this.#count = 1
    this.#add(record, parts.at(from))
    this.receiver = parts.at(to) < 0 ? -1 : this.#add(record, parts.at(to))
    if (parts.at(contractAddress) >= 0) this.#add(record, parts.at(contractAddress))
    this.firstCalled = this.#count * addressLength
    this.dataLength = varintAt(record, parts.at(data))
    unpackAt(record, parts.at(data), this.callHead)
    const length = Math.min(this.dataLength, callHeadLength)
    for (let at = selector; at + word <= length; at += word) {
      let zeros = 0
      while (zeros < addressInWord && this.callHead[at + zeros] === 0) zeros++
      if (zeros === addressInWord) this.#add(this.callHead, at + addressInWord)
    }
  }

  /** @returns the offset in `bytes` of the next address. @throws {StoreError} no address has the number. */
  read(reader: ByteReader, record: Uint8Array): number {
    const number = reader.varint()
    if (number > this.#count) throw damaged('it names an address that it does not have')
    if (number === this.#count) this.#add(record, reader.skip(addressLength))
    return number * addressLength
  }

  #add(source: Uint8Array, start: number): number {
    const at = this.#count++ * addressLength
    if (at === this.bytes.length) {
      const grown = Buffer.alloc(2 * at)
      grown.set(this.bytes)
      this.bytes = grown
    }
    for (let i = 0; i < addressLength; i++) this.bytes[at + i] = source[start + i] ?? 0
    return at
  }
}
