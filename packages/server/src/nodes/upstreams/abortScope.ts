import { setMaxListeners } from 'node:events'

/** The reason of a scope whose own time is up. */
export class TimeUpError extends Error {}

/** One attempt's abort signal: follows the given ones and its own timer, and lets go of all of them at `end`. */
export interface AbortScope {
  readonly signal: AbortSignal
  /** Aborts with a {@link TimeUpError} after this time. */
  limit(timeoutMs: number): void
  /** Aborts what is still under way and removes every listener. */
  end(): void
}

export function openAbortScope(parents: readonly (AbortSignal | undefined)[]): AbortScope {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const followed = parents.filter(parent => parent !== undefined)
  // Many calls may follow one signal; Node 20 would take that for a leak.
  setMaxListeners(0, ...followed, controller.signal)
  // Not AbortSignal.any: it keeps one entry per attempt alive for as long as a long-lived parent lives.
  const follow = () => controller.abort(followed.find(parent => parent.aborted)?.reason)
  for (const parent of followed) parent.addEventListener('abort', follow, { once: true })
  if (followed.some(parent => parent.aborted)) follow()
  return {
    signal: controller.signal,
    limit(timeoutMs) {
      timer = setTimeout(() => controller.abort(new TimeUpError('time is up')), timeoutMs)
    },
    end() {
      clearTimeout(timer)
      for (const parent of followed) parent.removeEventListener('abort', follow)
      controller.abort(new Error('no longer wanted'))
    }
  }
}

/** Settles like `promise`, or rejects with the signal's reason if that comes first. The promise itself goes on. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => undefined)
    return Promise.reject(signal.reason)
  }
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
