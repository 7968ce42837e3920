import { isConfirmed } from '@chain-data/protocol'
import type { SkipToken } from '@tanstack/query-core'
import type { ChainOptional } from '../Chain.ts'
import type { IterateArguments } from '../Client.ts'
import type { TransactionHistory } from '../generated/calls.gen.ts'
import { createPagesQuery } from './createPagesQuery.ts'
import type { ChainDataInfiniteQuery, ClientWith, QueryArgumentsOf } from './QueryOptions.ts'

/**
 * The history of an EVM address page by page, as an infinite query.
 *
 * @param args - `limit` is the length of a page, 100 by default; `before` is where the first page begins.
 * @returns Pages as `getTransactionsByAddress` gives them; `[]` for an address without transactions, and for a
 *   page after the last when the one before was just full.
 * @remarks A reorg that removed the cursor fails the next page with `CURSOR_REORGED`; a refetch reads all pages again
 *   from the first and recovers.
 * @example
 * useInfiniteQuery(transactionPagesQuery(client, { address, chainId: 1, limit: 25 }))
 */
export function transactionPagesQuery<Chain extends ChainOptional>(
  client: ClientWith<'iterateTransactions', Chain>,
  args: QueryArgumentsOf<IterateArguments, Chain>
): ChainDataInfiniteQuery<TransactionHistory>
export function transactionPagesQuery<Chain extends ChainOptional>(
  client: ClientWith<'iterateTransactions', Chain>,
  args: QueryArgumentsOf<IterateArguments, Chain> | SkipToken
): ChainDataInfiniteQuery<TransactionHistory, SkipToken>
export function transactionPagesQuery(
  client: ClientWith<'iterateTransactions', ChainOptional>,
  args: QueryArgumentsOf<IterateArguments, ChainOptional> | SkipToken
): unknown {
  return createPagesQuery<IterateArguments, TransactionHistory>(client, args, {
    key: 'pages',
    async readPage(call) {
      // One step of the client's own iteration, which knows what to do with a page full of pending records.
      const pages = client.iterateTransactions(call)
      const { value } = await pages.next()
      await pages.return?.()
      return value ?? []
    },
    nextOf(page, limit, read) {
      if (page.length < limit) return undefined
      const cursor = page.filter(record => isConfirmed(record)).at(-1)?.hash
      // A host that repeats itself has no further page.
      return read.includes(cursor) ? undefined : cursor
    }
  })
}
