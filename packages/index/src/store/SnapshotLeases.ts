import { setImmediate as breathe } from 'node:timers/promises'
import { StoreError } from '../platform/errors.ts'
import type { SnapshotOptions } from '../port/store.ts'

export interface LeaseLimits {
  /** Maximum number of snapshots that are open at once; more wait until one closes. */
  readonly max: number
  /**
   * A snapshot that was not read for so long is ended when another caller waits for its lease: a caller that takes a long
   * answer slowly must not keep the others from theirs.
   */
  readonly idleMs: number
}

/** Leases of snapshots: each snapshot that is open holds one. */
export class SnapshotLeases {
  readonly #limits: LeaseLimits
  readonly #held = new Set<SnapshotLease>()
  /** Calls that wait for a lease, first come first served. */
  readonly #waiting: (() => void)[] = []
  #taken = 0
  #idleCheck: NodeJS.Timeout | undefined

  constructor(limits: LeaseLimits) {
    this.#limits = limits
  }

  /**
   * Waits for a lease. It is the caller's until it has ended.
   * @param onEnd - called when it has.
   * @param pause - of the snapshot.
   */
  async take(
    onEnd: (lease: SnapshotLease) => void,
    pause?: SnapshotOptions['pause']
  ): Promise<SnapshotLease> {
    if (this.#taken < this.#limits.max) this.#taken++
    else {
      // A lease that is given back passes on, and the count stays.
      const passedOn = new Promise<void>(resolve => this.#waiting.push(resolve))
      this.#endIdle()
      await passedOn
    }
    const lease = new SnapshotLease(() => {
      this.#held.delete(lease)
      onEnd(lease)
      const next = this.#waiting.shift()
      if (next === undefined) this.#taken--
      else next()
    }, pause)
    this.#held.add(lease)
    return lease
  }

  /** Lets all waiting calls in: they check next whether what they waited for is still open. */
  close(): void {
    clearTimeout(this.#idleCheck)
    for (const wake of this.#waiting.splice(0)) {
      this.#taken++
      wake()
    }
  }

  /** Ends one idle snapshot for each waiting call, the longest idle first; repeated as long as calls wait. */
  #endIdle(): void {
    clearTimeout(this.#idleCheck)
    const { idleMs } = this.#limits
    const idle = [...this.#held].filter(lease => lease.idleMs() >= idleMs)
    idle.sort((a, b) => b.idleMs() - a.idleMs())
    for (const lease of idle.slice(0, this.#waiting.length))
      lease.end('gone: it was read too slowly while others waited')
    if (this.#waiting.length > 0) this.#idleCheck = setTimeout(() => this.#endIdle(), idleMs / 4).unref()
  }
}

/** Lease of one snapshot. Every read checks it: it may have ended meanwhile. */
export class SnapshotLease {
  readonly #pause: NonNullable<SnapshotOptions['pause']>
  readonly #giveBack: () => void
  #onEnd: (() => Promise<void>) | undefined
  #lastMs = Number.POSITIVE_INFINITY
  #readAtMs = Number.POSITIVE_INFINITY
  #readsUnderWay = 0
  /** Why there is nothing to read any more. */
  #ended: string | undefined

  constructor(giveBack: () => void, pause: SnapshotOptions['pause'] = breathe) {
    this.#giveBack = giveBack
    this.#pause = pause
  }

  /**
   * Starts the time of the snapshot that is open now.
   * @param maxAgeMs - the first read after that ends it.
   * @param onEnd - called once. The lease is given back after it: the next holder will want what it releases.
   */
  begin(maxAgeMs: number, onEnd: () => Promise<void>): void {
    this.#readAtMs = performance.now()
    this.#lastMs = this.#readAtMs + maxAgeMs
    this.#onEnd = onEnd
  }

  /** Waits between two parts of a long read. The snapshot is not idle meanwhile: its reader asked for more. */
  pause(): Promise<unknown> {
    return this.during(async () => this.#pause())
  }

  /** Time since the last read; 0 during a read, and before the snapshot is open. */
  idleMs(): number {
    return this.#readsUnderWay > 0 ? 0 : performance.now() - this.#readAtMs
  }

  /** @param why - thrown to later readers, as `the snapshot is <why>`. */
  end(why: string): void {
    if (this.#ended !== undefined) return
    this.#ended = why
    if (this.#onEnd === undefined) this.#giveBack()
    else void this.#onEnd().finally(this.#giveBack)
  }

  /** @throws {StoreError} it has ended. */
  check(): void {
    this.#readAtMs = performance.now()
    if (this.#readAtMs > this.#lastMs) this.end('too old: its reader took too long')
    if (this.#ended !== undefined) throw new StoreError(`the snapshot is ${this.#ended}`)
  }

  /** Reads, unless the lease has ended, or ends meanwhile. */
  async during<T>(read: () => Promise<T>): Promise<T> {
    this.check()
    this.#readsUnderWay++
    try {
      const found = await read()
      this.check()
      return found
    } finally {
      this.#readsUnderWay--
    }
  }
}
