import { batch } from './batch.ts'
import type { ChainOptional } from './Chain.ts'
import type { Client } from './Client.ts'
import type { CallOptions, ClientOptions } from './ClientOptions.ts'
import { connect } from './connect.ts'
import { methods } from './generated/methods.gen.ts'
import { iterateSolanaTransactions } from './iterateSolanaTransactions.ts'
import { iterateTransactions } from './iterateTransactions.ts'
import { request, type WireCallObject } from './request.ts'
import { needObject } from './sendCall.ts'
import type { Transport } from './transport.ts'

/** A client without its types: overloads and generics of the entries give them back. */
export type AnyClient = Client<ChainOptional, never>

/**
 * The client over any transport: every method of the document as a function.
 *
 * @throws {ConfigurationError} An option cannot work.
 */
export function buildClient(options: ClientOptions, transport: Transport): AnyClient {
  const core = connect(options, transport)
  const client: Record<string, unknown> = {
    ...core,
    request: (call: WireCallObject) => request(core, call),
    batch: (calls: Parameters<typeof batch>[1], options?: CallOptions) => batch(core, calls, options)
  }
  for (const method of methods) {
    client[method.name] = (call: object) => core.send(method, call ?? (method.chainless && {}))
  }
  client.iterateTransactions = (call: never) => {
    needObject('iterateTransactions', call)
    return iterateTransactions((client as unknown as AnyClient).getTransactionsByAddress, call)
  }
  client.iterateSolanaTransactions = (call: never) => {
    needObject('iterateSolanaTransactions', call)
    return iterateSolanaTransactions((client as unknown as AnyClient).enhancedGetTransactionsByAddress, call)
  }
  return Object.freeze(client) as unknown as AnyClient
}
