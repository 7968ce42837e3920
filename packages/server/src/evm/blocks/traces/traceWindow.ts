import { createPermits } from '../../../platform/concurrency/permits.ts'

/** Holds back requests for traces, so that what is under way at a time fits into memory whatever the blocks are. */
export interface TraceWindow {
  /**
   * Runs `ask` as soon as there is room.
   * @param ask - tells the bytes of the answer, where it knows them.
   * @throws the signal's reason, and whatever `ask` throws.
   */
  run<T>(ask: (tell: (bytes: number) => void) => Promise<T>, signal?: AbortSignal): Promise<T>
}

/** Of text. Parsed it takes several times as much. */
const windowBytes = 64 * 1024 * 1024
const most = 32
/** How large answers are is not known before the first ones. */
const firstAnswers = 4

/** Answers are taken to be as large as those before them: the estimate rises at once, and falls slowly. */
export function createTraceWindow(): TraceWindow {
  let seen = 0
  let expectedBytes = 0
  const permits = createPermits(
    inUse =>
      inUse === 0 ||
      (inUse < Math.min(most, firstAnswers + seen) && (inUse + 1) * expectedBytes <= windowBytes)
  )
  const tell = (bytes: number) => {
    seen++
    expectedBytes = Math.max(bytes, expectedBytes * 0.95)
  }
  return { run: (ask, signal) => permits.run(() => ask(tell), signal) }
}
