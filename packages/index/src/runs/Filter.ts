/** Bits for each account: one of about 120 accounts that are not in a run is not excluded by its filter. */
const bitsPerAccount = 10
const hashes = 7

/** Bloom filter of the accounts of one run: excludes an account that is in none of its transactions. */
export class Filter {
  readonly bytes: Uint8Array
  readonly #bits: number

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.#bits = bytes.length * 8
  }

  static forAccounts(count: number): Filter {
    return new Filter(new Uint8Array(Math.max(8, Math.ceil((count * bitsPerAccount) / 8))))
  }

  /** @param start - where the 20 bytes of the account begin. */
  add(address: Uint8Array, start = 0): void {
    let [hash, step] = [hashOf(address, start, 0x9e3779b1), hashOf(address, start, 0x85ebca6b) | 1]
    for (let i = 0; i < hashes; i++, hash = (hash + step) >>> 0) {
      const bit = hash % this.#bits
      this.bytes[bit >>> 3] = (this.bytes[bit >>> 3] ?? 0) | (1 << (bit & 7))
    }
  }

  /** @returns false: no transaction of the run has the account as a party. */
  mayHave(address: Uint8Array): boolean {
    let [hash, step] = [hashOf(address, 0, 0x9e3779b1), hashOf(address, 0, 0x85ebca6b) | 1]
    for (let i = 0; i < hashes; i++, hash = (hash + step) >>> 0) {
      const bit = hash % this.#bits
      if (((this.bytes[bit >>> 3] ?? 0) & (1 << (bit & 7))) === 0) return false
    }
    return true
  }
}

/** Mixes all 20 bytes: addresses with many equal bytes are common. */
function hashOf(bytes: Uint8Array, start: number, factor: number): number {
  let hash = factor
  for (let at = start; at < start + 20; at += 4) {
    const word =
      ((bytes[at] ?? 0) << 24) |
      ((bytes[at + 1] ?? 0) << 16) |
      ((bytes[at + 2] ?? 0) << 8) |
      (bytes[at + 3] ?? 0)
    hash = Math.imul(hash ^ word, factor)
    hash ^= hash >>> 15
  }
  return Math.imul(hash, 0xc2b2ae35) >>> 0
}
