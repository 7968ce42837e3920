import { sameBytes } from './decodeHex.ts'
import type { JsonCursor } from './JsonCursor.ts'

/** Names that a node writes and nobody reads are remembered too, up to so many, so that they are passed over as quickly. */
const mostNames = 64
const longestName = 40

/**
 * The names of the members of one kind of object. A node writes them in one order, so that the name that followed last
 * time is looked for first.
 */
export class MemberNames {
  /** How many are read; they are numbered from 0, in the order given. */
  readonly count: number
  /** With the closing quote. */
  readonly #names: Uint8Array[]
  /** By number: how long the text of a value is that need not be walked over; 0 for all others. */
  readonly #textLengths = new Uint16Array(mostNames)
  /** By the number of a name, plus one; 0: the first member. */
  readonly #followers = new Uint8Array(mostNames + 1)

  /**
   * @param members - names, by their numbers from 0 on.
   * @param byteCounts - of those members that are 0x-hex of one length and that are decoded or compared digit by digit in
   *   every block that is taken: what stands between their quotes is not looked at before.
   */
  constructor(members: Readonly<Record<string, number>>, byteCounts: Readonly<Record<string, number>>) {
    const names = Object.keys(members)
    this.count = names.length
    this.#names = names.map(name => Buffer.from(`${name}"`))
    for (const [name, count] of Object.entries(byteCounts)) {
      this.#textLengths[members[name] ?? 0] = 2 + 2 * count
    }
  }

  /** Over a value of this member. */
  skipValue(cursor: JsonCursor, number: number): void {
    const length = this.#textLengths[number] ?? 0
    if (length === 0 || !cursor.skipFixed(length)) cursor.skipValue()
  }

  /**
   * From behind the opening quote of a name to behind the closing one.
   * @param previous - number of the name before; -1 for the first one.
   * @returns its number; `count` or more for one that nobody reads.
   */
  read(cursor: JsonCursor, previous: number): number {
    const guess = this.#followers[previous + 1] ?? 0
    if (this.#stepOver(cursor, guess)) return guess
    for (let number = 0; number < this.#names.length; number++) {
      if (this.#stepOver(cursor, number)) {
        this.#followers[previous + 1] = number
        return number
      }
    }
    return this.#learn(cursor)
  }

  #stepOver(cursor: JsonCursor, number: number): boolean {
    const name = this.#names[number]
    if (name === undefined || !sameBytes(name, 0, cursor.bytes, cursor.at, name.length)) return false
    cursor.at += name.length
    return true
  }

  #learn(cursor: JsonCursor): number {
    const start = cursor.at
    cursor.skipString()
    if (this.#names.length >= mostNames || cursor.at - start > longestName) return mostNames - 1
    this.#names.push(Uint8Array.from(cursor.bytes.subarray(start, cursor.at)))
    return this.#names.length - 1
  }
}
