import type { EndpointPath } from '@chain-data/protocol'
import type { ChainDataClientError } from './errors.ts'
import type { Method } from './Method.ts'

/** One call as it goes on the wire, and how it ended. */
export interface Call {
  readonly id: number
  /** The method as the caller named it, for messages. */
  readonly name: string
  readonly method: Method
  readonly params: readonly unknown[]
  readonly chainId: number | undefined
  readonly endpoint: EndpointPath
  /** `{"jsonrpc":"2.0",…}`, written once for all attempts. */
  readonly body: string
  /** Whether the caller gave params by position, and not arguments by name. */
  readonly isWire: boolean
  /** Written when an answer was read: how the call ended, so far. */
  value?: unknown
  /** Written when an attempt failed; absent for a call that has its value. */
  error?: ChainDataClientError | undefined
}
