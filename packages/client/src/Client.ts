import type {
  EndpointPath,
  EvmHoldings,
  IncludedPart,
  MethodName,
  MethodParams,
  MethodResult,
  OpenRpcDocument,
  SolanaHoldings,
  SyncStatus,
  TransactionRecord as WireRecord
} from '@chain-data/protocol'
import type { CallOptions } from './ClientOptions.ts'
import type { ChainDataClientError } from './errors.ts'
import type { HistoryCertificate } from './HistoryCertificate.ts'

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
  /**
   * What to attach to each confirmed record, where the host knows it: `transfers`, token transfers from or to the address;
   * `internal`, native ones that contracts made; `operations`, ERC-4337 operations of which the address is sender or paymaster. An extension: a host that does not know it refuses the call.
   */
  readonly include?: readonly IncludedPart[] | undefined
}

/** Arguments of {@link Client.iterateTransactions}, beside the chain. */
export interface IterateArguments extends TransactionsArguments {
  /** Most records of a page, 1 to 1000. Default 100. The first page grows where pending records fill it. */
  readonly limit?: number | undefined
}

/** Arguments of {@link Client.getTokensAndNFTs}, beside the chain. */
export interface TokensAndNFTsArguments extends CallOptions {
  /** 20 bytes as 0x-hex, any case. */
  readonly address: string
  /** Up to 100 contracts to restrict the answer to. Absent or empty: everything. */
  readonly tokenAddresses?: readonly string[] | undefined
}

/** Arguments of {@link Client.enhancedGetTokensAndNFTs}, beside the chain. `address` is another word for the account. */
export type EnhancedTokensAndNFTsArguments = CallOptions & {
  /** Fetch each NFT's metadata URI into `uriData`. The service's default is false. */
  readonly parseMetadataUri?: boolean | undefined
} & (
    | {
        /** Base58. */
        readonly accountAddress: string
        readonly address?: undefined
      }
    | {
        /** Base58. */
        readonly address: string
        readonly accountAddress?: undefined
      }
  )

/** Arguments of {@link Client.getSyncStatus}, beside the chain. */
export interface SyncStatusArguments extends CallOptions {
  /** Which family the chain belongs to: the id alone does not tell. Default `/evm-chain`. */
  readonly endpoint?: EndpointPath | undefined
}

/** Arguments of {@link Client.verifyHistory}, beside the chain. */
export interface VerifyHistoryArguments extends CallOptions {
  /** 20 bytes as 0x-hex, any case. */
  readonly address: string
  /** `roots`: the host reads each block of the account again, and holds what it stores against the headers. */
  readonly verify?: 'roots' | undefined
}

/** One call as it is on the wire: what {@link Client.request} takes beside options, and one entry of a batch. */
export type WireArguments<M extends string, Chain> = {
  /** As the document writes it: `svc_` becomes the client's prefix. Names not in the document go out as they are. */
  readonly method: M
} & (M extends MethodName
  ? {
      readonly params: MethodParams<M>
      /** Only for methods that both endpoints serve. Default: the first that does. */
      readonly endpoint?: EndpointPath | undefined
    } & (M extends 'rpc.discover' ? ChainOptional : Chain)
  : { readonly params: readonly unknown[]; readonly endpoint: EndpointPath } & Chain)

/** Arguments of {@link Client.request}. */
export type RequestArguments<M extends string, Chain> = CallOptions & WireArguments<M, Chain>

/** Gas limit and nonce are numbers; where a number cannot hold one, its exact digits stand beside it. */
export interface ExactTwins {
  /** Decimal digits of `gasLimit`; only where that is above 2^53 - 1 and therefore rounded. */
  readonly gasLimitString?: string
  /** Decimal digits of `nonce`; only where that is above 2^53 - 1 and therefore rounded. */
  readonly nonceString?: string
}

/** One transaction: pending (status 0, 1) or confirmed (status 3, 4). */
export type TransactionRecord = WireRecord & ExactTwins

/** Records of one address: pending ones first, then newest first. */
export type TransactionHistory = TransactionRecord[]

/** What a method of the document returns; anything else is unknown. @typeParam Int64 - Of `lamports` and `amount`. */
export type RequestResult<M extends string, Int64 = number> = M extends 'enhancedGetTokensAndNFTs'
  ? HoldingsOf<Int64>
  : M extends 'svc_getTransactionsByAddress'
    ? TransactionHistory
    : M extends 'svc_verifyHistory'
      ? HistoryCertificate
      : M extends MethodName
        ? MethodResult<M>
        : unknown

