import { isConfirmed } from '@chain-data/protocol'
import type { Client, IterateArguments, TransactionHistory } from '../Client.ts'
import { createKey } from './createKey.ts'
import type { ChainDataInfiniteQuery, QueryArgumentsOf } from './QueryOptions.ts'

const defaultLimit = 100

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
export function transactionPagesQuery(
  client: Pick<Client, 'iterateTransactions'>,
  args: QueryArgumentsOf<IterateArguments>
): ChainDataInfiniteQuery<TransactionHistory> {
  const { scope, timeoutMs, retries, before: start, ...rest } = args
  const asked = { ...rest, limit: args.limit ?? defaultLimit }
  return {
    queryKey: createKey('pages', { ...asked, before: start, scope }),
    queryFn: async ({ signal, pageParam: before }) => {
      // One step of the client's own iteration, which knows what to do with a page full of pending records.
      const pages = client.iterateTransactions({ ...asked, before, timeoutMs, retries, signal })
      const { value } = await pages.next()
      await pages.return?.()
      return value ?? []
    },
    initialPageParam: start,
    getNextPageParam: (lastPage, _allPages, _lastPageParam, allPageParams) => {
      if (lastPage.length < asked.limit) return undefined
      const cursor = lastPage.filter(record => isConfirmed(record)).at(-1)?.hash
      // A host that repeats itself has no further page.
      return allPageParams.includes(cursor) ? undefined : cursor
    },
    retry: false
  }
}
