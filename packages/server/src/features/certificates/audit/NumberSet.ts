/** From the first to the last number; both belong to it. */
export interface NumberSpan {
  readonly first: bigint
  readonly last: bigint
}

/**
 * A set of numbers that mostly lie side by side, such as the nonces of an account: it takes as much memory as there are gaps.
 * Quick where numbers come in order, upwards or downwards.
 */
export class NumberSet {
  /** Ascending; between two of them at least one number is not in the set. */
  readonly #spans: { first: bigint; last: bigint }[] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Smallest number; absent for an empty set. */
  get first(): bigint | undefined {
    return this.#spans[0]?.first
  }

  has(value: bigint): boolean {
    const span = this.#spans[this.#indexOf(value)]
    return span !== undefined && span.first <= value
  }

  /** @returns false when it was in the set already. */
  add(value: bigint): boolean {
    const index = this.#indexOf(value)
    const after = this.#spans[index]
    if (after !== undefined && after.first <= value) return false
    const before = this.#spans[index - 1]
    const joinsBefore = before !== undefined && before.last === value - 1n
    const joinsAfter = after !== undefined && after.first === value + 1n
    if (joinsBefore && joinsAfter) {
      before.last = after.last
      this.#spans.splice(index, 1)
    } else if (joinsBefore) before.last = value
    else if (joinsAfter) after.first = value
    else this.#spans.splice(index, 0, { first: value, last: value })
    this.#size++
    return true
  }

  /** Counts the numbers of the set from `first` up to, but not with, `end`. */
  countIn(first: bigint, end: bigint): bigint {
    let count = 0n
    for (const span of this.#spans) {
      const from = span.first > first ? span.first : first
      const to = span.last < end ? span.last + 1n : end
      if (to > from) count += to - from
    }
    return count
  }

  /** Lists the numbers that are missing from `first` up to, but not with, `end`; ascending. */
  gapsIn(first: bigint, end: bigint): readonly NumberSpan[] {
    const gaps: NumberSpan[] = []
    let next = first
    for (const span of this.#spans) {
      if (span.last < next) continue
      if (span.first >= end) break
      if (span.first > next) gaps.push({ first: next, last: span.first - 1n })
      next = span.last + 1n
    }
    if (next < end) gaps.push({ first: next, last: end - 1n })
    return gaps
  }

  /** Index of the first span that ends at `value` or above. */
  #indexOf(value: bigint): number {
    let low = 0
    let high = this.#spans.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#spans[middle]?.last ?? 0n) < value) low = middle + 1
      else high = middle
    }
    return low
  }
}
