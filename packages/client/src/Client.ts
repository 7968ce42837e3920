import type { EndpointPath, MethodParams, SolanaTransactionHistory } from '@chain-data/protocol'
import type { ChainOptional, ChainPerCall } from './Chain.ts'
import type { CallOptions } from './ClientOptions.ts'
import type { Connection } from './Connection.ts'
import type { ChainDataClientError } from './errors.ts'
import type {
  Calls,
  ChainlessMethod,
  EnhancedTransactionsByAddressArguments,
  FormedName,
  Methods,
  TransactionHistory,
  TransactionsByAddressArguments,
  WireNames
} from './generated/calls.gen.ts'

/** Arguments of {@link Client.iterateTransactions}, besides the chain. */
export interface IterateArguments extends TransactionsByAddressArguments {
  /** Maximum number of records on a page, 1 to 1000. Default 100. The first page grows where pending records fill it. */
  readonly limit?: number | undefined
}

/** Arguments of {@link Client.iterateSolanaTransactions}, besides the chain. */
export interface IterateSolanaArguments extends EnhancedTransactionsByAddressArguments {
  /** Maximum number of transactions on a page, 1 to 1000. Default 100. */
  readonly limit?: number | undefined
}

/** One call as it is on the wire: what {@link Client.request} takes besides options. */
export type WireArguments<M extends string, Chain> = {
  /** As the document writes it: `svc_` becomes the client's prefix. Names not in the document go out as they are. */
  readonly method: M
} & (M extends keyof WireNames
  ? {
      readonly params: MethodParams<M>
      /** Only for methods that both endpoints serve. Default: the first that does. Where the other one answers in another form, that has a method of its own. */
      readonly endpoint?: (M extends FormedName ? '/evm-chain' : EndpointPath) | undefined
    } & (WireNames[M] extends ChainlessMethod ? ChainOptional : Chain)
  : { readonly params: readonly unknown[]; readonly endpoint: EndpointPath } & Chain)

/** Arguments of {@link Client.request}. */
export type RequestArguments<M extends string, Chain> = CallOptions & WireArguments<M, Chain>

/** The result of a call as it is on the wire; unknown for a method that is not in the document. @typeParam Int64 - Of `lamports` and `amount`. */
export type RequestResult<M extends string, Int64 extends Integer = number> = M extends keyof WireNames
  ? ResultOf<WireNames[M], Int64>
  : unknown

type Integer = number | string | bigint
type ResultOf<M extends keyof Calls, Int64 extends Integer> = Calls<Int64>[M]['result']

/** One transaction: pending (status 0, 1) or confirmed (status 3, 4). */
export type TransactionRecord = TransactionHistory[number]

/**
 * One call of a batch: the call object of a method with the method's name, or that of `request`. Options are given for the
 * batch as a whole.
 */
export type BatchCall<M extends string, Chain> = M extends keyof Calls
  ? { readonly method: M } & WithoutOptions<Calls[M]['arguments']> &
      (M extends ChainlessMethod ? ChainOptional : Chain)
  : WireArguments<M, Chain>

// Of each alternative by itself.
type WithoutOptions<T> = T extends unknown ? Omit<T, keyof CallOptions> : never

/** What one call of a batch gives. */
export type BatchResult<M extends string, Int64 extends Integer = number> = M extends keyof Calls
  ? ResultOf<M, Int64>
  : RequestResult<M, Int64>

/** How one entry of a batch ended; the shape of `Promise.allSettled`. */
export type Settled<T> =
  | { readonly status: 'fulfilled'; readonly value: T }
  | { readonly status: 'rejected'; readonly reason: ChainDataClientError }

// Offers names without refusing others.
type AnyName = keyof Calls | keyof WireNames | (string & {})

/**
 * The service, as functions. They need no `this`, and nothing on this object gives the credentials away. It is a connection
 * too, for the functions of `./actions` that it does not have, such as `watchAddresses`.
 *
 * @typeParam Chain - Whether calls must name their chain: they must, unless the client has a default.
 * @typeParam Int64 - What `lamports` and `amount` on Solana are; see `ClientOptions.int64`.
 * @remarks Every function rejects with a `ChainDataClientError` and nothing else.
 */
export interface Client<Chain extends ChainOptional = ChainPerCall, Int64 extends Integer = number>
  extends Connection<Chain, Int64>,
    Methods<Chain, Int64> {
  /**
   * The history of an EVM address page by page, until it ends.
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
   * The history of a Solana wallet and of its token accounts page by page, until it ends.
   *
   * @returns Pages as `enhancedGetTransactionsByAddress` gives them. Of a wallet without transactions one page, which
   *   says what was covered; else never an empty one.
   * @remarks `covers.late` of a page names closed token accounts with transactions newer than the page: read again from
   *   the newest to have those in their order. While a host is still reading (`STILL_READING`), the page is asked for
   *   again until it is there.
   */
  readonly iterateSolanaTransactions: (
    call: IterateSolanaArguments & Chain
  ) => AsyncIterableIterator<SolanaTransactionHistory>
  /**
   * One JSON-RPC call, with method and params as they are on the wire.
   *
   * @typeParam R - The result of a method that is not in the document; nothing checks it.
   */
  readonly request: <const M extends keyof WireNames | (string & {}), R = RequestResult<M, Int64>>(
    call: RequestArguments<M, Chain>
  ) => Promise<R>
  /**
   * Several calls in few HTTP requests: one POST per endpoint and hundred calls.
   *
   * @param calls - The call objects of the methods, each with the name of its method; or those of `request`.
   * @param options - For the batch as a whole.
   * @returns One outcome per call, in the order of the calls. Each succeeds or fails alone; nothing is thrown.
   * @remarks Only calls that failed in a way that may pass are sent again.
   * @example
   * const [holdings, history] = await client.batch([
   *   { method: 'getTokensAndNFTs', address },
   *   { method: 'getTransactionsByAddress', address, limit: 25 }
   * ])
   */
  readonly batch: <const M extends readonly AnyName[]>(
    calls: readonly [...{ [K in keyof M]: BatchCall<M[K], Chain> }],
    options?: Omit<CallOptions, 'onAnswer'>
  ) => Promise<{ -readonly [K in keyof M]: Settled<BatchResult<M[K], Int64>> }>
}
