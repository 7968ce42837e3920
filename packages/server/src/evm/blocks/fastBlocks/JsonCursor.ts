import { decline } from './decline.ts'

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openList = 0x5b
const closeList = 0x5d
const openObject = 0x7b
const closeObject = 0x7d
const zero = 0x30
const nine = 0x39

/** Bytes that stand for themselves in a string: ASCII without control characters, quote and backslash. */
const plain = Uint8Array.from({ length: 256 }, (_, code) =>
  code >= 0x20 && code < 0x7f && code !== quote && code !== 0x5c ? 1 : 0
)

const literals = ['null', 'true', 'false'].map(text => Buffer.from(text))
const deepest = 16

/**
 * Walks over compact JSON: no white space, no escapes, ASCII, whole numbers. Whatever it has walked over is sound JSON;
 * everything else is declined, also beyond the end.
 */
export class JsonCursor {
  readonly bytes: Uint8Array
  at = 0

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes
    this.at = at
  }

  /** Steps over one byte if it is this one. */
  takes(byte: number): boolean {
    if (this.bytes[this.at] !== byte) return false
    this.at++
    return true
  }

  /** Steps over one byte, which must be this one. */
  expect(byte: number): void {
    if (this.bytes[this.at] !== byte) decline()
    this.at++
  }

  /** Steps over these bytes, which must be there. */
  expectText(text: string): void {
    for (let i = 0; i < text.length; i++) this.expect(text.charCodeAt(i))
  }

  /** From behind the opening quote of a string to behind the closing one. */
  skipString(): void {
    const { bytes } = this
    let { at } = this
    while (plain[bytes[at] ?? 0] === 1) at++
    if (bytes[at] !== quote) decline()
    this.at = at + 1
  }

  /** Over a string of this length, its content unseen; false where there is none. */
  skipFixed(length: number): boolean {
    const { bytes, at } = this
    if (bytes[at] !== quote || bytes[at + 1 + length] !== quote) return false
    this.at = at + 2 + length
    return true
  }

  /** Over one value of any kind. */
  skipValue(depth = 0): void {
    switch (this.bytes[this.at]) {
      case quote:
        this.at++
        this.skipString()
        break
      case openList:
        this.readList(() => this.skipValue(depth + 1), depth)
        break
      case openObject:
        this.#skipObject(depth)
        break
      default:
        this.#skipPlain()
    }
  }

  /**
   * Over a list.
   * @param readItem - over one item.
   */
  readList(readItem: () => void, depth = 0): void {
    if (depth > deepest) decline()
    this.expect(openList)
    if (this.takes(closeList)) return
    do readItem()
    while (this.takes(comma))
    this.expect(closeList)
  }

  #skipObject(depth: number): void {
    if (depth > deepest) decline()
    this.expect(openObject)
    if (this.takes(closeObject)) return
    do {
      this.expect(quote)
      this.skipString()
      this.expect(colon)
      this.skipValue(depth + 1)
    } while (this.takes(comma))
    this.expect(closeObject)
  }

  /** A whole number, null, true or false. */
  #skipPlain(): void {
    const { bytes, at } = this
    const first = bytes[at] ?? 0
    if (first >= zero && first <= nine) {
      let end = at + 1
      if (first !== zero) while (isDigit(bytes[end])) end++
      this.at = end
      return
    }
    const literal = literals.find(text => text.every((byte, i) => bytes[at + i] === byte))
    if (literal === undefined) decline()
    this.at += literal.length
  }
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= zero && byte <= nine
}
