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

/**
 * Returns a promise when it is time to let other work run, else `undefined`; a hot loop may skip `await` then. To be called after
 * each step of a long loop.
 */
export type CheckYield = () => Promise<void> | undefined

/**
 * Creates a check for long loops, which lets other work run once the loop has taken some milliseconds.
 *
 * @param stepsPerCheck - steps between two reads of the clock, for loops of very small steps. Default 1.
 * @param sliceMs - time until other work runs; 0: it runs at every check, however fast the machine is. Default 5.
 */
export function createYielder(stepsPerCheck = 1, sliceMs = 5): CheckYield {
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
