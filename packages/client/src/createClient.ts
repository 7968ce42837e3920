import { createAxiosTransport } from './axiosTransport.ts'
import { type AnyClient, buildClient } from './buildClient.ts'
import type { ChainOptional, ChainPerCall } from './Chain.ts'
import type { Client } from './Client.ts'
import type { ClientOptions, Int64Form, Int64Of } from './ClientOptions.ts'

/**
 * A client of one service with one set of credentials, over axios. Costs nothing until the first call.
 *
 * @param options - With a `chainId`, calls need not name their chain; `int64` decides the type of Solana amounts.
 * @throws {ConfigurationError} An option cannot work; the message names it.
 * @example
 * const client = createClient({ baseUrl: 'https://rpc.example.com', projectId, serverKey, chainId: 1 })
 * const history = await client.getTransactionsByAddress({ address, limit: 100 })
 */
export function createClient<Form extends Int64Form = 'number'>(
  options: ClientOptions<Form> & { readonly chainId: number }
): Client<ChainOptional, Int64Of<Form>>
export function createClient<Form extends Int64Form = 'number'>(
  options: ClientOptions<Form>
): Client<ChainPerCall, Int64Of<Form>>
// Last, because `ReturnType<typeof createClient>` and the compiler's messages speak of the last one.
export function createClient(options: ClientOptions<'number'>): Client
export function createClient(options: ClientOptions): AnyClient {
  return buildClient(options, createAxiosTransport())
}
