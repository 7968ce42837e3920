import type { Client } from '../Client.ts'
import type { CallOptions } from '../ClientOptions.ts'
import type { AbortSignalLike } from '../withDeadline.ts'

/**
 * Names one answer in a cache: plain JSON, the same in every process, without the credentials and without the options
 * that do not change the answer. EVM addresses are in lower case.
 *
 * A beginning of it names many: `['chain-data', 'getTokensAndNFTs']` every holdings answer.
 */
export type ChainDataKey = readonly ['chain-data', keyof Client | 'pages', Readonly<Record<string, unknown>>]

/** What TanStack Query's `useQuery`, `fetchQuery` and their kin take, of version 5. */
export interface ChainDataQuery<Data> {
  /** Names the answer in the cache. */
  readonly queryKey: ChainDataKey
  /** Sends the call; the signal ends it, and with it the HTTP exchange. */
  readonly queryFn: (context: { readonly signal: AbortSignalLike }) => Promise<Data>
  /** The client sends again by itself what may pass, and knows how long to wait. */
  readonly retry: false
}

/** What `useInfiniteQuery`, `fetchInfiniteQuery` and their kin take. The page parameter is the call's `before`. */
export interface ChainDataInfiniteQuery<Page> {
  /** Names all pages of the answer in the cache. */
  readonly queryKey: ChainDataKey
  /** Sends the call for one page; the signal ends it. */
  readonly queryFn: (context: {
    readonly signal: AbortSignalLike
    readonly pageParam: string | undefined
  }) => Promise<Page>
  /** `before` of the first page: `undefined`, or where the caller wants to begin. */
  readonly initialPageParam: string | undefined
  /** `undefined` after the last page. */
  readonly getNextPageParam: (
    lastPage: Page,
    allPages: readonly Page[],
    lastPageParam: string | undefined,
    allPageParams: readonly (string | undefined)[]
  ) => string | undefined
  /** The client sends again by itself what may pass, and knows how long to wait. */
  readonly retry: false
}

/** What a query takes beside the call's own arguments. */
export interface QueryArguments extends Omit<CallOptions, 'signal' | 'onAnswer'> {
  /** Always named here, even when the client has a default: the cache may be shared with another client. */
  readonly chainId: number
  /** Tells clients apart that share a cache and answer differently: another host, another `int64`. */
  readonly scope?: string | undefined
}

/** The arguments of a call as those of a query; of alternatives, each by itself. */
export type QueryArgumentsOf<Arguments> = Arguments extends unknown
  ? Omit<Arguments, keyof CallOptions | 'chainId'> & QueryArguments
  : never
