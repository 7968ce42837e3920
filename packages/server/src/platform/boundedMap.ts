interface Entry<V> {
  value: V
  weight: number
  /** Read or replaced since it was put where it is. */
  isUsed: boolean
}

/**
 * A map that forgets first what was not used for long (the CLOCK order), once its contents outweigh `maxWeight`; the caller says what each
 * entry weighs (1 to count entries, bytes to bound memory). An entry heavier than the whole is not kept.
 */
export class BoundedMap<K, V> {
  readonly #entries = new Map<K, Entry<V>>()
  readonly #maxWeight: number
  #weight = 0
  /** Stands before the entry unused for longest: it gives out only what is then forgotten, and new ones come last. */
  #oldest: Iterator<K> | undefined
  /** Entries deleted since the iterator was made. */
  #deleted = 0

  constructor(maxWeight: number) {
    this.#maxWeight = maxWeight
  }

  get size(): number {
    return this.#entries.size
  }

  /** Counts as a use. */
  get(key: K): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    // Moved only when it would be forgotten: most reads then cost one look-up.
    entry.isUsed = true
    return entry.value
  }

  set(key: K, value: V, weight = 1): void {
    if (weight > this.#maxWeight) {
      this.delete(key)
      return
    }
    const entry = this.#entries.get(key)
    this.#weight += weight - (entry?.weight ?? 0)
    if (entry === undefined) this.#entries.set(key, { value, weight, isUsed: false })
    else {
      entry.value = value
      entry.weight = weight
      entry.isUsed = true
    }
    while (this.#weight > this.#maxWeight) {
      // Not a new iterator each time: it would step over all that has been forgotten before.
      this.#oldest ??= this.#entries.keys()
      const { value: oldest, done } = this.#oldest.next()
      if (done) this.#oldest = undefined
      else this.#forgetUnlessUsed(oldest)
    }
  }

  #forgetUnlessUsed(key: K): void {
    const entry = this.#entries.get(key)
    if (!entry?.isUsed) {
      this.delete(key)
      return
    }
    entry.isUsed = false
    // A Map iterates in insertion order, so it comes last now.
    this.#entries.delete(key)
    this.#entries.set(key, entry)
  }

  delete(key: K): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#weight -= entry.weight
    this.#deleted++
    // An iterator that is not advanced keeps every table that its Map has outgrown.
    if (this.#deleted <= this.#entries.size + 1_000) return
    this.#oldest = undefined
    this.#deleted = 0
  }
}
