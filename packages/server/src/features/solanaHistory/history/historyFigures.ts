import { chainLabel, type MetricsPage, rowsBy } from '../../../server/metrics/metricsPage.ts'

/** What histories of Solana wallets have cost since the start, on one cluster. */
export interface SolanaHistoryFigures {
  readonly chainId: number
  /** Calls to nodes, by method. */
  readonly calls: ReadonlyMap<string, number>
  /** Transactions that were needed: known from the cache, and asked of a node. */
  readonly transactions: { readonly kept: number; readonly read: number }
}

/** Adds what histories of Solana wallets cost. */
export function addSolanaHistoryMetrics(
  page: MetricsPage,
  readAll: () => readonly SolanaHistoryFigures[]
): void {
  const callsHelp = 'Calls to nodes for histories of Solana wallets, by method of the node.'
  page.counter('solana_history_node_calls', callsHelp, () =>
    readAll().flatMap(each => rowsBy('method', each.calls, chainLabel(each)))
  )
  const transactionsHelp =
    'Transactions that histories of Solana wallets needed, by where they came from: kept (the cache), read (a node).'
  page.counter('solana_history_transactions', transactionsHelp, () =>
    readAll().flatMap(each => rowsBy('from', Object.entries(each.transactions), chainLabel(each)))
  )
}
