import { isMethodMissing } from '../../../nodes/upstreams/errorWords.ts'
import type { Clock } from '../../../platform/clock.ts'

/** How long a chain whose traces are "auto" waits for those of a block before it goes on without. */
export interface TracePatience {
  /** The traces of a block have come. */
  came(blockNumber: number): void
  /** They have not. @returns whether the block is no longer to wait for them. */
  isOver(blockNumber: number, error: unknown): boolean
  /** How long the next question may take. */
  limitMs(): number
}

const patienceMs = 60_000
/** A node carries the whole block out again, which may take longer than any other answer. */
const longestMs = 60_000
/** Where blocks go without traces, none of them waits long for a node that is silent. */
const shortestMs = 5_000
/** But now and then one does: the node may have become well again, and merely be slow. */
const longAgainAfterMs = 10 * 60_000
/** Above what is under way at a time; reorganised ones stay in the list. */
const mostFailing = 1_024

/**
 * Where no node has the methods, nothing is waited for. What may pass (a node is away, lags or contradicts itself) has a
 * minute for one block; if that was not enough, the next ones do not wait until traces come again: a node that has thrown
 * old state away fails for all blocks of that time.
 */
export function createTracePatience(clock: Clock): TracePatience {
  /** Since when, by block. */
  const failing = new Map<number, number>()
  let haveCome = false
  let isGivenUp = false
  let waitedLongAt = 0
  return {
    came(blockNumber) {
      haveCome = true
      isGivenUp = false
      failing.delete(blockNumber)
    },
    isOver(blockNumber, error) {
      if (isGivenUp || (!haveCome && isMethodMissing(error))) return true
      if (failing.size >= mostFailing) failing.clear()
      const since = failing.get(blockNumber) ?? clock.now()
      failing.set(blockNumber, since)
      isGivenUp = clock.now() - since >= patienceMs
      if (isGivenUp) {
        failing.clear()
        waitedLongAt = clock.now()
      }
      return isGivenUp
    },
    limitMs() {
      if (!isGivenUp) return longestMs
      if (clock.now() - waitedLongAt < longAgainAfterMs) return shortestMs
      waitedLongAt = clock.now()
      return longestMs
    }
  }
}
