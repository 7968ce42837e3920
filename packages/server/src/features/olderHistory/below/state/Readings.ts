/** A number of an account after one block, as a node gave it. */
export interface Reading {
  readonly height: number
  readonly value: bigint
  /** How often nodes gave this value; 0: it was concluded from something else. */
  readonly times: number
}

/** So many equal answers settle a value: one from another height is rare, and two alike are rarer. */
const settledTimes = 2

/** The nonces, or the balances, of one account that are known so far, by height. */
export class Readings {
  /** Ascending by height. */
  readonly #known: Reading[] = []

  at(height: number): Reading | undefined {
    const found = this.#known[this.#position(height)]
    return found?.height === height ? found : undefined
  }

  /** Returns the highest one before a height. */
  before(height: number): Reading | undefined {
    return this.#known[this.#position(height) - 1]
  }

  isSettled(height: number): boolean {
    return (this.at(height)?.times ?? 0) >= settledTimes
  }

  /** Notes an answer of a node. @returns whether it contradicts an earlier one, which it replaces. */
  note(height: number, value: bigint): boolean {
    const known = this.at(height)
    const isSame = known?.value === value
    this.#put({ height, value, times: isSame ? known.times + 1 : 1 })
    return !isSame && (known?.times ?? 0) > 0
  }

  /** Notes what follows from something else. What a node gave stays. */
  conclude(height: number, value: bigint): void {
    if ((this.at(height)?.times ?? 0) === 0) this.#put({ height, value, times: 0 })
  }

  /** Forgets the readings above a height. */
  cutAbove(height: number): void {
    this.#known.length = this.#position(height + 1)
  }

  #put(reading: Reading): void {
    const position = this.#position(reading.height)
    const isKnown = this.#known[position]?.height === reading.height
    this.#known.splice(position, isKnown ? 1 : 0, reading)
  }

  /** Position of the first reading at this height or above. */
  #position(height: number): number {
    let [low, high] = [0, this.#known.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#known[middle]?.height ?? 0) < height) low = middle + 1
      else high = middle
    }
    return low
  }
}
