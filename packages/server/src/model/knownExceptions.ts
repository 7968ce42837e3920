import type { Waiver } from './waivableChecks.ts'

/** A check that blocks of a public chain are known to break. */
export interface KnownException extends Waiver {
  /** URL of the public code or document that describes it. */
  readonly source: string
}

const github = 'https://github.com'
const indexer = `${github}/subsquid/squid-sdk/blob/b1bb0b3aba67339c8d4ecd54fc5ae75ddf83fafe/evm/evm-rpc/src`

/** The state sync of Bor, until the Madhugiri fork puts it into the header. */
function stateSync(toBlock: number | null): KnownException {
  return {
    check: 'stateSync',
    reason: 'the state sync of a block is outside of its header',
    toBlock,
    source: `${github}/0xPolygon/Polygon-Improvement-Proposals/blob/main/PIPs/PIP-74.md`
  }
}

const hyperEvm: KnownException = {
  check: 'systemTransaction',
  reason: 'transfers from HyperCore are outside of the header',
  source: `${github}/hl-archive-node/nanoreth/blob/main/src/addons/hl_node_compliance/rpc.rs`
}

const ethermint: KnownException = {
  check: 'emptyRoot',
  reason: 'Ethermint writes the empty receipts root into each header',
  source: `${github}/crypto-org-chain/ethermint/blob/develop/rpc/types/utils.go`
}

/** The faults that Cronos had in its first blocks; it has none of them from block 20,000,000 on. */
const cronos: readonly KnownException[] = (
  [
    {
      check: 'duplicateHash',
      reason: 'a transaction that found no room in a block is listed there and in the block that it ran in',
      source: `${github}/crypto-org-chain/cronos/issues/466`
    },
    {
      check: 'transactionIndex',
      reason: 'transactions without a receipt are counted by some answers and not by others',
      source: `${indexer}/rpc.ts`
    },
    {
      check: 'logIndex',
      reason: 'logs of reverted transactions are counted along',
      source: `${indexer}/rpc.ts`
    },
    {
      check: 'logsBloom',
      reason: 'the bloom has the logs of reverted transactions too',
      source: `${indexer}/chain-utils.ts`
    },
    {
      check: 'cumulativeGas',
      reason: 'gas of transactions without a receipt is counted along',
      source: `${github}/crypto-org-chain/ethermint/pull/936`
    },
    {
      check: 'unknownReceipt',
      reason:
        'a transaction without room has no receipt, a failed creation one of another height (block 2,689,327)',
      source: `${github}/crypto-org-chain/cronos/issues/2031`
    }
  ] as const
).map(exception => ({ ...exception, toBlock: 19_999_999 }))

const zkSync: readonly KnownException[] = [
  {
    check: 'emptyBloom',
    reason: 'receipts have an empty bloom',
    source: `${github}/matter-labs/zksync-era/blob/main/core/lib/dal/src/models/storage_transaction.rs`
  },
  {
    check: 'cumulativeGas',
    reason: 'the cumulative gas is always 0',
    source: `${github}/matter-labs/zksync-era/blob/main/core/lib/dal/src/models/storage_transaction.rs`
  }
]

/** The receipt of the block itself, which Celo had before it became a rollup. */
const celo: KnownException = {
  check: 'extraReceipt',
  reason: 'the logs of system calls are in a receipt of the block itself',
  toBlock: 31_056_499,
  source: `${github}/celo-org/celo-blockchain/pull/2295`
}

const hedera: readonly KnownException[] = [
  {
    check: 'duplicateHash',
    reason:
      'a transaction that is tried again is listed, and has a receipt, more than once, or in a later block',
    source: `${github}/hiero-ledger/hiero-json-rpc-relay/issues/4869`
  },
  {
    check: 'unknownReceipt',
    reason: 'a transaction that is tried again has no receipt in the earlier block',
    source: `${github}/hiero-ledger/hiero-json-rpc-relay/issues/4869`
  },
  {
    check: 'transactionIndex',
    reason: 'repeated receipts have an index that no transaction has',
    source: `${indexer}/rpc.ts`
  },
  {
    check: 'cumulativeGas',
    reason: 'relays before February 2026 write the gas of the whole block',
    source: `${github}/hiero-ledger/hiero-json-rpc-relay/pull/4936`
  }
]

const stable: KnownException = {
  check: 'logIndex',
  reason: 'log indexes begin at 0 in each transaction',
  source: `${indexer}/rpc.ts`
}

/** The exceptions by chain id. Each is limited to the blocks that it is known for. */
export const knownExceptions: ReadonlyMap<number, readonly KnownException[]> = new Map([
  [25, [ethermint, ...cronos]],
  [109, [stateSync(null)]],
  [137, [stateSync(80_084_799)]],
  [295, hedera],
  [324, zkSync],
  [338, [ethermint]],
  [988, [stable]],
  [998, [hyperEvm]],
  [999, [hyperEvm]],
  [2_201, [stable]],
  [2_222, [ethermint]],
  [2_741, zkSync],
  [7_000, [ethermint]],
  [42_220, [celo]],
  [80_002, [stateSync(28_899_615)]]
])
