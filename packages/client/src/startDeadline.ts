import type { AbortSignalLike } from './AbortSignalLike.ts'

/** Why a call ended early. */
type End = 'ABORTED' | 'TIMEOUT'

/** The end of a call, over its first to its last byte. */
export interface Deadline {
  /** Fires when the call ends early. */
  readonly signal: AbortSignal
  /**
   * Waits for the promise, or for the early end of the call: at once, however long the promise takes to notice.
   *
   * @throws {End} The text `ABORTED` or `TIMEOUT`, at the early end.
   */
  readonly race: <T>(promise: T | Promise<T>) => Promise<T>
  /** Takes timer and listener away. */
  readonly release: () => void
}

/**
 * Starts the time of a call.
 *
 * @param timeoutMs - `Infinity` for no deadline.
 * @param signal - One that fired before ends the call at its first `race`.
 */
export function startDeadline(timeoutMs: number, signal: AbortSignalLike | undefined): Deadline {
  const controller = new AbortController()
  let end: (why: End) => void = () => {}
  const ended = new Promise<never>((_, reject) => {
    end = why => {
      // Rejected first: what the abort does to a transport must not become the outcome.
      reject(why)
      controller.abort()
    }
  })
  // Nobody may be waiting when it ends.
  ended.catch(() => {})
  const onAbort = () => end('ABORTED')
  if (signal?.aborted) onAbort()
  signal?.addEventListener('abort', onAbort)
  // Timers cannot wait longer than that; they would fire at once.
  const timer = timeoutMs < 2 ** 31 ? setTimeout(end, timeoutMs, 'TIMEOUT') : undefined
  return {
    signal: controller.signal,
    race: promise => Promise.race([ended, promise]),
    release() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
  }
}
