import type { EvmHoldings, SyncStatus } from '@chain-data/protocol'
import type {
  ChainPerCall,
  Client,
  EnhancedTokensAndNFTsArguments,
  SyncStatusArguments,
  TokensAndNFTsArguments,
  TransactionHistory,
  TransactionsArguments,
  VerifyHistoryArguments
} from '../Client.ts'
import type { HistoryCertificate } from '../HistoryCertificate.ts'
import { createKey } from './createKey.ts'
import type { ChainDataQuery, QueryArgumentsOf } from './QueryOptions.ts'

/**
 * The transactions of an EVM address, as one query: all of them, or one page. For a list that grows as its reader
 * goes on, take `transactionPagesQuery`.
 *
 * @example
 * useQuery(getTransactionsByAddressQuery(client, { address, chainId: 1, limit: 25 }))
 */
export function getTransactionsByAddressQuery(
  client: Pick<Client, 'getTransactionsByAddress'>,
  args: QueryArgumentsOf<TransactionsArguments>
): ChainDataQuery<TransactionHistory> {
  const { scope, timeoutMs, retries, ...asked } = args
  return {
    queryKey: createKey('getTransactionsByAddress', { ...asked, scope }),
    queryFn: ({ signal }) => client.getTransactionsByAddress({ ...asked, timeoutMs, retries, signal }),
    retry: false
  }
}

/** What an EVM account owns, as a query. */
export function getTokensAndNFTsQuery(
  client: Pick<Client, 'getTokensAndNFTs'>,
  args: QueryArgumentsOf<TokensAndNFTsArguments>
): ChainDataQuery<EvmHoldings> {
  const { scope, timeoutMs, retries, ...asked } = args
  return {
    queryKey: createKey('getTokensAndNFTs', { ...asked, scope }),
    queryFn: ({ signal }) => client.getTokensAndNFTs({ ...asked, timeoutMs, retries, signal }),
    retry: false
  }
}

/**
 * What a Solana account owns, as a query.
 *
 * @typeParam Holdings - As the client gives them: its `int64` decides the type of `lamports` and `amount`. A cache
 *   shared by clients with different ones needs a `scope`.
 */
export function enhancedGetTokensAndNFTsQuery<Holdings>(
  client: {
    readonly enhancedGetTokensAndNFTs: (
      call: EnhancedTokensAndNFTsArguments & ChainPerCall
    ) => Promise<Holdings>
  },
  args: QueryArgumentsOf<EnhancedTokensAndNFTsArguments>
): ChainDataQuery<Holdings> {
  const { scope, timeoutMs, retries, chainId, parseMetadataUri } = args
  const accountAddress = args.accountAddress ?? args.address
  const asked = { accountAddress, chainId, parseMetadataUri }
  return {
    queryKey: createKey('enhancedGetTokensAndNFTs', { ...asked, scope }),
    queryFn: ({ signal }) => client.enhancedGetTokensAndNFTs({ ...asked, timeoutMs, retries, signal }),
    retry: false
  }
}

/**
 * How far the server has followed a chain, as a query. An extension: not every host has it.
 *
 * @example
 * useQuery({ ...getSyncStatusQuery(client, { chainId: 1 }), refetchInterval: 10_000 })
 */
export function getSyncStatusQuery(
  client: Pick<Client, 'getSyncStatus'>,
  args: QueryArgumentsOf<SyncStatusArguments>
): ChainDataQuery<SyncStatus> {
  const { scope, timeoutMs, retries, ...asked } = args
  return {
    queryKey: createKey('getSyncStatus', { ...asked, scope }),
    queryFn: ({ signal }) => client.getSyncStatus({ ...asked, timeoutMs, retries, signal }),
    retry: false
  }
}

/**
 * How complete the history of an EVM address is, as a query. An extension: not every host has it.
 *
 * @remarks Its amounts are `bigint`, which a cache that is kept as JSON cannot hold.
 * @example
 * useQuery({ ...verifyHistoryQuery(client, { address, chainId: 1, timeoutMs: 60_000 }), staleTime: Infinity })
 */
export function verifyHistoryQuery(
  client: Pick<Client, 'verifyHistory'>,
  args: QueryArgumentsOf<VerifyHistoryArguments>
): ChainDataQuery<HistoryCertificate> {
  const { scope, timeoutMs, retries, ...asked } = args
  return {
    queryKey: createKey('verifyHistory', { ...asked, scope }),
    queryFn: ({ signal }) => client.verifyHistory({ ...asked, timeoutMs, retries, signal }),
    retry: false
  }
}
