import { setMaxListeners } from 'node:events'
import type { MaybePromise } from './maybePromise.ts'

/** The deadline of a scope has passed. */
export class DeadlineError extends Error {}

/** One abort signal over several reasons to stop: other signals, and a deadline of its own. */
export interface AbortScope {
  readonly signal: AbortSignal
  /**
   * Aborts the signal after `timeoutMs`.
   * @param createError - makes the signal's reason. Default: a {@link DeadlineError}.
   */
  setDeadline(timeoutMs: number, createError?: () => Error): void
  /** Stops the timer and forgets the parents; the signal is left as it is, for work that outlives the scope. */
  release(): void
  /**
   * Releases the scope and aborts what still runs under its signal.
   * @param reason - Default: an error that says it is no longer needed.
   */
  end(reason?: Error): void
}

/**
 * Opens a scope that aborts with the reason of the first parent that aborts.
 *
 * @param parents - `undefined` entries are ignored.
 * @remarks Use it instead of `AbortSignal.any`, which keeps an entry for every call as long as a long-lived parent
 *   lives. The caller has to call `release` or `end`.
 */
export function openAbortScope(parents: readonly (AbortSignal | undefined)[]): AbortScope {
  const controller = new AbortController()
  const followed = parents.filter(parent => parent !== undefined)
  // Many calls may follow one signal; Node would report a leak.
  setMaxListeners(0, ...followed, controller.signal)
  let timer: NodeJS.Timeout | undefined
  const follow = () => controller.abort(followed.find(parent => parent.aborted)?.reason)
  for (const parent of followed) parent.addEventListener('abort', follow, { once: true })
  if (followed.some(parent => parent.aborted)) follow()

  const release = () => {
    clearTimeout(timer)
    for (const parent of followed) parent.removeEventListener('abort', follow)
  }
  return {
    signal: controller.signal,
    setDeadline(timeoutMs, createError = () => new DeadlineError(`not done within ${timeoutMs} ms`)) {
      clearTimeout(timer)
      timer = setTimeout(() => controller.abort(createError()), timeoutMs)
    },
    release,
    end(reason = new Error('no longer needed')) {
      release()
      controller.abort(reason)
    }
  }
}

/** When work has to stop, and why. */
export interface Deadline {
  /** Time that the work may take; absent: no limit. */
  readonly timeoutMs?: number | undefined
  /** Stops the work earlier, for instance because the caller has gone. */
  readonly signal?: AbortSignal | undefined
  /** Makes the rejection at the deadline. Default: a {@link DeadlineError}. */
  readonly createError?: () => Error
}

/**
 * Runs `work` until its deadline.
 *
 * @param work - gets a signal that aborts at the deadline. The call rejects then even if `work` ignores the signal.
 * @returns what `work` returns; its signal then stays open, so that a stream it returned can still be read.
 * @throws the reason of the signal, or what `work` throws; the signal is aborted in both cases.
 */
export async function withDeadline<T>(
  { timeoutMs, signal, createError }: Deadline,
  work: (signal: AbortSignal) => Promise<T>
): Promise<T> {
  const scope = openAbortScope([signal])
  if (timeoutMs !== undefined) scope.setDeadline(timeoutMs, createError)
  try {
    const result = await unlessAborted(work(scope.signal), scope.signal)
    scope.release()
    return result
  } catch (error) {
    scope.end()
    throw error
  }
}

/**
 * Runs `work` until its deadline, as `withDeadline`, but makes its signal only when it is asked for: most work ends before. Work that
 * gives its result at once needs no timer either.
 *
 * @param deadline.signal - read when the signal is made. Until then its abort stops nothing.
 * @throws the reason of the signal, or what `work` throws; the signal is aborted in both cases.
 */
export function withinDeadline<T>(
  deadline: {
    readonly timeoutMs: number
    readonly signal: () => AbortSignal
    readonly createError: () => Error
  },
  work: (getSignal: () => AbortSignal) => MaybePromise<T>
): MaybePromise<T> {
  let scope: AbortScope | undefined
  let stop: (reason: unknown) => void = () => {}
  const getSignal = () => {
    if (scope !== undefined) return scope.signal
    scope = openAbortScope([deadline.signal()])
    const { signal } = scope
    signal.addEventListener('abort', () => stop(signal.reason), { once: true })
    return signal
  }
  const result = work(getSignal)
  if (!(result instanceof Promise)) {
    scope?.release()
    return result
  }
  return new Promise((resolve, reject) => {
    const fail = (reason: unknown) => {
      clearTimeout(timer)
      scope?.end(reason instanceof Error ? reason : undefined)
      reject(reason)
    }
    const succeed = (value: T) => {
      clearTimeout(timer)
      scope?.release()
      resolve(value)
    }
    const timer = setTimeout(() => fail(deadline.createError()), deadline.timeoutMs)
    stop = fail
    if (scope?.signal.aborted) fail(scope.signal.reason)
    result.then(succeed, fail)
  })
}

/** Settles like `promise`, or rejects with the signal's reason if that comes first. The promise itself goes on. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/**
 * Runs work of one name once for all callers that want it at the same time. The work belongs to none of them: it has a signal of its
 * own, which aborts when the last caller has left, with the reason of that caller.
 */
export function createSharedWork() {
  interface Shared {
    readonly done: Promise<unknown>
    readonly leaving: AbortController
    waiting: number
  }
  const works = new Map<string, Shared>()

  return async function share<T>(
    name: string,
    signal: AbortSignal,
    run: (signal: AbortSignal) => Promise<T>
  ): Promise<T> {
    signal.throwIfAborted()
    let work = works.get(name)
    if (work === undefined) {
      const leaving = new AbortController()
      const begun: Shared = { done: run(leaving.signal), leaving, waiting: 0 }
      const forget = () => {
        if (works.get(name) === begun) works.delete(name)
      }
      begun.done.then(forget, forget)
      works.set(name, begun)
      work = begun
    }
    work.waiting++
    try {
      return (await unlessAborted(work.done, signal)) as T
    } finally {
      work.waiting--
      if (work.waiting === 0) {
        // The next caller must not join what is being cancelled.
        if (works.get(name) === work) works.delete(name)
        work.leaving.abort(signal.reason ?? new Error('no caller waits for it any more'))
      }
    }
  }
}
