import { StoreInUseError } from '../../index/port/writer.ts'
import {
  ChainDataError,
  type ErrorContext,
  StoreError,
  StoreUnavailableError
} from '../../platform/errors.ts'
import { packError, unpackError } from './sentError.ts'

/** A failure of the store on its way to the thread that asked: what is done about it depends on its class. */
interface SentStoreError {
  readonly kind: 'storeError'
  readonly type: keyof typeof types
  readonly message: string
  readonly context: ErrorContext
  readonly stack: string | undefined
  readonly cause: unknown
}

/** The most special ones first. */
const types = { StoreInUseError, StoreUnavailableError, StoreError }
const typeNames = Object.keys(types) as (keyof typeof types)[]

/** @returns plain data for any value that was thrown; classes other than the store's are kept as a log needs them. */
export function packStoreError(error: unknown): unknown {
  const type = typeNames.find(name => error instanceof types[name])
  if (type === undefined || !(error instanceof ChainDataError)) return packError(error)
  const { message, context, stack, cause } = error
  return {
    kind: 'storeError',
    type,
    message,
    context,
    stack,
    cause: packError(cause)
  } satisfies SentStoreError
}

/** The error that was packed, of the same class where it is one of the store's. */
export function unpackStoreError(value: unknown): unknown {
  if (!isSentStoreError(value)) return unpackError(value)
  const { type, message, context, stack, cause } = value
  const error = new types[type](message, context, cause === undefined ? {} : { cause: unpackError(cause) })
  return Object.assign(error, { stack })
}

function isSentStoreError(value: unknown): value is SentStoreError {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'storeError'
}
