import type { ClientOptions } from './ClientOptions.ts'
import type { Method } from './Method.ts'
import { readOptions } from './readOptions.ts'
import { type CallObject, type Sending, sendCall } from './sendCall.ts'
import type { Transport } from './transport.ts'

/** Sends calls to one service. Its settings live in a closure, so that printing it shows functions. */
export interface Core {
  /** The chain of every call that names none; `undefined` where each call has to. */
  readonly chainId: number | undefined
  /**
   * Calls a method.
   *
   * @param params - By position, as a `request` gives them; absent: made from the arguments in the call object.
   * @param adapt - Sends the call otherwise: together with others, or for an answer that is read while it arrives.
   * @throws {ChainDataClientError} And nothing else.
   */
  readonly send: (
    method: Method,
    call: CallObject,
    params?: readonly unknown[],
    adapt?: (sending: Sending) => Sending
  ) => Promise<unknown>
}

/**
 * A connection to one service, over any transport.
 *
 * @throws {ConfigurationError} An option cannot work.
 */
export function connect(options: ClientOptions, transport: Transport): Core {
  const sending = { ...readOptions(options), transport }
  let lastId = 0
  return {
    chainId: sending.chainId,
    send: (method, call, params, adapt) =>
      sendCall(++lastId, adapt ? adapt(sending) : sending, method, call, params)
  }
}
