/**
 * What went wrong, in one stable word:
 *
 * - `CONFIGURATION`: the options or the call cannot be sent as they are. Nothing was sent.
 * - `ABORTED`: the caller's `signal` fired.
 * - `TIMEOUT`: the deadline of the call passed, wherever the exchange stood.
 * - `NETWORK`: no complete HTTP answer came back.
 * - `RESPONSE_LIMIT`: the answer was larger than `maxResponseBytes` and was cut off.
 * - `HTTP`: an HTTP status other than 200 without a JSON-RPC error in its body.
 * - `PROTOCOL`: status 200, but not a JSON-RPC answer to this request.
 * - `RPC`: the service answered with a JSON-RPC error.
 */
export type ErrorCode =
  | 'CONFIGURATION'
  | 'ABORTED'
  | 'TIMEOUT'
  | 'NETWORK'
  | 'RESPONSE_LIMIT'
  | 'HTTP'
  | 'PROTOCOL'
  | 'RPC'

type TransportErrorCode = Exclude<ErrorCode, 'CONFIGURATION' | 'PROTOCOL' | 'RPC'>

/** The facts an error carries besides its message. */
interface ErrorDetails {
  readonly code: ErrorCode
  readonly reason?: string | undefined
  readonly retryable?: boolean | undefined
  readonly retryAfterMs?: number | undefined
  readonly status?: number | undefined
  readonly rpcCode?: number | undefined
  readonly data?: unknown
}

/** The error as plain data, from {@link ChainDataClientError.toJSON}. Absent facts are absent keys. */
export interface SerializedError extends ErrorDetails {
  readonly name: string
  readonly message: string
  readonly retryable: boolean
}

// Registered, so that an error made by the ESM copy of this package is recognised by the CJS copy.
const brand = Symbol.for('@chain-data/client/error')

/**
 * Every failure of this client is one of these, also across copies of the package: `instanceof` looks at a
 * brand, not at the prototype.
 *
 * @remarks There is never a `cause`: the errors of the HTTP library below carry the request headers, and with
 *   them the key. No field, message or stack of this class holds a credential.
 */
export class ChainDataClientError extends Error {
  /** What kind of failure this is. Stable: safe to switch on. */
  declare readonly code: ErrorCode
  /** A stable upper-case word within `code`: the server's `reason`, a system error code, or one of ours. */
  declare readonly reason?: string
  /** True when the same call, unchanged, may succeed later. */
  declare readonly retryable: boolean
  /** How long the server asked to wait, in milliseconds; absent when it did not ask. */
  declare readonly retryAfterMs?: number
  /** HTTP status of the answer; absent when there was none. */
  declare readonly status?: number
  /** JSON-RPC error code; only with `code: 'RPC'`. */
  declare readonly rpcCode?: number
  /** `error.data` of the JSON-RPC error, credentials blanked out; only with `code: 'RPC'`. */
  declare readonly data?: unknown

  constructor(message: string, details: ErrorDetails) {
    super(message)
    // Not enumerable: it stays out of console output.
    Object.defineProperty(this, brand, { value: true })
    Object.assign(this, withoutAbsent({ ...details, retryable: details.retryable ?? false }))
  }

  /** `instanceof` by brand and `code`, so that it also holds between copies of this package. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: the derived classes inherit this, and `this` is the asked one.
    return isInstance(this, value)
  }

  // Part of the prototype: minifiers rename classes, and the stack's first line needs it before any field is set.
  override get name(): string {
    return 'ChainDataClientError'
  }

  /** An allow-list of plain facts for logs. The stack is not among them. */
  toJSON(): SerializedError {
    const { name, message, code, reason, retryable, retryAfterMs, status, rpcCode, data } = this
    return withoutAbsent({ name, message, code, reason, retryable, retryAfterMs, status, rpcCode, data })
  }
}

function withoutAbsent<T extends object>(facts: T): T {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as T
}

/**
 * The options or the arguments cannot work as they are; found before anything was sent.
 *
 * @remarks Reasons: `INVALID_OPTION`, `INSECURE_BASE_URL`, `CHAIN_ID_MISSING`, `INVALID_ARGUMENT`,
 *   `ENDPOINT_MISSING`.
 */
export class ConfigurationError extends ChainDataClientError {
  declare readonly code: 'CONFIGURATION'

  constructor(reason: string, message: string) {
    super(message, { code: 'CONFIGURATION', reason })
  }

  override get name(): string {
    return 'ConfigurationError'
  }
}

/**
 * No usable answer arrived: aborted, timed out, cut off, or refused by something that speaks HTTP but not
 * JSON-RPC.
 */
export class TransportError extends ChainDataClientError {
  declare readonly code: TransportErrorCode

  constructor(message: string, details: ErrorDetails & { readonly code: TransportErrorCode }) {
    super(message, details)
  }

  override get name(): string {
    return 'TransportError'
  }
}

/**
 * Whatever answered with status 200 is not this service, or is broken.
 *
 * @remarks Reasons: `EMPTY_BODY`, `NOT_JSON`, `NOT_AN_OBJECT`, `WRONG_VERSION`, `WRONG_ID`,
 *   `RESULT_AND_ERROR`, `NO_RESULT`, `MALFORMED_ERROR`. Never retryable: a second try would get the same page.
 */
export class ProtocolError extends ChainDataClientError {
  declare readonly code: 'PROTOCOL'

  constructor(reason: string, message: string, status: number) {
    super(message, { code: 'PROTOCOL', reason, status })
  }

  override get name(): string {
    return 'ProtocolError'
  }
}

/**
 * The service answered with a JSON-RPC error; `rpcCode` and `reason` are those of its error table.
 *
 * @see spec/openrpc.json, the errors
 */
export class RpcError extends ChainDataClientError {
  declare readonly code: 'RPC'
  declare readonly rpcCode: number
  declare readonly status: number

  constructor(
    message: string,
    details: Omit<ErrorDetails, 'code'> & { readonly rpcCode: number; readonly status: number }
  ) {
    super(message, { ...details, code: 'RPC' })
  }

  override get name(): string {
    return 'RpcError'
  }
}

function isInstance(asked: unknown, value: unknown): boolean {
  // No list of codes here: another copy of the package may be newer and know more of them.
  if (asked === ChainDataClientError) return isBranded(value)
  const codes = codesOf(asked)
  // Classes that users derive keep the ordinary meaning.
  if (codes === undefined) return Function.prototype[Symbol.hasInstance].call(asked, value)
  return isBranded(value) && codes.some(code => code === value.code)
}

/** The codes of one of the derived classes here; `undefined` for any other class. */
function codesOf(asked: unknown): readonly ErrorCode[] | undefined {
  if (asked === ConfigurationError) return ['CONFIGURATION']
  if (asked === TransportError) return ['ABORTED', 'TIMEOUT', 'NETWORK', 'RESPONSE_LIMIT', 'HTTP']
  if (asked === ProtocolError) return ['PROTOCOL']
  if (asked === RpcError) return ['RPC']
  return undefined
}

function isBranded(value: unknown): value is { readonly code: unknown } {
  return typeof value === 'object' && value !== null && brand in value
}
