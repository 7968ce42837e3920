import { isConfirmed } from '@chain-data/protocol'
import type { ChainOptional } from './Chain.ts'
import type { Client, IterateArguments } from './Client.ts'
import type { TransactionHistory } from './generated/calls.gen.ts'
import { readPatiently } from './readPatiently.ts'

/** Most records of one page; the document's limit `pageRecords`. */
export const largestPage = 1000

type ReadPage = Client<ChainOptional>['getTransactionsByAddress']

/**
 * A history page by page, from the newest record to the oldest.
 *
 * @param readPage - Reads one page.
 */
export async function* iterateTransactions(
  readPage: ReadPage,
  { limit: pageLimit = 100, before: start, ...call }: IterateArguments & ChainOptional
): AsyncGenerator<TransactionHistory, void, undefined> {
  let limit: number | undefined = pageLimit
  let before = start
  for (;;) {
    const asked = { ...call, limit, before }
    const page = await readPatiently(() => readPage(asked), call.signal)
    const oldest: string | undefined = page.filter(isConfirmed).at(-1)?.hash
    // Without a limit no page is full: nothing is at least `undefined`.
    const isFull = page.length >= (limit as number)
    if (limit && isFull && !oldest) {
      // Pending records alone: there is no confirmed one to go on from, and more may follow. A larger page is
      // read instead; where even the largest is not enough, the whole history.
      limit = limit < largestPage ? Math.min(limit * 4, largestPage) : undefined
    } else {
      // A host that knows no `before` answers the same again: it has said everything.
      if (!page.length || (before && oldest === before)) return
      yield page
      if (!isFull) return
      before = oldest
      limit = pageLimit
    }
  }
}
