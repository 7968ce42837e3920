import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'

/** Waits `ms` milliseconds, or until `signal` aborts; it never rejects, so the caller checks the signal next. */
export type Pause = (ms: number, signal?: AbortSignal) => Promise<void>

/** Pauses by the machine's clock. To reject at an abort, use `setTimeout` of `node:timers/promises`. */
export const pause: Pause = (ms, signal) =>
  sleep(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined)

/** Bounds of a back-off. */
export interface BackOff {
  readonly firstMs: number
  readonly maxMs: number
}

/**
 * Computes the pause before the next attempt: it doubles with every failure, up to a maximum.
 *
 * @param failures - in a row, from 1.
 */
export function backOffMs({ firstMs, maxMs }: BackOff, failures: number): number {
  return Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30))
}

/** Takes off up to half of a pause at random, so that those who failed together do not come back together. */
export function jittered(ms: number): number {
  return ms * (0.5 + Math.random() / 2)
}

const sliceMs = 5

/**
 * Creates a check for long loops: `await checkYield()` after each step lets other work run once the loop has taken 5
 * milliseconds.
 *
 * @param stepsPerCheck - steps between two looks at the clock, for loops of very small steps. Default 1.
 * @returns a function that returns a promise when it is time to yield, else `undefined`; a hot loop may skip `await` then.
 */
export function createYielder(stepsPerCheck = 1): () => Promise<void> | undefined {
  let sinceMs = performance.now()
  let steps = 0
  return () => {
    if (++steps < stepsPerCheck) return undefined
    steps = 0
    if (performance.now() - sinceMs < sliceMs) return undefined
    return nextTurn().then(() => {
      sinceMs = performance.now()
    })
  }
}
