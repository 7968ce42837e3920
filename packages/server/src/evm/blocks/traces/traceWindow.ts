import { createPermits } from '../../../platform/concurrency/permits.ts'

/** Bytes of JSON text; parsed they take several times as much. */
const windowBytes = 64 * 1024 * 1024
const maxRequests = 32
/** Requests at first, since the size of answers is not known yet. */
const firstRequests = 4

/**
 * Limits the concurrent requests for traces, so that their answers fit into memory however large the blocks are. It expects
 * answers as large as those before: the estimate rises at once and falls slowly.
 */
export function createTraceWindow() {
  let seen = 0
  let expectedBytes = 0
  const permits = createPermits(
    inUse =>
      inUse === 0 ||
      (inUse < Math.min(maxRequests, firstRequests + seen) && (inUse + 1) * expectedBytes <= windowBytes)
  )
  const reportBytes = (bytes: number) => {
    seen++
    expectedBytes = Math.max(bytes, expectedBytes * 0.95)
  }
  return {
    /**
     * Runs `ask` once it has a permit.
     * @param ask - reports the bytes of the answer, where it knows them.
     * @throws the signal's reason, and whatever `ask` throws.
     */
    run: <T>(ask: (report: typeof reportBytes) => Promise<T>, signal?: AbortSignal): Promise<T> =>
      permits.run(() => ask(reportBytes), signal)
  }
}
