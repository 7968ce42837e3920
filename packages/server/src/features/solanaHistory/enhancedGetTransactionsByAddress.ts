import { parseSolanaAddress } from '../../nodes/solana/solanaAddress.ts'
import { Refusal } from '../../platform/refusal.ts'
import { chainOf, type Handlers, ResultStream } from '../../server/methods/MethodContext.ts'
import type { SolanaHistoryReader } from './history/history.ts'
import { shapeFacts, shapeTransaction } from './history/shapeHistory.ts'

export interface SolanaHistoriesOptions {
  readonly chains: ReadonlyMap<number, { readonly history: SolanaHistoryReader }>
  /** Most transactions of an answer without `limit`; null: no bound. */
  readonly maxUnpaged: number | null
}

/** Transactions written at a time. */
const writtenAtOnce = 100

/** Answers the transactions of a Solana wallet and of its token accounts, newest first. */
export function createEnhancedGetTransactionsByAddress({
  chains,
  maxUnpaged
}: SolanaHistoriesOptions): Handlers['enhancedGetTransactionsByAddress'] {
  return async ([wallet, page = {}], context) => {
    const { history: reader } = chainOf(chains, context)
    requireSolanaAddress(wallet)
    const { limit, before, until, tokenAccounts = 'all' } = page
    const { signal, deadlineMs } = context
    const history = await reader.readHistory({
      ...{ wallet, limit, before, until, tokenAccounts, maxUnpaged, signal, deadlineMs }
    })
    const { covers, continuity } = shapeFacts(history)
    const shape = (each: (typeof history.transactions)[number]) =>
      shapeTransaction(each, history.isFinalized(each.transaction.signature))
    if (limit !== undefined) return { transactions: history.transactions.map(shape), covers, continuity }
    async function* chunks() {
      for (let start = 0; start < history.transactions.length; start += writtenAtOnce) {
        yield history.transactions.slice(start, start + writtenAtOnce).map(shape)
      }
    }
    return new ResultStream(chunks(), async () => {}, {
      before: '{"transactions":',
      after: `,${JSON.stringify({ covers, continuity }).slice(1)}`
    })
  }
}

/** @throws {Refusal} INVALID_PARAMS: 32 to 44 base58 characters may still be no 32 bytes, which a pattern cannot check. */
export function requireSolanaAddress(address: string): void {
  if (parseSolanaAddress(address) !== undefined) return
  throw new Refusal('INVALID_PARAMS', 'address must be base58 of 32 bytes.', { path: '/params/0' })
}
