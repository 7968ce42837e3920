/**
 * Checks of a block that hold on every chain that follows the protocol, and that some real chain breaks all the same:
 * name, and which kind of chain needs it waived. All other checks can never be waived. A name is part of the
 * configuration and never changes its meaning.
 */
export const waivableChecks = {
  emptyBloom:
    'A bloom that is all zero although there are logs: chains that fill none (Tron, early IoTeX, zkSync Era before ' +
    'late 2024).',
  logsBloom:
    'A bloom that is not the one of the logs: chains with logs outside it (state sync on Polygon, system transactions ' +
    'on Hyperliquid) or with more in it (Cronos below block 20,000,000, empty blocks of zkSync Era).',
  emptyRoot:
    'The root of an empty trie over a block that is not empty, or the reverse: blocks with nothing but a state sync ' +
    '(Polygon), and roots over native transactions too, or none for receipts (IoTeX, Ethermint).',
  duplicateHash:
    'One hash twice among the transactions or receipts of a block, failed, then succeeded: the last one counts ' +
    '(Ethermint, where a transaction can be included again).',
  missingReceipt:
    'A listed transaction without a receipt is left out: one that found no room in its block and is listed again in a ' +
    'later one (Ethermint: Cronos, Evmos, Kava).',
  extraReceipt:
    'A receipt whose transaction the block does not list is left out: block receipts of Celo before it became a ' +
    'rollup, state sync receipts of Polygon nodes that list no transaction for them.',
  receiptBlockHash: 'A receipt without a block hash: nodes and gateways that leave it out.',
  receiptParties:
    'A receipt with another sender or receiver than its transaction: chains that translate native transactions.',
  transactionIndex:
    'Transaction indexes that repeat, fall, or differ between block and receipt: the place in the list counts ' +
    '(Ethermint, which counted native transactions along).',
  logIndex:
    'Log indexes that do not count through the block, or a log with the index of another transaction: chains that ' +
    'count per transaction or leave logs out (early Ethermint, Sei).',
  cumulativeGas:
    'A cumulative gas that is not the one before plus the gas used: zero throughout (zkSync Era), zero for system ' +
    'transactions (state sync on Polygon, Hyperliquid), or not cumulative at all (IoTeX).'
} as const

/** Name of a check that a configuration may waive for a chain. */
export type WaivableCheck = keyof typeof waivableChecks

/** All names, in the order of the table. */
export const waivableCheckNames = Object.keys(waivableChecks) as readonly WaivableCheck[]

/** One check that is not insisted on for one chain; both ends of the range are included. */
export interface Waiver {
  readonly check: WaivableCheck
  /** Why the operator trusts the chain without it; never empty. */
  readonly reason: string
  /** Absent: from the first block. */
  readonly fromBlock?: number
  /** Absent or null: without end. */
  readonly toBlock?: number | null
}
