import type { SolanaTransactionHistory } from '@chain-data/protocol'
import type { SkipToken } from '@tanstack/query-core'
import type { AbortSignalLike } from '../AbortSignalLike.ts'
import type { ChainOptional } from '../Chain.ts'
import type { IterateSolanaArguments } from '../Client.ts'
import { createKey } from './createKey.ts'
import { chainOf } from './createQuery.ts'
import type { ChainDataInfiniteQuery, ClientWith, QueryArgumentsOf } from './QueryOptions.ts'

const defaultLimit = 100

/**
 * The history of a Solana wallet and of its token accounts page by page, as an infinite query.
 *
 * @param args - `limit` is the length of a page, 100 by default; `before` is where the first page begins.
 * @returns Pages as `enhancedGetTransactionsByAddress` gives them; the last may have no transactions.
 * @remarks A page whose `covers.late` is there names transactions newer than the page; a refetch reads all pages again from
 *   the first and has them in order.
 * @example
 * useInfiniteQuery(solanaTransactionPagesQuery(client, { address, chainId: 103, limit: 25 }))
 */
export function solanaTransactionPagesQuery<Chain extends ChainOptional>(
  client: ClientWith<'iterateSolanaTransactions', Chain>,
  args: QueryArgumentsOf<IterateSolanaArguments, Chain>
): ChainDataInfiniteQuery<SolanaTransactionHistory>
export function solanaTransactionPagesQuery<Chain extends ChainOptional>(
  client: ClientWith<'iterateSolanaTransactions', Chain>,
  args: QueryArgumentsOf<IterateSolanaArguments, Chain> | SkipToken
): ChainDataInfiniteQuery<SolanaTransactionHistory, SkipToken>
export function solanaTransactionPagesQuery(
  client: ClientWith<'iterateSolanaTransactions', ChainOptional>,
  args: QueryArgumentsOf<IterateSolanaArguments, ChainOptional> | SkipToken
): unknown {
  // The token is a symbol; to compare it, TanStack Query would have to be loaded here.
  const isSkipped = typeof args === 'symbol'
  const {
    scope,
    timeoutMs,
    retries,
    before: start,
    chainId = chainOf(client),
    ...rest
  } = isSkipped ? ({} as QueryArgumentsOf<IterateSolanaArguments, ChainOptional>) : args
  const asked = { ...rest, chainId, limit: rest.limit ?? defaultLimit }
  return {
    queryKey: createKey('solanaPages', isSkipped ? {} : { ...asked, before: start, scope }),
    queryFn: isSkipped
      ? args
      : async ({ signal, pageParam: before }: { signal: AbortSignalLike; pageParam: string | undefined }) => {
          // One step of the client's own iteration, which waits for a host that is still reading.
          const call = { ...asked, before, timeoutMs, retries, signal }
          const { value } = await client.iterateSolanaTransactions(call).next()
          return value
        },
    initialPageParam: start,
    getNextPageParam: ({ transactions }: SolanaTransactionHistory, _allPages: unknown, last: unknown) => {
      if (transactions.length < asked.limit) return undefined
      const cursor = transactions.at(-1)?.signature
      return cursor === last ? undefined : cursor
    },
    retry: false
  }
}
