/** The part of an `AbortSignal` this client uses, so that its types need neither DOM nor Node types. */
export interface AbortSignalLike {
  /** True from the moment on in which it fired. */
  readonly aborted: boolean
  /** Why it fired; becomes the `cause` of the error. */
  readonly reason?: unknown
  /** The listener may be called at any time until it is removed. */
  addEventListener(type: 'abort', listener: () => void): void
  /** Given the same function that was added. */
  removeEventListener(type: 'abort', listener: () => void): void
}
