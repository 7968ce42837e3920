import type { SolanaTransactionHistory } from '@chain-data/protocol'
import type { ChainOptional } from './Chain.ts'
import type { Client, IterateSolanaArguments } from './Client.ts'
import { readPatiently } from './readPatiently.ts'

type ReadPage = Client<ChainOptional>['enhancedGetTransactionsByAddress']

/**
 * A history of Solana page by page, from the newest transaction to the oldest.
 *
 * @param readPage - Reads one page.
 */
export async function* iterateSolanaTransactions(
  readPage: ReadPage,
  { limit = 100, before: start, ...call }: IterateSolanaArguments & ChainOptional
): AsyncGenerator<SolanaTransactionHistory, void, undefined> {
  let before = start
  for (let isFirst = true; ; isFirst = false) {
    const asked = { ...call, limit, before }
    const page = await readPatiently(() => readPage(asked), call.signal)
    const oldest = page.transactions.at(-1)?.signature
    if (!isFirst && (oldest === undefined || oldest === before)) return
    yield page
    if (page.transactions.length < limit) return
    before = oldest
  }
}
