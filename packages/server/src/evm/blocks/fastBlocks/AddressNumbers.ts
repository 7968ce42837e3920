import { addressLength } from '../../../index/record/encodeBlock.ts'
import { decline } from './decline.ts'
import { sameBytes } from './decodeHex.ts'

/** With more, looking for each among all others would cost too much. */
const mostAddresses = 512

/** An address of 20 bytes. */
interface Place {
  readonly bytes: Uint8Array
  readonly at: number
}

/** The numbers by which the transfers of one transaction name addresses, as `AddressNames` gives them. */
export class AddressNumbers {
  readonly #bytes = new Uint8Array(mostAddresses * addressLength)
  count = 0

  /** Begins with the zero address, which stands at the beginning all the time. */
  reset(): void {
    this.count = 1
  }

  /** Gives the next number to an address, also to one that has a number. */
  add({ bytes, at }: Place): void {
    if (this.count === mostAddresses) decline()
    const end = this.count++ * addressLength
    for (let i = 0; i < addressLength; i++) this.#bytes[end + i] = bytes[at + i] ?? 0
  }

  /** @returns the lowest number of an address; `count` where it has none. */
  find({ bytes, at }: Place): number {
    for (let number = 0; number < this.count; number++) {
      if (sameBytes(this.#bytes, number * addressLength, bytes, at, addressLength)) return number
    }
    return this.count
  }
}
