import type { Clock } from '../../platform/clock.ts'
import { createPermits } from '../../platform/concurrency/permits.ts'

/** Bounds the requests that one upstream is given at the same time; finds out by itself how many it bears. */
export interface ConcurrencyLimit {
  /**
   * Runs `work` once a permit is free, in the order of asking.
   * @throws the signal's reason when it aborts while the work is queued.
   */
  run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>
  /**
   * Halves the limit: the upstream asked for less, or did not answer in time. Requests that were under way before the
   * last halving are not counted again.
   * @param startedMs - when the request began.
   */
  overloaded(startedMs: number): void
  /** Most requests at the same time. */
  current(): number
}

const minConcurrency = 1
const maxConcurrency = 64
const firstConcurrency = 16

/** Additive increase, multiplicative decrease: one more after each full round of successes, half after an overload. */
export function createConcurrencyLimit(clock: Clock): ConcurrencyLimit {
  let limit = firstConcurrency
  let successes = 0
  let halvedAtMs = Number.NEGATIVE_INFINITY
  const permits = createPermits(inUse => inUse < limit)

  return {
    run(signal, work) {
      return permits.run(async () => {
        const wasFull = permits.inUse() >= limit
        const result = await work()
        // Only when the permit was needed: an idle upstream proves nothing.
        if (wasFull && ++successes >= limit) {
          successes = 0
          limit = Math.min(maxConcurrency, limit + 1)
        }
        return result
      }, signal)
    },
    overloaded(startedMs) {
      if (startedMs < halvedAtMs) return
      halvedAtMs = clock.now()
      successes = 0
      limit = Math.max(minConcurrency, Math.floor(limit / 2))
    },
    current: () => limit
  }
}