// The document's type knows numbers and bigints; text is the client's own form.
type HoldingsOf<Int64> = Int64 extends number | string | bigint ? SolanaHoldings<Int64> : never

/** How one entry of a batch ended; the shape of `Promise.allSettled`. */
export type Settled<T> =
  | { readonly status: 'fulfilled'; readonly value: T }
  | { readonly status: 'rejected'; readonly reason: ChainDataClientError }

/**
 * The service, as functions. They need no `this`, and nothing on this object gives the credentials away.
 *
 * @typeParam Chain - Whether calls must name their chain: they must, unless the client has a default.
 * @typeParam Int64 - What `lamports` and `amount` on Solana are; see `ClientOptions.int64`.
 * @remarks Every function rejects with a `ChainDataClientError` and nothing else.
 */
export interface Client<Chain extends ChainOptional = ChainPerCall, Int64 = number> {
  /**
   * The transactions of an EVM address, pending ones first, then newest first.
   *
   * @returns `[]` for an address proven to have none. Narrow a record with `isPending` or `isConfirmed`.
   *   Amounts are 0x-hex in wei, `timestamp` is in seconds.
   * @see spec/openrpc.json svc_getTransactionsByAddress
   */
  readonly getTransactionsByAddress: (call: TransactionsArguments & Chain) => Promise<TransactionHistory>
  /**
   * The same history page by page, until it ends.
   *
   * @returns Pages as `getTransactionsByAddress` gives them, never an empty one. Nothing is sent before the
   *   first is asked for.
   * @throws {RpcError} `CURSOR_REORGED`: a reorg removed the last record of the page before; `data` names the
   *   last common block.
   * @remarks A host that repeats itself instead of going on ends the iteration. While a host is still reading older
   *   history (`STILL_READING`), the page is asked for again until it is there.
   */
  readonly iterateTransactions: (call: IterateArguments & Chain) => AsyncIterableIterator<TransactionHistory>
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
   * @returns `lamportsString` and `amountString` are always there and exact, from any host.
   * @see spec/openrpc.json enhancedGetTokensAndNFTs
   */
  readonly enhancedGetTokensAndNFTs: (
    call: EnhancedTokensAndNFTsArguments & Chain
  ) => Promise<HoldingsOf<Int64>>
  /**
   * How far the server has followed a chain. An extension: not every host has it.
   *
   * @see spec/openrpc.json svc_getSyncStatus
   */
  readonly getSyncStatus: (call: SyncStatusArguments & Chain) => Promise<SyncStatus>
  /**
   * A certificate of the history of an EVM address: that it is complete, by the state of the chain at one block, and that what
   * is stored is unaltered. An extension: not every host has it.
   *
   * @returns Amounts are `bigint`, whatever `int64` says. `verdict` first: `proven`, `failed` or `unprovable`; `complete` and
   *   `unaltered` apart; `findings` name what is missing, what is wrong and what cannot be known.
   * @remarks Takes calls to the node; where something differs, many. Give it a longer `timeoutMs` than other calls.
   * @see spec/openrpc.json svc_verifyHistory
   */
  readonly verifyHistory: (call: VerifyHistoryArguments & Chain) => Promise<HistoryCertificate>
  /**
   * The host's OpenRPC document. An extension: not every host has it.
   *
   * @see spec/openrpc.json rpc.discover
   */
  readonly discover: (call?: SyncStatusArguments & ChainOptional) => Promise<OpenRpcDocument>
  /**
   * One JSON-RPC call, as it is on the wire.
   *
   * @typeParam R - The result of a method that is not in the document; nothing checks it.
   */
  readonly request: <const M extends MethodName | (string & {}), R = RequestResult<M, Int64>>(
    call: RequestArguments<M, Chain>
  ) => Promise<R>
  /**
   * Several calls in few HTTP requests: one POST per endpoint and hundred calls.
   *
   * @param options - For the batch as a whole.
   * @returns One outcome per call, in the order of the calls. Each succeeds or fails alone; nothing is thrown.
   * @remarks Only calls that failed in a way that may pass are sent again.
   */
  readonly batch: <const M extends readonly (MethodName | (string & {}))[]>(
    calls: readonly [...{ [K in keyof M]: WireArguments<M[K], Chain> }],
    options?: Omit<CallOptions, 'onAnswer'>
  ) => Promise<{ -readonly [K in keyof M]: Settled<RequestResult<M[K], Int64>> }>
}
