/** A value that is there already, or comes. */
export type MaybePromise<T> = T | Promise<T>

/**
 * Goes on with a value, at once where it is there: what has nothing to wait for costs no promise.
 *
 * @param failed - goes on with a rejection; absent: it stays one.
 */
export function andThen<T, U>(
  value: MaybePromise<T>,
  use: (value: T) => MaybePromise<U>,
  failed?: (reason: unknown) => MaybePromise<U>
): MaybePromise<U> {
  return value instanceof Promise ? value.then(use, failed) : use(value)
}
