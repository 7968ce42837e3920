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

/** How many calls one upstream is given in one HTTP request; shrinks when it refuses, and grows again in time. */
export interface BatchSize {
  current(): number
  /** A batch of this size was refused. */
  refused(size: number): void
}

/** A refusal may have been a passing one: after this time twice as many are tried. Doubles with every further refusal. */
const firstPatienceMs = 60_000
const longestPatienceMs = 3_600_000

/** @param most - calls to begin with, and never more. 1 means single calls. */
export function createBatchSize(most: number, clock: Clock): BatchSize {
  let size = most
  let patienceMs = firstPatienceMs
  let growAtMs = Number.POSITIVE_INFINITY
  return {
    current() {
      if (clock.now() >= growAtMs) {
        size = Math.min(most, size * 2)
        growAtMs = size < most ? clock.now() + patienceMs : Number.POSITIVE_INFINITY
      }
      return size
    },
    refused(refusedSize) {
      const next = Math.max(1, Math.floor(refusedSize / 2))
      // Several batches of one round are refused together: that is one finding.
      if (next >= size) return
      size = next
      growAtMs = clock.now() + patienceMs
      patienceMs = Math.min(longestPatienceMs, patienceMs * 2)
    }
  }
}
