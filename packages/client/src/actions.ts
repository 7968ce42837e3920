/**
 * The methods as functions over a connection: a bundle has the code of those that it imports, and no other.
 *
 * @packageDocumentation
 */
import type { SolanaTransactionHistory } from '@chain-data/protocol'
import { batch as sendBatch } from './batch.ts'
import type { ChainOptional } from './Chain.ts'
import type {
  BatchCall,
  BatchResult,
  IterateArguments,
  IterateSolanaArguments,
  RequestArguments,
  RequestResult,
  Settled
} from './Client.ts'
import type { CallOptions } from './ClientOptions.ts'
import type { Connection } from './Connection.ts'
import { enhancedGetTransactionsByAddress, getTransactionsByAddress } from './generated/actions.gen.ts'
import type { Calls, TransactionHistory, WireNames } from './generated/calls.gen.ts'
import { iterateSolanaTransactions as iterateSolana } from './iterateSolanaTransactions.ts'
import { iterateTransactions as iterate } from './iterateTransactions.ts'
import { request as sendRequest } from './request.ts'
import { needObject } from './sendCall.ts'

export { createConnection } from './createConnection.ts'
export type { FetchClientOptions } from './createFetchClient.ts'
export type { FetchedResponse, FetchLike } from './fetchTransport.ts'
export * from './generated/actions.gen.ts'
export * from './surface.ts'
export { type AddressEvent, type WatchArguments, watchAddresses } from './watch/watchAddresses.ts'
export type { Connection }

/** The history of an EVM address page by page. @see {@link Client.iterateTransactions} */
export function iterateTransactions<Chain extends ChainOptional>(
  connection: Connection<Chain>,
  call: IterateArguments & Chain
): AsyncIterableIterator<TransactionHistory> {
  needObject('iterateTransactions', call)
  return iterate(page => getTransactionsByAddress(connection, page as IterateArguments & Chain), call)
}

/** The history of a Solana wallet page by page. @see {@link Client.iterateSolanaTransactions} */
export function iterateSolanaTransactions<Chain extends ChainOptional>(
  connection: Connection<Chain>,
  call: IterateSolanaArguments & Chain
): AsyncIterableIterator<SolanaTransactionHistory> {
  needObject('iterateSolanaTransactions', call)
  const readPage = (page: object) =>
    enhancedGetTransactionsByAddress(connection, page as IterateSolanaArguments & Chain)
  return iterateSolana(readPage, call)
}

/** One call, with method and params as they are on the wire. @see {@link Client.request} */
export function request<
  const M extends keyof WireNames | (string & {}),
  Chain extends ChainOptional,
  Int64 extends number | string | bigint,
  R = RequestResult<M, Int64>
>(connection: Connection<Chain, Int64>, call: RequestArguments<M, Chain>): Promise<R> {
  return sendRequest(connection, call) as Promise<R>
}

/** Several calls in few HTTP requests. @see {@link Client.batch} */
export function batch<
  const M extends readonly (keyof Calls | keyof WireNames | (string & {}))[],
  Chain extends ChainOptional,
  Int64 extends number | string | bigint
>(
  connection: Connection<Chain, Int64>,
  calls: readonly [...{ [K in keyof M]: BatchCall<M[K], Chain> }],
  options?: Omit<CallOptions, 'onAnswer'>
): Promise<{ -readonly [K in keyof M]: Settled<BatchResult<M[K], Int64>> }> {
  return sendBatch(connection, calls as never, options) as never
}
