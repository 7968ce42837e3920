/** Heights of one page. */
const pageSize = 32_768

/** A set of block heights in one bit each: an account may have something in millions of blocks. */
export class HeightSet {
  readonly #pages = new Map<number, Uint8Array>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(height: number): void {
    const number = Math.floor(height / pageSize)
    const page = this.#pages.get(number) ?? new Uint8Array(pageSize / 8)
    this.#pages.set(number, page)
    const bit = height % pageSize
    const before = page[bit >> 3] ?? 0
    const after = before | (1 << (bit & 7))
    if (after === before) return
    page[bit >> 3] = after
    this.#size++
  }

  /** Counts the heights from one on; absent: none. */
  countFrom(height: number | undefined): number {
    if (height === undefined) return 0
    let count = 0
    for (const found of this.newestFirst()) {
      if (found < height) break
      count++
    }
    return count
  }

  *newestFirst(): Generator<number> {
    for (const [number, page] of [...this.#pages].sort(([a], [b]) => b - a)) {
      for (let at = page.length - 1; at >= 0; at--) {
        const byte = page[at] ?? 0
        if (byte === 0) continue
        for (let bit = 7; bit >= 0; bit--) {
          if (byte & (1 << bit)) yield number * pageSize + at * 8 + bit
        }
      }
    }
  }
}
