import type { EndpointPath } from '@chain-data/protocol'
import type { ChainDataClientError } from './errors.ts'
import type { Method } from './Method.ts'
import type { ReadBody } from './transport.ts'

/** One call as it goes on the wire, and how it ended. */
export interface Call {
  readonly id: number
  readonly method: Method
  readonly endpoint: EndpointPath
  /** `{"jsonrpc":"2.0",…}`, written once for all attempts. */
  readonly body: string
  /** Written when an answer was read: how the call ended, so far. */
  value?: unknown
  /** Written when an attempt failed; absent for a call that has its value. */
  error?: ChainDataClientError | undefined
}

/** How several calls share a request. */
export interface Batching {
  /** The body of a request with these calls. */
  readonly write: (bodies: readonly string[]) => string
  /**
   * The answer to one of them.
   *
   * @param check - Fails the call, for a reason, unless something holds.
   */
  readonly find: (answers: unknown, id: number, check: (met: unknown, reason: string) => void) => unknown
}

/** How an answer is asked for and read that arrives bit by bit. */
export interface Streaming {
  /** The media types that are understood. */
  readonly accept: string
  readonly read: ReadBody
}
