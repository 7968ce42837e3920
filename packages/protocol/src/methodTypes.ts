import type { errors } from './generated/errors.gen.ts'
import type { endpoints, Methods } from './generated/methods.gen.ts'

/** A method's name as the document writes it, with the default prefix; of a form at another endpoint its `x-name`. */
export type MethodName = keyof Methods

/** What a method takes, as a tuple. */
export type MethodParams<M extends MethodName> = Methods[M]['params']

/** What a method returns, read by `JSON.parse`: 64-bit integers are numbers, rounded above 2^53. */
export type MethodResult<M extends MethodName> = Methods[M]['result']

/** What a method's implementation may return: 64-bit integers as `bigint` where they need it. */
export type HandlerResult<M extends MethodName> = Methods<number | bigint>[M]['result']

/** Path of an endpoint, below the service's base URL. */
export type EndpointPath = keyof typeof endpoints

/** Stable name of an error case. */
export type ErrorReason = keyof typeof errors

/** What is true of a method beside its params and result. */
export interface MethodFacts {
  /** Its name on the wire, with the default prefix, where that is not its name: of a form at another endpoint. */
  readonly wireName?: MethodName
  /** The paths it is served on. */
  readonly endpoints: readonly EndpointPath[]
  /** Whether its name begins with the host's method prefix. */
  readonly prefixed: boolean
  /** Whether its answers carry the request's chainId; `by-endpoint`: as `endpoints` says of each. */
  readonly responseChainId: 'absent' | 'echo' | 'by-endpoint'
  /** False: a request without any chainId is answered too. */
  readonly needsChain: boolean
  /** Whether it goes beyond the service document. */
  readonly extension: boolean
  /** Whether it answers with Server-Sent Events, one for each element of its result. */
  readonly streams: boolean
  /** Its own error cases, beside those any request may meet. */
  readonly errors: readonly ErrorReason[]
}

/**
 * One implementation per method; a missing one does not compile.
 *
 * @typeParam Context - What the server knows about the call beside its params.
 * @typeParam Stream - What a handler may return instead of a result to write the answer piecemeal.
 */
export type MethodHandlers<Context, Stream = never> = {
  readonly [M in MethodName]: (
    params: MethodParams<M>,
    context: Context
  ) => Promise<HandlerResult<M> | Stream>
}
