/** Entries of the smallest table; it doubles once it is half full. */
const smallest = 1_024

/**
 * The candidates of one epoch in memory, by 63 bits of hashes of their bytes, which take a quarter of the room of the bytes
 * themselves. Among 300,000 candidates one in 30 million million new ones would be taken for another.
 */
export class CandidateSet {
  /** Two numbers for each entry, the second of which is odd; 0: the entry is free. */
  #entries = new Uint32Array(2 * smallest)
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Adds the bytes from `start` up to, but not including, `end`. @returns false: they were there. */
  add(bytes: Uint8Array, start: number, end: number): boolean {
    let one = 0x9e3779b9
    let other = 0x7f4a7c15
    for (let at = start; at < end; at += 4) {
      // Bytes after the last one count as zeros; the length tells such keys apart.
      let word = bytes[at] ?? 0
      if (at + 1 < end) word |= (bytes[at + 1] ?? 0) << 8
      if (at + 2 < end) word |= (bytes[at + 2] ?? 0) << 16
      if (at + 3 < end) word |= (bytes[at + 3] ?? 0) << 24
      // Each of both follows from all of both before, so that words leave 64 different bits behind.
      one = Math.imul(one ^ word, 0x85ebca6b)
      other = Math.imul(other ^ one ^ (one >>> 15), 0xc2b2ae35)
      other ^= other >>> 13
      one = (one + other) | 0
    }
    const length = end - start
    one = Math.imul(one ^ (one >>> 16) ^ length, 0x27d4eb2f)
    other = Math.imul(other ^ (other >>> 16), 0x165667b1) + length
    one ^= one >>> 15
    other ^= other >>> 14
    if (!this.#put(one >>> 0, (other | 1) >>> 0)) return false
    if (2 * ++this.#size > this.#entries.length / 2) this.#grow()
    return true
  }

  #put(one: number, other: number): boolean {
    const entries = this.#entries
    const mask = entries.length - 2
    for (let at = (one << 1) & mask; ; at = (at + 2) & mask) {
      if (entries[at + 1] === 0) {
        entries[at] = one
        entries[at + 1] = other
        return true
      }
      if (entries[at] === one && entries[at + 1] === other) return false
    }
  }

  #grow(): void {
    const before = this.#entries
    this.#entries = new Uint32Array(2 * before.length)
    for (let at = 0; at < before.length; at += 2) {
      const other = before[at + 1] ?? 0
      if (other !== 0) this.#put(before[at] ?? 0, other)
    }
  }
}
