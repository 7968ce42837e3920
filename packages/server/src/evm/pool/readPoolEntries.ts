import type { PendingTransaction } from '@chain-data/index'
import { isAbsent, type RawObject, readObject, readOptionalQuantity } from '../../nodes/evm/rawFields.ts'
import { NodeContradictionError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { normalizeTransaction } from '../blocks/normalize.ts'

/** A transaction of the node's pool; when this server first saw it is the store's business. */
export type PoolTransaction = Omit<PendingTransaction, 'firstSeenSeconds'>

/** The entries that one source of the pool shows. */
export interface FoundPool {
  readonly entries: readonly PoolTransaction[]
  /** The source shows all that the node's pool holds. */
  readonly complete: boolean
}

/**
 * Pool transactions as nodes write them, without their status. Those that are in a block already are left out; malformed
 * ones too, with a line in the log: any account can send anything to a pool.
 */
export function readPoolEntries(
  raw: readonly unknown[],
  logger: Logger | undefined
): Omit<PoolTransaction, 'status'>[] {
  const entries: Omit<PoolTransaction, 'status'>[] = []
  for (const item of raw) {
    try {
      const transaction = readObject(item, 'pool transaction')
      if (isInNoBlock(transaction)) entries.push(readEntry(transaction))
    } catch (error) {
      if (!(error instanceof NodeContradictionError)) throw error
      logger?.debug('left out a malformed pool transaction', { problem: error.message })
    }
  }
  return entries
}

/** Some nodes write the hash of no block as 32 zero bytes. */
function isInNoBlock({ blockHash }: RawObject): boolean {
  return isAbsent(blockHash) || (typeof blockHash === 'string' && /^0x0*$/.test(blockHash))
}

function readEntry(raw: RawObject): Omit<PoolTransaction, 'status'> {
  const common = normalizeTransaction(raw, 'pool transaction')
  const gasPrice =
    common.type <= 1 ? readOptionalQuantity(raw.gasPrice, 'pool transaction: gasPrice') : undefined
  return gasPrice === undefined ? common : { ...common, gasPrice }
}
