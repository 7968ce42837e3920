import { decline } from './decline.ts'
import { digitValues, sameBytes } from './decodeHex.ts'
import type { JsonCursor } from './JsonCursor.ts'
import type { MemberNames } from './MemberNames.ts'

const quote = 0x22
const colon = 0x3a
const comma = 0x2c
const openObject = 0x7b
const closeObject = 0x7d
const firstOfNull = 0x6e
const zero = 0x30
const lowerX = 0x78

/** A quantity of so many hex digits is exact as a JS number. */
const mostNumberDigits = 13
/** 256 bits. */
const mostQuantityDigits = 64

/**
 * Where the members of objects of one kind stand in their bytes: one object after the other, for each member the place of
 * its first byte (0: it is missing) and the place behind its last.
 */
export class Members {
  readonly #names: MemberNames
  readonly #width: number
  #places: Int32Array
  #base = 0
  /** Number of objects. */
  count = 0
  bytes: Uint8Array

  constructor(names: MemberNames, bytes: Uint8Array = new Uint8Array(0)) {
    this.#names = names
    this.#width = 2 * names.count
    this.#places = new Int32Array(64 * this.#width)
    this.bytes = bytes
  }

  /** Forgets all objects; the next ones stand in `bytes`. */
  reset(bytes: Uint8Array): void {
    this.bytes = bytes
    this.count = 0
  }

  /** Drops the room for further objects, for what is kept for a while. */
  trim(): void {
    this.#places = this.#places.slice(0, this.count * this.#width)
  }

  /**
   * Walks over one object and notes its members; declines one that comes twice. It is the one that is spoken of next.
   * @param nested - the one member that is not walked over here, but by `readNested`.
   */
  read(cursor: JsonCursor, nested = -1, readNested?: () => void): void {
    const base = this.#begin()
    const places = this.#places
    cursor.expect(openObject)
    let name = -1
    do {
      cursor.expect(quote)
      name = this.#names.read(cursor, name)
      cursor.expect(colon)
      const start = cursor.at
      if (name === nested && readNested !== undefined) readNested()
      else this.#names.skipValue(cursor, name)
      if (name < this.#names.count) {
        const place = base + 2 * name
        if (places[place] !== 0) decline()
        places[place] = start
        places[place + 1] = cursor.at
      }
    } while (cursor.takes(comma))
    cursor.expect(closeObject)
  }

  #begin(): number {
    const base = this.count * this.#width
    if (base + this.#width > this.#places.length) {
      const grown = new Int32Array(2 * this.#places.length)
      grown.set(this.#places)
      this.#places = grown
    } else {
      for (let i = 0; i < this.#width; i++) this.#places[base + i] = 0
    }
    this.#base = base
    this.count++
    return base
  }

  /** All methods below speak of this object. */
  select(object: number): void {
    this.#base = object * this.#width
  }

  /** Place of the first byte of a member; 0 when it is missing. */
  start(member: number): number {
    return this.#places[this.#base + 2 * member] ?? 0
  }

  /** Place behind the last byte of a member. */
  end(member: number): number {
    return this.#places[this.#base + 2 * member + 1] ?? 0
  }

  /** Whether it is there and not null. */
  has(member: number): boolean {
    const start = this.start(member)
    return start !== 0 && this.bytes[start] !== firstOfNull
  }

  /** Place of the first digit of 0x-hex; how many follow is `digitCount`. */
  digits(member: number): number {
    const start = this.start(member)
    const { bytes } = this
    if (bytes[start] !== quote || bytes[start + 1] !== zero || bytes[start + 2] !== lowerX) decline()
    return start + 3
  }

  /** How many digits 0x-hex has; to be asked behind `digits`. */
  digitCount(member: number): number {
    return this.end(member) - this.start(member) - 4
  }

  /** Place of the first digit of 0x-hex of exactly so many bytes. */
  fixed(member: number, byteCount: number): number {
    const place = this.digits(member)
    if (this.digitCount(member) !== 2 * byteCount) decline()
    return place
  }

  /** Place of the first digit of a quantity that is not a zero; the place of its closing quote when there is none. */
  quantity(member: number): number {
    const { bytes } = this
    let place = this.digits(member)
    const end = this.end(member) - 1
    if (place === end) decline()
    while (bytes[place] === zero) place++
    if (end - place > mostQuantityDigits) decline()
    return place
  }

  /** A quantity as a number; one too large for that is declined. */
  number(member: number): number {
    const value = this.smallNumber(member)
    if (value < 0) decline()
    return value
  }

  /** A quantity as a number; -1 for one too large for that. */
  smallNumber(member: number): number {
    const { bytes } = this
    const end = this.end(member) - 1
    const first = this.quantity(member)
    if (end - first > mostNumberDigits) return -1
    let value = 0
    for (let place = first; place < end; place++) {
      const digit = digitValues[bytes[place] ?? 0] ?? -1
      if (digit < 0) decline()
      value = value * 16 + digit
    }
    return value
  }

  /** A quantity of any size; the slow way, for what is rare. */
  bigint(member: number): bigint {
    if (this.quantity(member) === this.end(member) - 1) return 0n
    const text = Buffer.from(this.bytes.subarray(this.start(member) + 1, this.end(member) - 1)).toString(
      'latin1'
    )
    if (!/^0x[0-9a-fA-F]+$/.test(text)) decline()
    return BigInt(text)
  }

  /** Declines a member that is there, is not null, and is another text of 0x-hex than a member of the other ones. */
  expectSame(member: number, other: Members, otherMember: number): void {
    if (!this.has(member)) return
    const place = this.digits(member)
    const otherPlace = other.digits(otherMember)
    const count = this.digitCount(member)
    if (count !== other.digitCount(otherMember)) decline()
    if (!sameBytes(this.bytes, place, other.bytes, otherPlace, count)) decline()
  }

  /** Declines a member that is there, is not null, and is another number. */
  expectNumber(member: number, number: number): void {
    if (this.has(member) && this.number(member) !== number) decline()
  }
}
