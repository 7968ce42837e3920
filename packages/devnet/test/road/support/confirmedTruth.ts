import type { TransactionRecord } from '@chain-data/client'
import {
  type EvmDriver,
  type EvmTransaction,
  evmFeeOf,
  evmHistoryOf,
  expectedRecord
} from '../../../src/index.ts'

/**
 * The gas of every transaction in a block: from intent where the rules of the chain alone decide it, else from the
 * node's own receipt, which nothing of the service has touched.
 */
export async function gasUsedOf({ world, rpc }: EvmDriver): Promise<ReadonlyMap<string, bigint>> {
  const gas = new Map<string, bigint>()
  for (const { hash, position, gasUsed } of world.transactions) {
    if (position === undefined) continue
    const receipt = (await rpc('eth_getTransactionReceipt', hash)) as { gasUsed: string }
    gas.set(hash, gasUsed ?? BigInt(receipt.gasUsed))
  }
  return gas
}

/** Fee of a transaction in a block. @throws Where its block was not made by us, so that nobody knows. */
export function feeOf(gas: ReadonlyMap<string, bigint>, transaction: EvmTransaction): bigint {
  const fee = evmFeeOf(transaction, gas.get(transaction.hash))
  if (fee === undefined) throw new Error(`the fee of ${transaction.label} is not known`)
  return fee
}

/**
 * The whole history expected of an address, record by record; `firstSeen` fills in what only the service knows.
 *
 * @param firstSeen - Unix second in which the service first saw a waiting transaction.
 */
export function expectedHistory(
  { world }: EvmDriver,
  address: string,
  gas: ReadonlyMap<string, bigint>,
  firstSeen: (hash: string) => number
): Partial<TransactionRecord>[] {
  return evmHistoryOf(world, address).map(transaction => {
    const record = expectedRecord(world, transaction, gas.get(transaction.hash))
    return { ...record, timestamp: record.timestamp ?? firstSeen(transaction.hash) }
  })
}
