import {
  ChangesExpiredError,
  type Damage,
  type ErrorContext,
  IndexDamagedError,
  StoreError,
  StoreInUseError,
  StoreLostError,
  StoreUnavailableError
} from '@chain-data/index'

/** An error on its way to another thread: copied as it is, it would lose its class and its code. */
interface SentError {
  readonly kind: 'error'
  /** Class, and the code in brackets if there is one: `TypeError`, `Error [ENOSPC]`. */
  readonly name: string
  readonly message: string
  readonly stack: string
  readonly cause?: SentError
  /** A failure of the store keeps its class: what is done about it depends on that. */
  readonly store?: { readonly type: keyof typeof types; readonly context: ErrorContext }
}

/** The most special ones first. */
const types = {
  ChangesExpiredError,
  IndexDamagedError,
  StoreInUseError,
  StoreLostError,
  StoreUnavailableError,
  StoreError
}
const typeNames = Object.keys(types) as (keyof typeof types)[]

/** Makes plain data of an error; any other value is returned itself. */
export function packError(value: unknown): unknown {
  return value instanceof Error ? pack(value) : value
}

/** Makes an error of what {@link packError} made: of the same class where it is one of the store's, else as a log shows it. */
export function unpackError(value: unknown): unknown {
  return isSentError(value) ? unpack(value) : value
}

function pack(error: Error): SentError {
  const { name, message, stack = '', cause } = error
  // A class that sets no name of its own is still worth knowing.
  const className = name === 'Error' ? error.constructor.name : name
  const code = 'code' in error && error.code !== undefined ? ` [${String(error.code)}]` : ''
  const type = typeNames.find(each => error instanceof types[each])
  return {
    ...{ kind: 'error', name: className + code, message, stack },
    ...(cause instanceof Error ? { cause: pack(cause) } : {}),
    ...(type === undefined || !(error instanceof StoreError)
      ? {}
      : { store: { type, context: error.context } })
  }
}

function unpack({ name, message, stack, cause, store }: SentError): Error {
  const options = cause === undefined ? {} : { cause: unpack(cause) }
  if (store === undefined) return Object.assign(new Error(message, options), { name, stack })
  if (store.type === 'IndexDamagedError') {
    return Object.assign(new IndexDamagedError(store.context as unknown as Damage, ''), { message, stack })
  }
  return Object.assign(new types[store.type](message, store.context, options), { stack })
}

function isSentError(value: unknown): value is SentError {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'error'
}
