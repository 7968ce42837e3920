/** Digits of the 2,048 bits of a bloom. */
export const bloomDigits = 512
const zero = 0x30
const digits = Buffer.from('0123456789abcdef')
const emptyText = Buffer.alloc(bloomDigits, zero)

/**
 * A bloom as the hex text that a node writes for it. Few bits are set in the bloom of one receipt, so that comparing
 * texts costs less than reading what the node wrote.
 */
export class BloomText {
  readonly #text = Buffer.from(emptyText)
  /** What each digit stands for. */
  readonly #values = new Uint8Array(bloomDigits)
  /** Places of digits that are not zero, some of them up to four times. */
  readonly #touched: number[] = []

  /** @param bit - from 0 to 2047, the last bit of the text being 0. */
  set(bit: number): void {
    const place = bloomDigits - 1 - (bit >> 2)
    const before = this.#values[place] ?? 0
    const value = before | (1 << (bit & 3))
    if (value === before) return
    this.#values[place] = value
    this.#text[place] = digits[value] ?? zero
    this.#touched.push(place)
  }

  clear(): void {
    for (const place of this.#touched) {
      this.#text[place] = zero
      this.#values[place] = 0
    }
    this.#touched.length = 0
  }

  /** Whether `bytes` hold its text from `at` on, in lower case. */
  isAt(bytes: Uint8Array, at: number): boolean {
    const text = this.#touched.length === 0 ? emptyText : this.#text
    return text.compare(bytes, at, at + bloomDigits) === 0
  }
}
