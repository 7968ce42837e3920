import type { Clock } from '../../../../platform/clock.ts'
import { type Pause, pause } from '../../../../platform/concurrency/pause.ts'
import { NodeUnavailableError } from '../../../../platform/errors.ts'

/** Refusals of one piece of work, each after a longer pause, that end it. */
const maxRefusals = 8
/** What is refused within this time after another refusal was sent before that one was known. */
const oneFindingMs = 1_000
/** Growth of the rate with each call that was answered, in calls a second. */
const growth = 0.05
/** Above this rate nothing is bounded. */
const plentyPerSecond = 500
const piecesPerSecond = 2
/** A block is read by so many calls. */
const minCalls = 2

/**
 * Bounds how many calls a second the nodes of one chain are asked for history, once they refuse because of their rate.
 * @param wait - replaced in tests.
 */
export function createPace(clock: Clock, wait: Pause = pause) {
  let perSecond = Number.POSITIVE_INFINITY
  let nextAtMs = 0
  let refusedAtMs = Number.NEGATIVE_INFINITY
  /** Calls of the second that began then. */
  let second = { beganMs: 0, calls: 0 }

  async function takeTurn(calls: number, signal: AbortSignal | undefined): Promise<void> {
    if (Number.isFinite(perSecond)) {
      const startMs = Math.max(clock.now(), nextAtMs)
      nextAtMs = startMs + (calls * 1_000) / perSecond
      await wait(Math.max(0, startMs - clock.now()), signal)
      signal?.throwIfAborted()
    }
    if (clock.now() - second.beganMs >= 1_000) second = { beganMs: clock.now(), calls: 0 }
    second.calls += calls
  }

  function refused(): void {
    const nowMs = clock.now()
    nextAtMs = Math.max(nextAtMs, nowMs + oneFindingMs)
    if (nowMs - refusedAtMs < oneFindingMs) return
    refusedAtMs = nowMs
    perSecond = Math.max(1, Math.min(perSecond, second.calls) / 2)
  }

  function answered(calls: number): void {
    perSecond += calls * growth
    if (perSecond > plentyPerSecond) perSecond = Number.POSITIVE_INFINITY
  }

  const maxCalls = () => Math.max(minCalls, Math.floor(perSecond / piecesPerSecond))

  return {
    /**
     * Does work of so many calls when it is due. Work that is refused because of the rate is done again, more slowly.
     * @throws {NodeUnavailableError} it was refused too often, or is larger than `maxCalls` by now; and what `work` throws otherwise.
     * @throws the signal's reason when aborted.
     */
    async run<T>(calls: number, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
      for (let refusals = 1; ; refusals++) {
        await takeTurn(calls, signal)
        try {
          const result = await work()
          answered(calls)
          return result
        } catch (error) {
          if (!isRateRefusal(error)) throw error
          refused()
          if (refusals === maxRefusals || calls > maxCalls()) throw error
        }
      }
    },
    /** Returns how many calls one piece of work should have at most. */
    maxCalls
  }
}

/** Reports whether a call failed because the node bounds the rate of calls. */
export function isRateRefusal(error: unknown): boolean {
  return error instanceof NodeUnavailableError && error.context.fault === 'throttled'
}
