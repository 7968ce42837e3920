import { isConfirmed } from '@chain-data/protocol'
import type { ChainOptional } from './Chain.ts'
import type { Client, IterateArguments } from './Client.ts'
import type { TransactionHistory } from './generated/calls.gen.ts'
import { hasReason } from './hasReason.ts'
import { startDeadline } from './startDeadline.ts'

/** Most records of one page; the document's limit `pageRecords`. */
export const largestPage = 1000

type ReadPage = Client<ChainOptional>['getTransactionsByAddress']

/** So many answers without any progress, a minute of them at the usual pause, mean that waiting is of no use. */
const mostStanding = 60
const mostPauseMs = 10_000

/**
 * A history page by page, from the newest record to the oldest. Where the host is still reading the older history
 * (`STILL_READING`), it is asked again until the page is there.
 *
 * @param readPage - Reads one page.
 */
export async function* iterateTransactions(
  readPage: ReadPage,
  { limit: pageLimit = 100, before: start, ...call }: IterateArguments & ChainOptional
): AsyncGenerator<TransactionHistory, void, undefined> {
  let limit: number | undefined = pageLimit
  let before = start
  let progress: unknown
  let standing = 0
  for (;;) {
    let page: TransactionHistory
    try {
      page = await readPage({ ...call, limit, before })
    } catch (error) {
      if (!hasReason(error, 'STILL_READING')) throw error
      const last = progress
      progress = JSON.stringify(error.data.progress)
      standing = progress === last ? standing + 1 : 0
      if (standing >= mostStanding) throw error
      const pause = startDeadline(Math.min(mostPauseMs, error.retryAfterMs ?? 1_000), call.signal)
      await pause.race(new Promise(() => {})).catch(pause.release)
      continue
    }
    progress = undefined
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
