/**
 * Options for `useQuery` and `useInfiniteQuery` of TanStack Query 5: keys, cancelling, pages and retries taken care of.
 *
 * @packageDocumentation
 */
export type {
  ChainDataInfiniteQuery,
  ChainDataKey,
  ChainDataQuery,
  QueryArguments,
  QueryArgumentsOf
} from './QueryOptions.ts'
export {
  enhancedGetTokensAndNFTsQuery,
  getSyncStatusQuery,
  getTokensAndNFTsQuery,
  getTransactionsByAddressQuery,
  verifyHistoryQuery
} from './queries.ts'
export { transactionPagesQuery } from './transactionPagesQuery.ts'
