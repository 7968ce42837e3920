/** 26 bits, so that a product of two such factors is exact as a number. */
const limb = 2 ** 26

/** A sum of products, which is almost always made without a BigInt. */
export class WeiSum {
  /** What is beyond `#low`, in units of `limb`. */
  #high = 0
  #low = 0
  #rest = 0n

  reset(): void {
    this.#high = 0
    this.#low = 0
    this.#rest = 0n
  }

  add(amount: bigint): void {
    this.#rest += amount
  }

  /** Adds a product of two whole numbers up to 2^53 - 1. */
  addProduct(gas: number, price: number): void {
    if (gas >= limb || price >= limb * limb) {
      this.#rest += BigInt(gas) * BigInt(price)
      return
    }
    const upper = Math.floor(price / limb)
    const low = this.#low + gas * (price - upper * limb)
    const carry = Math.floor(low / limb)
    this.#low = low - carry * limb
    this.#high += gas * upper + carry
    if (this.#high >= limb * limb) this.#flush()
  }

  get total(): bigint {
    this.#flush()
    return this.#rest
  }

  #flush(): void {
    this.#rest += BigInt(this.#high) * BigInt(limb) + BigInt(this.#low)
    this.#high = 0
    this.#low = 0
  }
}
