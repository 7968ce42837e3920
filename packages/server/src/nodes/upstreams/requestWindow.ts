import type { Clock } from '../../platform/clock.ts'
import { type Pause, pause } from '../../platform/concurrency/pause.ts'
import { createPermits } from '../../platform/concurrency/permits.ts'

/** Limits that the operator has set for one upstream. */
export interface RequestLimits {
  /** Calls in one second, each call of a batch counted. */
  readonly maxRequestsPerSecond?: number | undefined
  /** HTTP requests at the same time. */
  readonly maxConcurrency?: number | undefined
}

/** The requests that one upstream is given at the same time: as many as it answers without taking longer for each. */
export type RequestWindow = ReturnType<typeof createRequestWindow>

const firstSize = 16
const maxSize = 256
/** Requests are queued somewhere, and more of them gain nothing, once they take so many times as long as they can. */
const queuedFactor = 2
/** The shortest duration seen counts less with every round: blocks become larger, and routes change. */
const forgetting = 1.05

/**
 * Creates the window of one upstream. It doubles with every full round of answers until the upstream refuses or answers
 * later; an overload halves it, and from then on it grows by one a round.
 *
 * @param wait - waits for the rate; for tests.
 */
export function createRequestWindow(
  clock: Clock,
  { maxRequestsPerSecond: rate, maxConcurrency = maxSize }: RequestLimits = {},
  wait: Pause = pause
) {
  // No more than a second of calls may wait for the rate, or they would run out of time.
  const max = Math.min(maxConcurrency, rate === undefined ? maxSize : Math.max(1, Math.ceil(rate)))
  let size = Math.min(firstSize, max)
  let isFirstGrowth = true
  let refusedAtMs = Number.NEGATIVE_INFINITY
  let nextCallMs = Number.NEGATIVE_INFINITY
  /** The answers since the last round, and the most requests at the same time meanwhile. */
  let round = { answers: 0, durationMs: 0, most: 0 }
  let shortestMs = Number.POSITIVE_INFINITY
  const permits = createPermits(inUse => inUse < size)

  function answered(durationMs: number): void {
    round.answers++
    round.durationMs += durationMs
    round.most = Math.max(round.most, permits.inUse())
    if (round.answers < size) return
    const meanMs = round.durationMs / round.answers
    // Only when all permits were needed: an idle upstream proves nothing.
    const wasFull = round.most >= size
    round = { answers: 0, durationMs: 0, most: 0 }
    if (!wasFull) return
    shortestMs = Math.min(meanMs, shortestMs * forgetting)
    if (meanMs <= shortestMs * queuedFactor) size = Math.min(max, isFirstGrowth ? 2 * size : size + 1)
  }

  async function awaitRate(calls: number, signal: AbortSignal): Promise<void> {
    if (rate === undefined) return
    const nowMs = clock.now()
    const startMs = Math.max(nowMs, nextCallMs)
    nextCallMs = startMs + (calls * 1_000) / rate
    if (startMs > nowMs) await wait(startMs - nowMs, signal)
    signal.throwIfAborted()
  }

  return {
    /**
     * Runs `work` once there is room, in the order of asking.
     * @param calls - JSON-RPC calls in the request.
     * @throws the signal's reason when it aborts while the work is queued.
     */
    run<T>(signal: AbortSignal, calls: number, work: () => Promise<T>): Promise<T> {
      return permits.run(async () => {
        await awaitRate(calls, signal)
        const startedMs = clock.now()
        const result = await work()
        answered(clock.now() - startedMs)
        return result
      }, signal)
    },
    /**
     * Halves the window: the upstream asked for less, or did not answer in time.
     * @param startedMs - when the request began; one that was under way at the last halving is not counted again.
     */
    overloaded(startedMs: number): void {
      if (startedMs < refusedAtMs) return
      refusedAtMs = clock.now()
      round = { answers: 0, durationMs: 0, most: 0 }
      isFirstGrowth = false
      size = Math.max(1, Math.floor(size / 2))
    },
    /** Returns the maximum of requests at the same time. */
    size: () => size,
    /** Returns the share of the window that is in use; above 1 when requests are queued for it. */
    load: () => permits.wanted() / size
  }
}
