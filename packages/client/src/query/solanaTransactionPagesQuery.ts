import type { SolanaTransactionHistory } from '@chain-data/protocol'
import type { SkipToken } from '@tanstack/query-core'
import type { ChainOptional } from '../Chain.ts'
import type { IterateSolanaArguments } from '../Client.ts'
import { createPagesQuery } from './createPagesQuery.ts'
import type { ChainDataInfiniteQuery, ClientWith, QueryArgumentsOf } from './QueryOptions.ts'

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
  return createPagesQuery<IterateSolanaArguments, SolanaTransactionHistory>(client, args, {
    key: 'solanaPages',
    async readPage(call) {
      // One step of the client's own iteration, which waits for a host that is still reading.
      const { value } = await client.iterateSolanaTransactions(call).next()
      return value as SolanaTransactionHistory
    },
    nextOf({ transactions }, limit, read) {
      if (transactions.length < limit) return undefined
      const cursor = transactions.at(-1)?.signature
      return cursor === read.at(-1) ? undefined : cursor
    }
  })
}
