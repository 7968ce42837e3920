export type {
  ConfirmedTransaction,
  EndpointPath,
  ErrorReason,
  EvmHoldings,
  EvmNft,
  EvmToken,
  MethodName,
  MethodParams,
  MethodResult,
  PendingTransaction,
  SolanaHoldings,
  SolanaNft,
  SolanaToken,
  SyncStatus,
  TransactionHistory,
  TransactionRecord
} from '@chain-data/protocol'
export { isConfirmed, isPending } from '@chain-data/protocol'
export type {
  ChainOptional,
  ChainPerCall,
  Client,
  EnhancedTokensAndNFTsArguments,
  RequestArguments,
  RequestResult,
  SyncStatusArguments,
  TokensAndNFTsArguments,
  TransactionsArguments
} from './Client.ts'
export type { CallOptions, ClientOptions } from './ClientOptions.ts'
export { createClient } from './createClient.ts'
export {
  ChainDataClientError,
  ConfigurationError,
  type ErrorCode,
  ProtocolError,
  RpcError,
  type SerializedError,
  TransportError
} from './errors.ts'
export type { AbortSignalLike } from './withDeadline.ts'
