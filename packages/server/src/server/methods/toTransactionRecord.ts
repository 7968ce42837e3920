import type { TransactionRecord } from '@chain-data/protocol'
import type { AccessListEntry, ConfirmedTransaction, PendingTransaction } from '../../model/evm.ts'
import { type Field, wireFields } from '../../model/transactionFields.ts'
import type { FormatAddress } from './addressFormat.ts'

/**
 * A transaction as `svc_getTransactionsByAddress` returns it.
 *
 * @see spec/openrpc.json TransactionRecord: which field is there for which status and type.
 */
export function toTransactionRecord(
  transaction: PendingTransaction | ConfirmedTransaction,
  formatAddress: FormatAddress
): TransactionRecord<number | bigint> {
  const values: Partial<Record<Field['name'], unknown>> =
    'firstSeenSeconds' in transaction
      ? { ...transaction, timestampSeconds: transaction.firstSeenSeconds }
      : transaction
  const record: Record<string, unknown> = {}
  for (const { name, wire = name, json } of wireFields) {
    const value = values[name]
    if (value !== undefined) record[wire] = toJson(json, value, formatAddress)
  }
  return record as unknown as TransactionRecord<number | bigint>
}

function toJson(json: Field['json'], value: unknown, formatAddress: FormatAddress): unknown {
  switch (json) {
    case 'address':
      return formatAddress(value as `0x${string}`)
    case 'quantity':
      // Minimal 0x-hex (EIP-1474).
      return `0x${(value as bigint).toString(16)}`
    case 'integer':
      return integer(value as bigint)
    case 'accessList':
      return (value as readonly AccessListEntry[]).map(({ address, storageKeys }) => ({
        address: formatAddress(address),
        storageKeys
      }))
    case 'hashes':
    case 'hex':
    case 'number':
      return value
  }
}

const largestExact = BigInt(Number.MAX_SAFE_INTEGER)

/** A plain number where it is exact, which almost every one is: those are written much faster. */
function integer(value: bigint): number | bigint {
  return value <= largestExact ? Number(value) : value
}
