/** An error on its way out of the indexer's thread: copied as it is, it would lose its class and its code. */
export interface SentError {
  readonly kind: 'error'
  /** Class, and the code in brackets if there is one: `TypeError`, `Error [ENOSPC]`. */
  readonly name: string
  readonly message: string
  readonly stack: string
  readonly cause?: SentError
}

/** @returns the value itself when it is no error. */
export function packError(value: unknown): unknown {
  return value instanceof Error ? pack(value) : value
}

/** The error that was packed, as far as a log shows it; any other value itself. */
export function unpackError(value: unknown): unknown {
  return isSentError(value) ? unpack(value) : value
}

function pack(error: Error): SentError {
  const { name, message, stack = '', cause } = error
  // A class that sets no name of its own is still worth knowing.
  const className = name === 'Error' ? error.constructor.name : name
  const code = 'code' in error && error.code !== undefined ? ` [${String(error.code)}]` : ''
  return {
    ...{ kind: 'error', name: className + code, message, stack },
    ...(cause instanceof Error ? { cause: pack(cause) } : {})
  }
}

function unpack({ name, message, stack, cause }: SentError): Error {
  const error = new Error(message, cause === undefined ? {} : { cause: unpack(cause) })
  return Object.assign(error, { name, stack })
}

function isSentError(value: unknown): value is SentError {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'error'
}
