import { TransportError } from './errors.ts'

/** The part of an `AbortSignal` this client uses, so that its types need neither DOM nor Node types. */
export interface AbortSignalLike {
  /** True from the moment on in which it fired. */
  readonly aborted: boolean
  /** The listener may be called at any time until it is removed. */
  addEventListener(type: 'abort', listener: () => void): void
  /** Given the same function that was added. */
  removeEventListener(type: 'abort', listener: () => void): void
}

/** When to give up. */
export interface Limits {
  /** Milliseconds for the whole call; `Infinity` for no deadline. */
  readonly timeoutMs: number
  readonly signal?: AbortSignalLike | undefined
}

/**
 * Runs one call under one deadline, from its first to its last byte.
 *
 * @param run - Gets the signal that fires when the call is over early. Its own outcome no longer counts then.
 * @throws {TransportError} `TIMEOUT` or `ABORTED`, at once, however long `run` takes to notice.
 * @remarks Timer and listener are gone when the promise settles.
 */
export function withDeadline<T>(
  { timeoutMs, signal }: Limits,
  run: (signal: AbortSignal) => Promise<T>
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  let onAbort = () => {}
  return new Promise<T>((resolve, reject) => {
    const controller = new AbortController()
    const giveUp = (code: 'ABORTED' | 'TIMEOUT', message: string) => {
      // Rejected first: what the abort does to `run` must not become the outcome.
      reject(new TransportError(message, { code, retryable: code === 'TIMEOUT' }))
      controller.abort()
    }
    onAbort = () => giveUp('ABORTED', 'the call was aborted by its signal')
    if (signal?.aborted) return onAbort()
    signal?.addEventListener('abort', onAbort)
    // Timers cannot wait longer than that; they would fire at once.
    if (timeoutMs < 2 ** 31) {
      timer = setTimeout(() => giveUp('TIMEOUT', `no complete answer within ${timeoutMs} ms`), timeoutMs)
    }
    run(controller.signal).then(resolve, reject)
  }).finally(() => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  })
}
