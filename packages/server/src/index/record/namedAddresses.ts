import type { Address, EvmTransaction } from '../../model/evm.ts'
import type { ConfirmedParts } from './ConfirmedParts.ts'
import { addressBytes } from './hexBytes.ts'
import type { PlaceReader } from './PlaceReader.ts'
import { type ByteWriter, damaged } from './recordBytes.ts'

/*
 * The transfers of a record name addresses by number. Numbers begin with addresses that stand in the record anyway: the zero
 * address, sender, receiver and created contract where there are any, then those among the first three words of calldata
 * behind the selector that can be addresses, which are the parties of most calls of token contracts. Every other address
 * takes the next number where it comes for the first time and is written out there. The transfers of a record and its
 * internal transfers count each for themselves.
 */

const addressLength = 20
const word = 32
const addressInWord = 12
const selector = 4
const namingWords = 3
/** So much of the calldata decides about names and about what a call says; no more of it is looked at. */
export const callHeadLength = selector + namingWords * word
const zeroAddress: Address = `0x${'0'.repeat(40)}`

/** The first bytes of calldata. */
export function callHead({ data }: Pick<EvmTransaction, 'data'>): Buffer {
  return Buffer.from(data.slice(2, 2 + 2 * callHeadLength), 'hex')
}

/** Where the addresses stand in the first `length` bytes of calldata. */
export function namedInCall(head: Uint8Array, length: number): readonly number[] {
  const places: number[] = []
  for (let at = selector; at + word <= length && at < callHeadLength; at += word) {
    let zeros = 0
    while (zeros < addressInWord && head[at + zeros] === 0) zeros++
    if (zeros === addressInWord) places.push(at + addressInWord)
  }
  return places
}

/** Writes addresses as their numbers. */
export class AddressNames {
  readonly #numbers = new Map<Address, number>()
  #count = 0

  constructor(
    { from, to, contractAddress }: { from: Address; to?: Address; contractAddress?: Address },
    head: Buffer
  ) {
    const called = namedInCall(head, head.length).map(
      (at): Address => `0x${head.toString('hex', at, at + addressLength)}`
    )
    for (const address of [zeroAddress, from, to, contractAddress, ...called]) {
      if (address !== undefined) this.#name(address)
    }
  }

  write(writer: ByteWriter, address: Address): void {
    const known = this.#numbers.get(address)
    writer.varint(known ?? this.#count)
    if (known !== undefined) return
    writer.bytes(addressBytes(address))
    this.#name(address)
  }

  #name(address: Address): void {
    // Of an address that has two numbers, the lower one is written.
    if (!this.#numbers.has(address)) this.#numbers.set(address, this.#count)
    this.#count++
  }
}

/** Reads them again. The addresses stand one behind the other in `bytes`. */
export class NamedAddresses {
  bytes = new Uint8Array(16 * addressLength)
  /** The first bytes of the calldata, and how many there are. */
  readonly callHead = new Uint8Array(callHeadLength)
  callHeadLength = 0
  /** Number of the first address that stands in the calldata. */
  firstCalled = 0
  #count = 0

  /** Begins with the addresses that the record itself has. */
  begin(record: Uint8Array, parts: ConfirmedParts): void {
    this.bytes.fill(0, 0, addressLength)
    this.#count = 1
    for (const place of [parts.from, parts.to, parts.contractAddress]) {
      if (place >= 0) this.#add(record, place)
    }
    this.firstCalled = this.#count
    this.callHeadLength = unpackHead(record, parts, this.callHead)
    for (const place of namedInCall(this.callHead, this.callHeadLength)) this.#add(this.callHead, place)
  }

  /** @returns the place in `bytes` of the address that is named next. @throws {StoreError} the number is nobody's. */
  read(reader: PlaceReader, record: Uint8Array): number {
    const number = reader.varint()
    if (number > this.#count) throw damaged('it names an address that it does not have')
    if (number === this.#count) this.#add(record, reader.skip(addressLength))
    return number * addressLength
  }

  #add(source: Uint8Array, place: number): void {
    const at = this.#count++ * addressLength
    if (at === this.bytes.length) {
      const grown = new Uint8Array(2 * at)
      grown.set(this.bytes)
      this.bytes = grown
    }
    for (let i = 0; i < addressLength; i++) this.bytes[at + i] = source[place + i] ?? 0
  }
}

/** Unpacks the first bytes of calldata, which `ConfirmedParts` has found to be sound. @returns how many there are. */
function unpackHead(record: Uint8Array, { data, dataLength }: ConfirmedParts, head: Uint8Array): number {
  const length = Math.min(dataLength, head.length)
  head.fill(0)
  let at = data
  const varint = () => {
    let value = 0
    for (let scale = 1, byte = 0x80; byte >= 0x80; scale *= 0x80) {
      byte = record[at++] ?? 0
      value += (byte & 0x7f) * scale
    }
    return value
  }
  for (let done = 0; done < length; ) {
    const literal = varint()
    for (let i = 0; i < literal && done + i < length; i++) head[done + i] = record[at + i] ?? 0
    at += literal
    done += literal
    if (done < length) done += varint()
  }
  return length
}
