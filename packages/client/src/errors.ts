// Shared by every copy of this package in a process: the ESM and the CommonJS build, and several versions.
const brand = Symbol.for('@chain-data/client.error')

/** Which kind of failure; `reason` says more. */
export type ErrorCode = 'CONFIGURATION' | TransportErrorCode | 'PROTOCOL' | 'RPC'

type TransportErrorCode = 'ABORTED' | 'TIMEOUT' | 'NETWORK' | 'RESPONSE_LIMIT' | 'HTTP'

/** What an error is built from; absent members stay absent. */
export interface ErrorDetails {
  readonly code: ErrorCode
  readonly reason?: string | undefined
  readonly retryable?: boolean
  readonly retryAfterMs?: number | undefined
  readonly status?: number | undefined
  readonly requestId?: string | undefined
  readonly rpcCode?: number | undefined
  readonly data?: unknown
}

/** What `JSON.stringify` and loggers that honour `toJSON` see of an error. */
export interface SerializedError extends ErrorDetails {
  readonly name: string
  readonly message: string
}

const facts = [
  'name',
  'message',
  'code',
  'reason',
  'retryable',
  'retryAfterMs',
  'status',
  'requestId',
  'rpcCode',
  'data'
] as const

/**
 * The one family of errors this client rejects with.
 *
 * @remarks None holds a credential, a request header or the error of an HTTP library, not even as `cause`.
 */
export class ChainDataClientError extends Error {
  /** Name of the class on every copy of this package, whatever a minifier calls it. */
  protected static readonly kind: string = 'ChainDataClientError'

  /** Stable; branch on this. */
  declare readonly code: ErrorCode
  /** Stable upper-case name of the case: the service's `reason`, a system error code, or one of ours. */
  declare readonly reason?: string
  /** True when the same call, unchanged, may succeed later. */
  declare readonly retryable: boolean
  /** How long the server asked to wait, in milliseconds; absent when it did not ask. */
  declare readonly retryAfterMs?: number
  /** HTTP status of the answer; absent when there was none. */
  declare readonly status?: number
  /** The answer's `x-request-id`: the host's log has the rest under it. */
  declare readonly requestId?: string
  /** JSON-RPC error code; only with `code: 'RPC'`. */
  declare readonly rpcCode?: number
  /** `error.data` of the JSON-RPC error, credentials blanked out; only with `code: 'RPC'`. */
  declare readonly data?: unknown

  constructor(message: string, details: ErrorDetails) {
    super(message)
    // Not enumerable: it stays out of console output.
    Object.defineProperty(this, brand, { value: this.name })
    Object.assign(this, withoutAbsent({ retryable: false, ...details }))
  }

  /** `instanceof` by brand, so that it also holds between copies of this package. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: the derived classes inherit this, and `this` is the asked one.
    const asked = this
    // Classes that users derive keep the ordinary meaning.
    if (!Object.hasOwn(asked, 'kind')) return Function.prototype[Symbol.hasInstance].call(asked, value)
    if (typeof value !== 'object' || value === null || !(brand in value)) return false
    return asked === ChainDataClientError || value[brand] === asked.kind
  }

  // On the prototype: the stack's first line needs it before any field is set.
  override get name(): string {
    return (this.constructor as typeof ChainDataClientError).kind
  }

  /** An allow-list of plain facts for logs. The stack is not among them. */
  toJSON(): SerializedError {
    return withoutAbsent(Object.fromEntries(facts.map(name => [name, this[name]]))) as never
  }
}

function withoutAbsent<T extends object>(members: T): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T
}

/**
 * The options or the arguments cannot work as they are, or `auth` gave nothing usable; nothing was sent.
 *
 * @remarks Reasons: `INVALID_OPTION`, `INSECURE_BASE_URL`, `KEY_IN_BROWSER`, `CHAIN_ID_MISSING`,
 *   `INVALID_ARGUMENT`, `ENDPOINT_MISSING`, `AUTH_FAILED`.
 */
export class ConfigurationError extends ChainDataClientError {
  protected static override readonly kind = 'ConfigurationError'
  declare readonly code: 'CONFIGURATION'

  constructor(reason: string, message: string) {
    super(message, { code: 'CONFIGURATION', reason })
  }
}

/**
 * No usable answer arrived: aborted, timed out, cut off, or refused by something that speaks HTTP but not
 * JSON-RPC.
 */
export class TransportError extends ChainDataClientError {
  protected static override readonly kind = 'TransportError'
  declare readonly code: TransportErrorCode

  constructor(message: string, details: ErrorDetails & { readonly code: TransportErrorCode }) {
    super(message, details)
  }
}

/**
 * Whatever answered with status 200 is not this service, or is broken.
 *
 * @remarks Reasons: `EMPTY_BODY`, `NOT_JSON`, `NOT_AN_OBJECT`, `NOT_AN_ARRAY`, `WRONG_VERSION`, `WRONG_ID`,
 *   `MISSING_ENTRY`, `DUPLICATE_ENTRY`, `RESULT_AND_ERROR`, `NO_RESULT`, `MALFORMED_ERROR`, `INEXACT_NUMBER`.
 *   Never retryable: a second try would get the same page.
 */
export class ProtocolError extends ChainDataClientError {
  protected static override readonly kind = 'ProtocolError'
  declare readonly code: 'PROTOCOL'

  constructor(reason: string, message: string, details: Partial<ErrorDetails> = {}) {
    super(message, { ...details, code: 'PROTOCOL', reason })
  }
}

/**
 * The service answered with a JSON-RPC error; `rpcCode` and `reason` are those of its error table.
 *
 * @see spec/openrpc.json, the errors
 */
export class RpcError extends ChainDataClientError {
  protected static override readonly kind = 'RpcError'
  declare readonly code: 'RPC'
  declare readonly rpcCode: number
  declare readonly status: number

  constructor(
    message: string,
    details: Omit<ErrorDetails, 'code'> & { readonly rpcCode: number; readonly status: number }
  ) {
    super(message, { ...details, code: 'RPC' })
  }
}
