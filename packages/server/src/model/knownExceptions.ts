import type { Waiver } from './waivableChecks.ts'

/** A check that blocks of a public chain are known to break. */
export interface KnownException extends Waiver {
  /** URL of the public code or document that describes it. */
  readonly source: string
}

const squid = 'https://github.com/subsquid/squid-sdk/blob/b1bb0b3aba67/evm/evm-rpc/src'

/** Cronos has had no fault of this kind from here on. */
const cronosLast = 19_999_999

/** The exceptions by chain id. Each is limited to the blocks that it is known for. */
export const knownExceptions: ReadonlyMap<number, readonly KnownException[]> = new Map<
  number,
  readonly KnownException[]
>([
  [
    25,
    [
      {
        check: 'emptyRoot',
        reason: 'headers have the empty receipts root: Ethermint builds no tree of receipts',
        source: 'https://github.com/crypto-org-chain/ethermint/blob/develop/rpc/types/utils.go'
      },
      {
        check: 'missingReceipt',
        reason: 'transactions that found no room in the block are listed without a receipt',
        toBlock: cronosLast,
        source: `${squid}/rpc.ts`
      },
      {
        check: 'logIndex',
        reason: 'logs of reverted transactions and of transactions without a receipt are counted along',
        toBlock: cronosLast,
        source: `${squid}/rpc.ts`
      },
      {
        check: 'logsBloom',
        reason: 'the bloom holds logs of reverted transactions',
        toBlock: cronosLast,
        source: `${squid}/chain-utils.ts`
      }
    ]
  ]
])
