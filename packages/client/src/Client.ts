import type {
  EndpointPath,
  EvmHoldings,
  MethodName,
  MethodParams,
  MethodResult,
  SolanaHoldings,
  SyncStatus,
  TransactionHistory
} from '@chain-data/protocol'
import type { CallOptions } from './ClientOptions.ts'

/** The chain argument of a client without a default chain. */
export interface ChainPerCall {
  /** The chain asked about. */
  readonly chainId: number
}

/** The chain argument of a client with a default chain. */
export interface ChainOptional {
  /** The chain asked about, instead of the client's. */
  readonly chainId?: number | undefined
}

/** Arguments of {@link Client.getTransactionsByAddress}, beside the chain. */
export interface TransactionsArguments extends CallOptions {
  /** 20 bytes as 0x-hex, any case. */
  readonly address: string
  /** Most records returned, 1 to 1000, pending ones included. Absent: the whole history. */
  readonly limit?: number | undefined
  /** Hash of a confirmed record: only older ones are returned, and no pending ones. */
  readonly before?: string | undefined
}

/** Arguments of {@link Client.getTokensAndNFTs}, beside the chain. */
export interface TokensAndNFTsArguments extends CallOptions {
  /** 20 bytes as 0x-hex, any case. */
  readonly address: string
  /** Up to 100 contracts to restrict the answer to. Absent or empty: everything. */
  readonly tokenAddresses?: readonly string[] | undefined
}

/** Arguments of {@link Client.enhancedGetTokensAndNFTs}, beside the chain. */
export interface EnhancedTokensAndNFTsArguments extends CallOptions {
  /** Base58. */
  readonly address: string
  /** Fetch each NFT's metadata URI into `uriData`. The service's default is false. */
  readonly parseMetadataUri?: boolean | undefined
}

/** Arguments of {@link Client.getSyncStatus}, beside the chain. */
export interface SyncStatusArguments extends CallOptions {
  /** Which family the chain belongs to: the id alone does not tell. Default `/evm-chain`. */
  readonly endpoint?: EndpointPath | undefined
}

/**
 * Arguments of {@link Client.request}: the document's methods know their params and endpoint; any other method
 * needs its endpoint named.
 */
export type RequestArguments<M extends string, Chain> = CallOptions & {
  readonly method: M
} & (M extends MethodName
    ? {
        readonly params: MethodParams<M>
        /** Only for methods that both endpoints serve. Default: the first that does. */
        readonly endpoint?: EndpointPath | undefined
      } & (M extends 'rpc.discover' ? ChainOptional : Chain)
    : { readonly params: readonly unknown[]; readonly endpoint: EndpointPath } & Chain)

/** What {@link Client.request} resolves with, unless the caller names a type. */
export type RequestResult<M extends string> = M extends MethodName ? MethodResult<M> : unknown

/**
 * The service, as functions. They need no `this`, and nothing on this object gives the credentials away.
 *
 * @typeParam Chain - Whether calls must name their chain: they must, unless the client has a default.
 * @remarks Every function rejects with a `ChainDataClientError` and nothing else. Numbers are what `JSON.parse`
 *   makes of them: 64-bit integers (`gasLimit`, `nonce`, `lamports`, Solana `amount`) are rounded above 2^53.
 */
export interface Client<Chain extends ChainOptional = ChainPerCall> {
  /**
   * The transactions of an EVM address, pending ones first, then newest first.
   *
   * @returns `[]` for an address proven to have none. Narrow a record with `isPending` or `isConfirmed`.
   *   Amounts are 0x-hex in wei, `timestamp` is in seconds.
   * @see spec/openrpc.json svc_getTransactionsByAddress
   */
  readonly getTransactionsByAddress: (call: TransactionsArguments & Chain) => Promise<TransactionHistory>
  /**
   * What an EVM account owns, read at one block.
   *
   * @returns `native`, `amount` and `tokenBalance` are decimal digits in base units, always exact.
   * @see spec/openrpc.json svc_getTokensAndNFTs
   */
  readonly getTokensAndNFTs: (call: TokensAndNFTsArguments & Chain) => Promise<EvmHoldings>
  /**
   * What a Solana account owns, read at one commitment.
   *
   * @returns `lamports` and `amount` are JSON numbers and lose digits above 2^53; `lamportsString` and
   *   `amountString`, where the host sends them, are always exact.
   * @see spec/openrpc.json enhancedGetTokensAndNFTs
   */
  readonly enhancedGetTokensAndNFTs: (call: EnhancedTokensAndNFTsArguments & Chain) => Promise<SolanaHoldings>
  /**
   * How far the server has followed a chain. An extension: not every host has it.
   *
   * @see spec/openrpc.json svc_getSyncStatus
   */
  readonly getSyncStatus: (call: SyncStatusArguments & Chain) => Promise<SyncStatus>
  /**
   * One JSON-RPC call, as it is on the wire.
   *
   * @typeParam R - The result of a method that is not in the document; nothing checks it.
   * @param call - `method` as the document writes it: `svc_` becomes the client's prefix. Names that are not in
   *   the document are sent as they are.
   */
  readonly request: <const M extends MethodName | (string & {}), R = RequestResult<M>>(
    call: RequestArguments<M, Chain>
  ) => Promise<R>
}
