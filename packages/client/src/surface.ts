/** What both entries share: everything but `createClient`. */
export type {
  ConfirmedTransaction,
  EndpointPath,
  ErrorDataOf,
  ErrorReason,
  EvmHoldings,
  EvmNft,
  EvmToken,
  IncludedPart,
  InternalTransfer,
  MethodName,
  MethodParams,
  MethodResult,
  OpenRpcDocument,
  PendingTransaction,
  SolanaHistoryCertificate,
  SolanaHoldings,
  SolanaNft,
  SolanaToken,
  SolanaTokenChange,
  SolanaTransaction,
  SolanaTransactionHistory,
  SpamVerdict,
  SyncStatus,
  TokenTransfer,
  Verdict
} from '@chain-data/protocol'
export { isConfirmed, isPending } from '@chain-data/protocol'
export type { AbortSignalLike } from './AbortSignalLike.ts'
export type { ChainOptional, ChainPerCall } from './Chain.ts'
export type {
  BatchCall,
  BatchResult,
  Client,
  IterateArguments,
  IterateSolanaArguments,
  RequestArguments,
  RequestResult,
  Settled,
  TransactionRecord,
  WireArguments
} from './Client.ts'
export type {
  Answer,
  AuthProvider,
  CallOptions,
  ClientKeyCredentials,
  ClientOptions,
  Int64Form,
  Int64Of,
  OtherCredentials,
  ServerKeyCredentials
} from './ClientOptions.ts'
export {
  ChainDataClientError,
  ConfigurationError,
  type ErrorCode,
  ProtocolError,
  RpcError,
  type SerializedError,
  TransportError
} from './errors.ts'
export type * from './generated/calls.gen.ts'
export { hasReason } from './hasReason.ts'
export { type Coverage, parseCoverage } from './parseCoverage.ts'
