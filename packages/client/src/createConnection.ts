import type { ChainOptional, ChainPerCall } from './Chain.ts'
import type { Int64Form, Int64Of } from './ClientOptions.ts'
import type { Connection } from './Connection.ts'
import { connect } from './connect.ts'
import type { FetchClientOptions } from './createFetchClient.ts'
import { createFetchTransport } from './fetchTransport.ts'

/**
 * A connection to one service with one set of credentials, over fetch, for the functions of `./actions`. Nothing is sent.
 *
 * @param options - With a `chainId`, calls need not name their chain; `int64` decides the type of Solana amounts.
 * @throws {ConfigurationError} An option cannot work; the message names it.
 * @example
 * const connection = createConnection({ baseUrl: 'https://rpc.example.com', projectId, clientKey, chainId: 1 })
 * const { native } = await getTokensAndNFTs(connection, { address })
 */
export function createConnection<Form extends Int64Form = 'number'>(
  options: FetchClientOptions<Form> & { readonly chainId: number }
): Connection<ChainOptional, Int64Of<Form>>
export function createConnection<Form extends Int64Form = 'number'>(
  options: FetchClientOptions<Form>
): Connection<ChainPerCall, Int64Of<Form>>
export function createConnection(options: FetchClientOptions): object {
  // Options that are no object are refused by name in connect.
  return connect(options, createFetchTransport((options as FetchClientOptions | undefined)?.fetch))
}
