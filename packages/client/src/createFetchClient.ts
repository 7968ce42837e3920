import { type AnyClient, buildClient } from './buildClient.ts'
import type { ChainOptional, ChainPerCall } from './Chain.ts'
import type { Client } from './Client.ts'
import type { ClientOptions, Int64Form, Int64Of } from './ClientOptions.ts'
import { createFetchTransport, type FetchLike } from './fetchTransport.ts'

/** Options of the client over fetch. */
export type FetchClientOptions<Form extends Int64Form = Int64Form> = ClientOptions<Form> & {
  /** Sends the requests instead of the global `fetch`: a service binding, an instrumented or an older one. */
  readonly fetch?: FetchLike['fetch'] | undefined
}

/**
 * A client of one service with one set of credentials, over fetch, without dependencies.
 *
 * @param options - With a `chainId`, calls need not name their chain; `int64` decides the type of Solana amounts.
 * @throws {ConfigurationError} An option cannot work; the message names it.
 */
export function createFetchClient<Form extends Int64Form = 'number'>(
  options: FetchClientOptions<Form> & { readonly chainId: number }
): Client<ChainOptional, Int64Of<Form>>
export function createFetchClient<Form extends Int64Form = 'number'>(
  options: FetchClientOptions<Form>
): Client<ChainPerCall, Int64Of<Form>>
// Last, because `ReturnType<typeof createClient>` and the compiler's messages speak of the last one.
export function createFetchClient(options: FetchClientOptions<'number'>): Client
export function createFetchClient(options: FetchClientOptions): AnyClient {
  // Options that are no object are refused by name in buildClient.
  return buildClient(options, createFetchTransport((options as FetchClientOptions | undefined)?.fetch))
}
