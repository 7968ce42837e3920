import { createAxiosTransport } from './axiosTransport.ts'
import { buildClient } from './buildClient.ts'
import type { ChainOptional, ChainPerCall, Client } from './Client.ts'
import type { ClientOptions } from './ClientOptions.ts'

/**
 * A client of one service with one set of credentials, over axios. Costs nothing until the first call.
 *
 * @param options - With a `chainId`, calls need not name their chain.
 * @throws {ConfigurationError} An option cannot work; the message names it.
 * @example
 * const client = createClient({ baseUrl: 'https://rpc.example.com', projectId, serverKey, chainId: 1 })
 * const history = await client.getTransactionsByAddress({ address, limit: 100 })
 */
export function createClient(options: ClientOptions & { readonly chainId: number }): Client<ChainOptional>
export function createClient(options: ClientOptions): Client<ChainPerCall>
export function createClient(options: ClientOptions): Client<ChainOptional> {
  return buildClient(options, createAxiosTransport())
}
