import type { Clock } from '../../platform/clock.ts'

/** How many requests one upstream is given at the same time; finds out by itself how many it bears. */
export interface ConcurrencyLimit {
  /**
   * Runs `work` once there is room, in the order of asking.
   * @throws the signal's reason when it is aborted while waiting; the place in the queue is free then.
   */
  run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>
  /**
   * The upstream asked for less, or did not answer in time: half as many from now on. Requests that were under way before
   * the last halving say nothing new.
   * @param startedMs - when the request began.
   */
  overloaded(startedMs: number): void
  /** Most requests at the same time. */
  current(): number
}

export const leastConcurrency = 1
export const mostConcurrency = 64
const firstConcurrency = 16

/** Additive increase, multiplicative decrease: one more after each full round of successes, half after an overload. */
export function createConcurrencyLimit(clock: Clock): ConcurrencyLimit {
  let limit = firstConcurrency
  let underWay = 0
  let successes = 0
  let halvedAtMs = Number.NEGATIVE_INFINITY
  const queue = new Set<() => void>()

  function letIn(): void {
    for (const enter of queue) {
      if (underWay >= limit) return
      queue.delete(enter)
      underWay++
      enter()
    }
  }

  function waitForRoom(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    return new Promise((resolve, reject) => {
      const leave = () => {
        queue.delete(enter)
        reject(signal.reason)
      }
      const enter = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      signal.addEventListener('abort', leave, { once: true })
      queue.add(enter)
      letIn()
    })
  }

  return {
    async run(signal, work) {
      await waitForRoom(signal)
      const wasFull = underWay >= limit
      try {
        const result = await work()
        // Only when the room was needed: an idle upstream proves nothing.
        if (wasFull && ++successes >= limit) {
          successes = 0
          limit = Math.min(mostConcurrency, limit + 1)
        }
        return result
      } finally {
        underWay--
        letIn()
      }
    },
    overloaded(startedMs) {
      if (startedMs < halvedAtMs) return
      halvedAtMs = clock.now()
      successes = 0
      limit = Math.max(leastConcurrency, Math.floor(limit / 2))
    },
    current: () => limit
  }
}
