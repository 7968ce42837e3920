import type { DataTag, InfiniteData } from '@tanstack/query-core'
import type { AbortSignalLike } from '../AbortSignalLike.ts'
import type { ChainOptional } from '../Chain.ts'
import type { Client } from '../Client.ts'
import type { CallOptions } from '../ClientOptions.ts'
import type { ChainDataClientError } from '../errors.ts'

/**
 * Names one answer in a cache: plain JSON, the same in every process, without the credentials and without the options
 * that do not change the answer. EVM addresses are in lower case.
 *
 * A beginning of it names many: `['chain-data', 'getTokensAndNFTs']` every holdings answer.
 */
export type ChainDataKey = readonly [
  'chain-data',
  keyof Client | 'pages' | 'solanaPages',
  Readonly<Record<string, unknown>>
]

/** What TanStack Query's `useQuery`, `fetchQuery` and their kin take, of version 5. */
export interface ChainDataQuery<Data, Skip = never> {
  /** Names the answer in the cache, and tells the cache its type. */
  readonly queryKey: DataTag<ChainDataKey, Data, ChainDataClientError>
  /** Sends the call; the signal ends it, and with it the HTTP exchange. */
  readonly queryFn: ((context: { readonly signal: AbortSignalLike }) => Promise<Data>) | Skip
  /** The client sends again by itself what may pass, and knows how long to wait. */
  readonly retry: false
}

/** What `useInfiniteQuery`, `fetchInfiniteQuery` and their kin take. The page parameter is the call's `before`. */
export interface ChainDataInfiniteQuery<Page, Skip = never> {
  /** Names all pages of the answer in the cache, and tells the cache their type. */
  readonly queryKey: DataTag<ChainDataKey, InfiniteData<Page, string | undefined>, ChainDataClientError>
  /** Sends the call for one page; the signal ends it. */
  readonly queryFn:
    | ((context: {
        readonly signal: AbortSignalLike
        readonly pageParam: string | undefined
      }) => Promise<Page>)
    | Skip
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

/** What a query takes besides the call's own arguments. */
export interface QueryOptions extends Omit<CallOptions, 'signal' | 'onAnswer'> {
  /** Tells clients apart that share a cache and answer differently: another host, another `int64`. */
  readonly scope?: string | undefined
}

/** The arguments of a call as those of a query; of alternatives, each by itself. */
export type QueryArgumentsOf<Arguments, Chain> = Arguments extends unknown
  ? Omit<Arguments, keyof CallOptions> & QueryOptions & Chain
  : never

/**
 * A client as far as a query needs it. A client of viem or wagmi that `chainDataActions` extended is one, too.
 *
 * A call that names no chain is asked about that of the client, and the key names it.
 */
export type ClientWith<
  Name extends keyof Client,
  Chain extends ChainOptional,
  Int64 extends number | string | bigint = number
> = Pick<Client<Chain, Int64>, Name> & {
  /** Of a client of this package. */
  readonly chainId?: number | undefined
  /** Of a client of viem. */
  readonly chain?: { readonly id: number } | undefined
}
