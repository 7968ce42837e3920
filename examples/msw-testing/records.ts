import type { ConfirmedTransaction, PendingTransaction } from '@chain-data/client'

/** A transaction that waits; its number makes its hash. */
export function pending(number: number): PendingTransaction {
  return {
    hash: `0x${number.toString(16).padStart(64, '0')}`,
    from: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
    to: '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
    value: '0x1',
    data: '0x',
    gasLimit: 21_000,
    timestamp: 1_700_000_000,
    status: 1,
    type: 2,
    nonce: number
  }
}

/** The same transaction in a block. */
export function confirmed(number: number, status: 3 | 4 = 3): ConfirmedTransaction {
  return {
    ...pending(number),
    status,
    gasSpent: '0x5208',
    gasPrice: '0x3b9aca00',
    fees: '0x1319718a5000',
    blockNumber: number
  }
}
