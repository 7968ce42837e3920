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
