/** Has a place, and can be made to leave it. */
export interface PlaceHolder {
  /** How long ago something was read from it last; 0 while something is being read. */
  idleMs(): number
  /** Ends it, which gives its place back. @param why - told to whoever reads from it afterwards. */
  end(why: string): void
}

export interface PlaceLimits {
  /** So many may be open at once; more wait until one closes. */
  readonly places: number
  /**
   * One that nothing was read from for so long is ended when another caller waits for its place: whoever takes a long answer
   * slowly must not keep the others from theirs.
   */
  readonly idleMs: number
}

/** The places of snapshots: each one that is open has one of them. */
export class SnapshotPlaces {
  readonly #limits: PlaceLimits
  readonly #holders = new Set<PlaceHolder>()
  /** Calls that wait for a place, first come first served. */
  readonly #waiting: (() => void)[] = []
  #taken = 0
  #looking: NodeJS.Timeout | undefined

  constructor(limits: PlaceLimits) {
    this.#limits = limits
  }

  /** Waits for a place. It is the caller's until `give`. */
  async take(): Promise<void> {
    if (this.#taken < this.#limits.places) {
      this.#taken++
      return
    }
    // Whoever gives a place leaves the count as it is: the place passes on.
    const turn = new Promise<void>(resolve => this.#waiting.push(resolve))
    this.#endIdle()
    await turn
  }

  give(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#taken--
    else next()
  }

  /** From now on it may be ended for others, until `forget`. */
  watch(holder: PlaceHolder): void {
    this.#holders.add(holder)
  }

  forget(holder: PlaceHolder): void {
    this.#holders.delete(holder)
  }

  /** Lets everybody in who waits: they are expected to look whether what they waited for is still open. */
  close(): void {
    clearTimeout(this.#looking)
    for (const wake of this.#waiting.splice(0)) {
      this.#taken++
      wake()
    }
  }

  /** One for each that is waited for, those first that were idle for longest; looks again as long as any wait. */
  #endIdle(): void {
    clearTimeout(this.#looking)
    const { idleMs } = this.#limits
    const idle = [...this.#holders].filter(holder => holder.idleMs() >= idleMs)
    idle.sort((a, b) => b.idleMs() - a.idleMs())
    for (const holder of idle.slice(0, this.#waiting.length))
      holder.end('gone: it was read too slowly while others waited')
    if (this.#waiting.length > 0) this.#looking = setTimeout(() => this.#endIdle(), idleMs / 4).unref()
  }
}
