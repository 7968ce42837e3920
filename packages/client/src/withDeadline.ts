import { TransportError } from './errors.ts'

/** The part of an `AbortSignal` this client uses, so that its types need neither DOM nor Node types. */
export interface AbortSignalLike {
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
  readonly signal: AbortSignalLike | undefined
}

/**
 * Runs one call under one deadline, from its first to its last byte.
 *
 * @param run - Gets the signal that fires when the call is over early. Its own outcome no longer counts then.
 * @throws {TransportError} `TIMEOUT` or `ABORTED`, at once, however long `run` takes to notice.
 * @remarks Timer and listener are gone when the promise settles.
 */
export function withDeadline<T>(limits: Limits, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { timeoutMs, signal } = limits
  return new Promise<T>((resolve, reject) => {
    if (signal?.aborted) {
      reject(aborted())
      return
    }
    const controller = new AbortController()
    const giveUp = (error: TransportError) => {
      release()
      // Rejected first: what the abort does to `run` must not become the outcome.
      reject(error)
      controller.abort()
    }
    const onAbort = () => giveUp(aborted())
    const timer = Number.isFinite(timeoutMs)
      ? setTimeout(() => giveUp(timedOut(timeoutMs)), timeoutMs)
      : undefined
    const release = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
    signal?.addEventListener('abort', onAbort)
    run(controller.signal).finally(release).then(resolve, reject)
  })
}

function aborted(): TransportError {
  return new TransportError('the call was aborted by its signal', { code: 'ABORTED' })
}

function timedOut(timeoutMs: number): TransportError {
  return new TransportError(`no complete answer within ${timeoutMs} ms`, { code: 'TIMEOUT', retryable: true })
}

/** Resolves after a pause, or at once when the call is over; the timer goes with it. */
export function wait(delayMs: number, over: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const end = () => {
      clearTimeout(timer)
      over.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, delayMs)
    over.addEventListener('abort', end)
  })
}
