import type { Clock } from '../../platform/clock.ts'

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
