import { addressLength } from '../../../index/record/encodeBlock.ts'
import { decline } from './decline.ts'
import { decodeHex, sameBytes } from './decodeHex.ts'

/** With more, looking for each among all others would cost too much. */
const mostOfOneTransaction = 256

/** Addresses, 20 bytes each, each once for one transaction. */
export class AddressRows {
  #bytes = new Uint8Array(1_024 * addressLength)
  count = 0
  #firstOfTransaction = 0

  reset(): void {
    this.count = 0
    this.#firstOfTransaction = 0
  }

  beginTransaction(): void {
    this.#firstOfTransaction = this.count
  }

  /** @param at - place of the address in `bytes`. */
  add(bytes: Uint8Array, at: number): void {
    const end = this.#reserve()
    for (let i = 0; i < addressLength; i++) this.#bytes[end + i] = bytes[at + i] ?? 0
    this.#keepIfNew(end)
  }

  addHex(text: Uint8Array, firstDigit: number): void {
    const end = this.#reserve()
    decodeHex(text, firstDigit, addressLength, this.#bytes, end)
    this.#keepIfNew(end)
  }

  copy(): Uint8Array {
    return this.#bytes.slice(0, this.count * addressLength)
  }

  #reserve(): number {
    const end = this.count * addressLength
    if (end === this.#bytes.length) {
      const grown = new Uint8Array(2 * end)
      grown.set(this.#bytes)
      this.#bytes = grown
    }
    return end
  }

  #keepIfNew(end: number): void {
    const first = this.#firstOfTransaction
    for (let row = first; row < this.count; row++) {
      if (sameBytes(this.#bytes, row * addressLength, this.#bytes, end, addressLength)) return
    }
    if (this.count - first >= mostOfOneTransaction) decline()
    this.count++
  }
}
