import { keccakHeadOf } from '../verification/keccakHead.ts'

const slots = 32_768
const wordsOfKey = 8

/**
 * The three bits of a bloom that an address or a topic sets. A memo: the same tokens, event signatures and accounts come back
 * in block after block, and hashing is what a bloom costs. Each value has one place in it, which the next one with that
 * place takes over.
 */
export class BloomPositions {
  readonly #keys = new Int32Array(slots * wordsOfKey)
  /** How many bytes the value of a slot has; 0: nothing is in it. */
  readonly #lengths = new Uint8Array(slots)
  readonly #positions = new Uint16Array(slots * 3)
  readonly #words = new Int32Array(wordsOfKey)

  /**
   * @param length - 20 or 32 bytes of `bytes`, from `at` on.
   * @returns where in `positions` the three bits stand, until the next call.
   */
  find(bytes: Uint8Array, at: number, length: number): number {
    const words = this.#words
    let mixed = length
    for (let i = 0; i < wordsOfKey; i++) {
      const from = at + 4 * i
      const word =
        4 * i < length
          ? (bytes[from] ?? 0) |
            ((bytes[from + 1] ?? 0) << 8) |
            ((bytes[from + 2] ?? 0) << 16) |
            ((bytes[from + 3] ?? 0) << 24)
          : 0
      words[i] = word
      mixed = Math.imul(mixed ^ word, 0x9e3779b1)
      mixed ^= mixed >>> 15
    }
    const slot = mixed & (slots - 1)
    const place = 3 * slot
    if (this.#lengths[slot] !== length || !this.#isKey(slot)) {
      const [first, second, third] = keccakHeadOf(words, length)
      this.#keys.set(words, slot * wordsOfKey)
      this.#lengths[slot] = length
      this.#positions[place] = first & 2047
      this.#positions[place + 1] = second & 2047
      this.#positions[place + 2] = third & 2047
    }
    return place
  }

  /** What `find` points into. */
  get positions(): Uint16Array {
    return this.#positions
  }

  #isKey(slot: number): boolean {
    const from = slot * wordsOfKey
    for (let i = 0; i < wordsOfKey; i++) if (this.#keys[from + i] !== this.#words[i]) return false
    return true
  }
}
