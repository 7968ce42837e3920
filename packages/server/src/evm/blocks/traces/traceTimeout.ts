import { isMethodMissing } from '../../../nodes/upstreams/errorWords.ts'
import type { Clock } from '../../../platform/clock.ts'

const blockMs = 60_000
/** A node executes the whole block again, which may take longer than any other call. */
const fullMs = 60_000
/** While blocks go without traces, a silent node holds up none of them for long. */
const reducedMs = 5_000
/** Now and then one request gets the long timeout: the node may have recovered and be slow. */
const fullAgainAfterMs = 10 * 60_000
/** More than are requested at a time; blocks removed by a reorg stay in the list. */
const maxFailing = 1_024

/**
 * Bounds how long a chain whose traces are "auto" waits for the traces of a block before it goes on without. Where no node has
 * the methods, no block waits. A failure that may pass (a node is away, lags or contradicts itself) has a minute for one
 * block. After that no block waits until traces are received again: a node that has pruned old state fails for every block of
 * that time.
 */
export function createTraceTimeout(clock: Clock) {
  /** Time of the first failure, by block. */
  const failing = new Map<number, number>()
  let wereReceived = false
  let hasGivenUp = false
  let fullSinceMs = 0
  return {
    /** Notes that the traces of a block were received. */
    received(blockNumber: number): void {
      wereReceived = true
      hasGivenUp = false
      failing.delete(blockNumber)
    },
    /** Notes a failure. @returns whether the block waits no longer for its traces. */
    isOver(blockNumber: number, error: unknown): boolean {
      if (hasGivenUp || (!wereReceived && isMethodMissing(error))) return true
      if (failing.size >= maxFailing) failing.clear()
      const since = failing.get(blockNumber) ?? clock.now()
      failing.set(blockNumber, since)
      hasGivenUp = clock.now() - since >= blockMs
      if (hasGivenUp) {
        failing.clear()
        fullSinceMs = clock.now()
      }
      return hasGivenUp
    },
    /** Returns the timeout of the next request. */
    requestMs(): number {
      if (!hasGivenUp) return fullMs
      if (clock.now() - fullSinceMs < fullAgainAfterMs) return reducedMs
      fullSinceMs = clock.now()
      return fullMs
    }
  }
}
