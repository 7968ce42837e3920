/**
 * Options for `useQuery` and `useInfiniteQuery` of TanStack Query 5: keys, cancelling, pages and retries taken care of.
 *
 * @packageDocumentation
 */

export type { Calls } from '../generated/calls.gen.ts'
export * from '../generated/queries.gen.ts'
export type {
  ChainDataInfiniteQuery,
  ChainDataKey,
  ChainDataQuery,
  ClientWith,
  QueryArgumentsOf,
  QueryOptions
} from './QueryOptions.ts'
export { solanaTransactionPagesQuery } from './solanaTransactionPagesQuery.ts'
export { transactionPagesQuery } from './transactionPagesQuery.ts'
