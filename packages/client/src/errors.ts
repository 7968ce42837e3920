// Shared by every copy of this package in a process: the ESM and the CommonJS build, and several versions.
const brand = Symbol.for('@chain-data/client.error')

/** Which kind of failure; `reason` says more. */
export type ErrorCode = 'CONFIGURATION' | TransportErrorCode | 'PROTOCOL' | 'RPC'

type TransportErrorCode = 'ABORTED' | 'TIMEOUT' | 'NETWORK' | 'RESPONSE_LIMIT' | 'HTTP'

/** What an error is built from; absent members stay absent. */
export interface ErrorDetails {
  /** Which kind of failure. */
  readonly code: ErrorCode
  /** Name of the case. */
  readonly reason?: string | undefined
  /** True when the same call may succeed later; default false. */
  readonly retryable?: boolean
  /** How long the server asked to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined
  /** The method, as the caller named it. */
  readonly method?: string | undefined
  /** Scheme, host and port that were asked. */
  readonly origin?: string | undefined
  /** How many requests were sent. */
  readonly attempts?: number | undefined
  /** HTTP status of the answer. */
  readonly status?: number | undefined
  /** The answer's `x-request-id`. */
  readonly requestId?: string | undefined
  /** JSON-RPC error code. */
  readonly rpcCode?: number | undefined
  /** `error.data` of the JSON-RPC error. */
  readonly data?: unknown
  /** Why the caller ended the call. */
  readonly cause?: unknown
}

/** What `JSON.stringify` and loggers that honour `toJSON` see of an error. */
export interface SerializedError extends Omit<ErrorDetails, 'cause'> {
  /** Name of the class. */
  readonly name: string
  /** What went wrong, for people. */
  readonly message: string
}

interface Branded {
  readonly [brand]?: SerializedError
}

/**
 * The one family of errors this client rejects with.
 *
 * @remarks None holds a credential, a request header or the error of an HTTP library. Only `ABORTED` has a `cause`: the `reason`
 *   of the signal that the caller gave.
 */
export class ChainDataClientError extends Error {
  /** Name of the class on every copy of this package, whatever a minifier calls it. */
  // A getter: for a field, compilers to CommonJS take the name away from the class, and consoles show that.
  protected static get kind(): string {
    return 'ChainDataClientError'
  }

  /** Stable; branch on this. */
  declare readonly code: ErrorCode
  /** Stable upper-case name of the case: the service's `reason`, a system error code, or one of ours. */
  declare readonly reason?: string
  /** True when the same call, unchanged, may succeed later. */
  declare readonly retryable: boolean
  /** How long the server asked to wait, in milliseconds; absent when it did not ask. */
  declare readonly retryAfterMs?: number
  /** The method, as the caller named it; absent of an error that is about the client's options. */
  declare readonly method?: string
  /** Scheme, host and port that were asked; absent when nothing was sent, and for a path on the page's own origin. */
  declare readonly origin?: string
  /** How many requests were sent; absent when none was. */
  declare readonly attempts?: number
  /** HTTP status of the answer; absent when there was none. */
  declare readonly status?: number
  /** The answer's `x-request-id`: the host's log has the rest under it. */
  declare readonly requestId?: string
  /** JSON-RPC error code; only with `code: 'RPC'`. */
  declare readonly rpcCode?: number
  /** `error.data` of the JSON-RPC error, credentials blanked out; only with `code: 'RPC'`. */
  declare readonly data?: unknown

  /**
   * Made by this client only; a class of your own may derive from it.
   *
   * @param text - What went wrong; the message begins with the method, where there is one.
   */
  constructor(text: string, details: ErrorDetails, options: { readonly cause?: unknown } = details) {
    const message = details.method ? `${details.method}: ${text}` : text
    super(message, options)
    for (const [fact, value] of Object.entries({ retryable: false, ...details })) {
      if (value !== undefined) (this as Record<string, unknown>)[fact] = value
    }
    // Not enumerable: it stays out of console output.
    Object.defineProperty(this, brand, { value: { name: this.name, message, ...(this as object) } })
  }

  /** `instanceof` by brand, so that it also holds between copies of this package. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // Classes that users derive keep the ordinary meaning.
    // biome-ignore lint/complexity/noThisInStatic: the derived classes inherit this, and `this` is the asked one.
    if (!Object.hasOwn(this, 'kind')) return super[Symbol.hasInstance](value)
    const facts = (Object(value) as Branded)[brand]
    // biome-ignore lint/complexity/noThisInStatic: as above.
    return this === ChainDataClientError ? !!facts : facts?.name === this.kind
  }

  /** Name of the class, also where a minifier renamed it. */
  // On the prototype: the stack's first line needs it before any field is set.
  override get name(): string {
    return (this.constructor as typeof ChainDataClientError).kind
  }

  /** The plain facts it was made of, for logs. Neither the stack nor what was added later is among them. */
  toJSON(): SerializedError {
    return (this as unknown as Required<Branded>)[brand]
  }
}

/**
 * The options or the arguments cannot work as they are, or `auth` gave nothing usable; nothing was sent.
 *
 * @remarks Reasons: `INVALID_OPTION`, `INSECURE_BASE_URL`, `KEY_IN_BROWSER`, `CHAIN_ID_MISSING`,
 *   `INVALID_ARGUMENT`, `ENDPOINT_MISSING`, `AUTH_FAILED`.
 */
export class ConfigurationError extends ChainDataClientError {
  protected static override get kind(): string {
    return 'ConfigurationError'
  }
  declare readonly code: 'CONFIGURATION'
}

/**
 * @param message - Never shows a credential.
 * @param method - Of the call that it is about; absent: about the options.
 * @throws {ConfigurationError} Unless met.
 */
export function need(met: unknown, message: string, reason = 'INVALID_OPTION', method?: string): asserts met {
  if (!met) throw new ConfigurationError(message, { code: 'CONFIGURATION', reason, method })
}

/**
 * No usable answer arrived: aborted, timed out, cut off, or refused by something that speaks HTTP but not
 * JSON-RPC.
 */
export class TransportError extends ChainDataClientError {
  protected static override get kind(): string {
    return 'TransportError'
  }
  declare readonly code: TransportErrorCode
}

/**
 * Whatever answered with status 200 is not this service, or is broken.
 *
 * @remarks Reasons: `EMPTY_BODY`, `NOT_JSON`, `NOT_AN_OBJECT`, `WRONG_VERSION`, `WRONG_ID`, `RESULT_AND_ERROR`,
 *   `NO_RESULT`, `MALFORMED_ERROR`; of a batch `MISSING_ENTRY`, `DUPLICATE_ENTRY`; of a result `NOT_A_LIST`,
 *   `NOT_AN_OBJECT`, `INEXACT_NUMBER`.
 *   Never retryable: a second try would get the same page.
 */
export class ProtocolError extends ChainDataClientError {
  protected static override get kind(): string {
    return 'ProtocolError'
  }
  declare readonly code: 'PROTOCOL'
}

/**
 * The service answered with a JSON-RPC error; `rpcCode` and `reason` are those of its error table.
 *
 * @see spec/openrpc.json, the errors
 */
export class RpcError extends ChainDataClientError {
  protected static override get kind(): string {
    return 'RpcError'
  }
  declare readonly code: 'RPC'
  declare readonly rpcCode: number
  declare readonly status: number
}

/** A stable name of a case, as far as something foreign gave one. */
export function reasonOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Z][A-Z0-9_]{0,63}$/.test(value) ? value : undefined
}
